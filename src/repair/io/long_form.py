"""Long form: one line per candidate, with the row it belongs to, its class and its score."""

from dataclasses import replace
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray
from repair.errors import InputError
from repair.io.class_index import ClassIndex, label_values
from repair.io.columns import ColumnNames, score_column, text_column
from repair.io.label_files import LabelFile
from repair.io.rows import (
    Rows,
    as_objects,
    group_column,
    padded,
    refuse_repeats,
    remaining,
    row_id_column,
    weight_column,
)
from repair.io.table_readers import FileTable

__all__ = ["read_long"]

YES, NO = ("1", "true", "1.0"), ("0", "false", "0.0")

#: Label of a row in which no candidate is marked as true.  It is unknown, not missing, so the row counts as uncovered.
NOT_LISTED = "(not among the candidates)"


def read_long(table: FileTable, columns: ColumnNames, classes: ClassIndex, label_file: LabelFile | None) -> Rows:
    """Read rows in the order of their first lines.  The lines of a row need not be adjacent."""
    row_name = columns.require("row", table)
    class_name = columns.require("candidate", table, (row_name,))
    score_name = columns.require("score", table, (row_name, class_name))
    taken = {row_name, class_name, score_name}
    lines = _Lines(table, row_name)
    names = text_column(table, class_name)
    _check_named(table, class_name, names)
    scores = score_column(table, score_name)
    used = _names_in_use(table, columns, (row_name, class_name, score_name))
    labels, label_place, marked = _labels(table, columns, taken, lines, names, classes, label_file)

    encoded = names.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    distinct = encoded.dictionary.to_pylist()
    first_seen = np.unique(codes, return_index=True)[1]
    known_labels = [] if labels is None else [text for text in labels.unique().to_pylist() if text]
    resolved = classes.resolve(distinct, lambda code: table.place(int(first_seen[code]), class_name), known_labels)
    class_ids = resolved.ids[codes]
    n_classes = len(resolved.names)
    refuse_repeats(lines.row_of, class_ids, n_classes, table.place, lambda line: names[line].as_py())
    found = _row_columns(table, columns, taken, lines)
    other, notes = _constant_columns(table, taken, lines)
    label_array = None if labels is None else label_values(labels, resolved.names, n_classes, label_place)
    if marked and label_array is not None and label_array.dtype == object:
        label_array[[label is None for label in label_array]] = NOT_LISTED
    return Rows(
        layout="long",
        scores=padded(lines.row_of, class_ids, scores, lines.n_rows, n_classes),
        class_names=resolved.names,
        new_classes=resolved.new,
        labels=label_array,
        row_ids=lines.row_ids,
        row_name=row_name,
        columns=used,
        other=other,
        notes=notes,
        **found,
    )


def _names_in_use(table: FileTable, columns: ColumnNames, names: tuple[str, str, str]) -> ColumnNames:
    """Return the names of all columns with a role."""
    used = ColumnNames(*names)
    for role in ("label", "group", "weight"):
        used = replace(used, **{role: columns.find(role, table, used.named())})
    return used


class _Lines:
    """The row of each line, and the first line of each row."""

    def __init__(self, table: FileTable, row_name: str) -> None:
        encoded = row_id_column(table, row_name).dictionary_encode()  # codes are in order of first appearance
        self.table = table
        self.row_of: AnyArray = encoded.indices.to_numpy(zero_copy_only=False)
        self.row_ids = as_objects(encoded.dictionary)
        self.n_rows = len(self.row_ids)
        self.first_line = np.unique(self.row_of, return_index=True)[1]

    def changes(self, values: Any) -> BoolArray:
        """Return which lines differ from the first line of their row."""
        codes = values.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        differs: BoolArray = codes != codes[self.first_line][self.row_of]
        return differs

    def refuse_changes(self, values: Any, name: str) -> None:
        """Raise an error if a column is not the same on all lines of a row."""
        changes = self.changes(values)
        if changes.any():
            line = int(np.argmax(changes))
            before = int(self.first_line[self.row_of[line]])
            raise InputError(
                f"{self.table.place(line, name)} is {values[line].as_py()!r}, but {values[before].as_py()!r} on "
                f"{self.table.place(before)} of the same row; write the same value on all lines of a row"
            )


def _check_named(table: FileTable, name: str, names: Any) -> None:
    from pyarrow import compute as pc

    missing = pc.fill_null(pc.equal(names, ""), True).to_numpy(zero_copy_only=False)
    if missing.any():
        raise InputError(f"{table.place(int(np.argmax(missing)), name)} is empty; write the candidate's class")


def _labels(
    table: FileTable,
    columns: ColumnNames,
    taken: set[str],
    lines: _Lines,
    candidates: Any,
    classes: ClassIndex,
    label_file: LabelFile | None,
) -> tuple[Any, Any, bool]:
    """Return the label of each row as text (or None), who says where it is, and whether candidates are marked."""
    name = columns.find("label", table, taken)
    if name is not None:
        taken.add(name)
    if label_file is not None:
        return label_file.of_rows(lines.row_ids, lines.n_rows), label_file.place, False
    if name is None:
        return None, None, False
    values = text_column(table, name)
    known = {*candidates.unique().to_pylist(), *(classes.names or ())}
    if _are_marks(values, known, lines):
        return _marked(table, name, lines, candidates, values), table.place, True
    lines.refuse_changes(values, name)
    return values.take(lines.first_line), lambda row: table.place(int(lines.first_line[row]), name), False


def _are_marks(values: Any, known: set[str], lines: _Lines) -> bool:
    """Return whether a label column marks the true candidate instead of naming the true class.

    It then contains only yes and no.  If 0 and 1 are also classes, labels are the same on all lines
    of a row, and marks are not.
    """
    used = {value for value in values.unique().to_pylist() if value}
    if not used or not {value.lower() for value in used} <= {*YES, *NO}:
        return False
    return not used <= known or bool(lines.changes(values).any())


def _marked(table: FileTable, name: str, lines: _Lines, candidates: Any, values: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute as pc

    marked = pc.is_in(pc.utf8_lower(values), value_set=pa.array(YES, values.type)).to_numpy(zero_copy_only=False)
    marked_lines = np.flatnonzero(marked)
    rows = lines.row_of[marked_lines]
    order = np.argsort(rows, kind="stable")
    twice = np.flatnonzero(rows[order][1:] == rows[order][:-1])
    if len(twice):
        line, other = (int(marked_lines[order[index]]) for index in (twice[0], twice[0] + 1))
        raise InputError(
            f"{table.place(line, name)}, and {table.place(other)} are both marked as true for row "
            f"{lines.row_ids[lines.row_of[line]]!r}; mark at most one candidate per row"
        )
    line_of_row = np.full(lines.n_rows, -1)
    line_of_row[rows] = marked_lines
    where = pa.array(line_of_row, mask=line_of_row < 0)
    return candidates.take(where)


def _row_columns(table: FileTable, columns: ColumnNames, taken: set[str], lines: _Lines) -> dict[str, Any]:
    row_values: dict[str, Any] = {}
    for role, key in (("group", "groups"), ("weight", "sample_weight")):
        name = columns.find(role, table, taken)
        if name is None:
            continue
        taken.add(name)
        lines.refuse_changes(table.column(name), name)
        values = group_column(table, name) if role == "group" else weight_column(table, name)
        row_values[key] = values[lines.first_line]
    return row_values


def _constant_columns(table: FileTable, taken: set[str], lines: _Lines) -> tuple[Any, tuple[str, ...]]:
    """Return the other columns that have one value per row, and a note about those that do not."""
    import pyarrow as pa

    others = remaining(table, taken)
    if others is None:
        return None, ()
    kept: list[str] = []
    dropped: list[str] = []
    for name in others.column_names:
        try:
            varies = bool(lines.changes(table.column(name)).any())
        except pa.ArrowException:
            varies = True  # lists and structures cannot be compared
        (dropped if varies else kept).append(name)
    listed = ", ".join(map(repr, dropped[:5]))
    notes = (f"columns that differ between the lines of a row are not kept: {listed}",) if dropped else ()
    return (others.select(kept).take(pa.array(lines.first_line)) if kept else None), notes
