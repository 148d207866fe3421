"""Dense tables: one line per row, with one column of scores per class, or one list of all scores."""

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray
from repair.errors import InputError, Remedy
from repair.io.candidate_lists import flat_list, read_label_column
from repair.io.class_index import ClassIndex, label_values
from repair.io.columns import (
    SYNONYMS,
    ColumnNames,
    as_numbers,
    check_scores,
    find_column,
    listed,
    looks_numeric,
    score_column,
)
from repair.io.label_files import LabelFile
from repair.io.rows import Rows, optional_columns, remaining
from repair.io.table_readers import FileTable

__all__ = ["dense_matrix", "read_dense_list", "read_dense_table"]

OTHER_LAYOUTS = "or lists (candidate_ids and candidate_scores), or lines of row, candidate and score"
NAME_COLUMNS = Remedy(
    "name-columns", "name the columns with ColumnNames(row=…, candidate=…, score=…)", "row candidate score"
)


def read_dense_table(table: FileTable, columns: ColumnNames, classes: ClassIndex, label_file: LabelFile | None) -> Rows:
    """Read one column of numbers per class.  The names of the columns are the names of the classes."""
    names = _class_columns(table, columns) if classes.names is None else _known_columns(table, columns, classes.names)
    scores = np.empty((len(table), len(names)))
    for position, name in enumerate(names):
        scores[:, position] = score_column(table, name)
    taken = set(names)
    optional = optional_columns(table, columns, taken)
    labels, location_of = read_label_column(table, columns, taken, label_file, optional.get("row_ids"))
    return Rows(
        layout="dense",
        scores=scores,
        class_names=names,
        labels=None if labels is None else label_values(labels, names, len(names), location_of),
        other=remaining(table, taken),
        notes=_notes(table, taken, names, has_class_names=classes.names is not None),
        **optional,
    )


def read_dense_list(
    table: FileTable, name: str, columns: ColumnNames, classes: ClassIndex, label_file: LabelFile | None
) -> Rows:
    """Read one list of K scores per row.  Classes are matched by position."""
    values, row_of = flat_list(table, name)
    lengths = np.bincount(row_of, minlength=len(table))
    n_classes = int(lengths[0]) if classes.names is None else len(classes.names)
    if n_classes < 2:
        raise InputError(f"{table.place(0, name)} has {n_classes} scores; reranking needs at least two classes")
    if (lengths != n_classes).any():
        row = int(np.argmax(lengths != n_classes))
        raise InputError(
            f"{table.place(row, name)} has {lengths[row]} scores, but there are {n_classes} classes; "
            "write one score per class, or lists of candidates (candidate_ids and candidate_scores)"
        )
    scores = as_numbers(values, table, name, row_of)
    check_scores(scores, lambda index: table.place(int(row_of[index]), name))
    taken = {name}
    optional = optional_columns(table, columns, taken)
    labels, location_of = read_label_column(table, columns, taken, label_file, optional.get("row_ids"))
    return Rows(
        layout="dense",
        scores=scores.reshape(len(table), n_classes),
        class_names=classes.names,
        labels=None if labels is None else label_values(labels, classes.names, n_classes, location_of),
        other=remaining(table, taken),
        **optional,
    )


def _known_columns(table: FileTable, columns: ColumnNames, names: tuple[str, ...]) -> tuple[str, ...]:
    present = set(table.names) - columns.named()
    missing = [name for name in names if name not in present]
    if missing:
        raise InputError(
            f"there is no column for class {missing[0]!r} ({len(missing)} of {len(names)} classes have no column); "
            f"{listed(table)}; write one column of scores per class, {OTHER_LAYOUTS}",
            NAME_COLUMNS,
        )
    return names


def _class_columns(table: FileTable, columns: ColumnNames) -> tuple[str, ...]:
    """Return the columns that contain numbers and have no other role."""
    taken = columns.named()
    for role in ("row", "label", "group", "weight"):
        usual = None if getattr(columns, role) is not None else find_column(table, SYNONYMS[role], taken)
        taken |= set() if usual is None else {usual}
    names = tuple(name for name in table.names if name not in taken and _holds_numbers(table, name))
    if len(names) < 2:
        few = "only 1 column contains scores" if names else "no column contains scores"
        present = listed(table)
        raise InputError(
            f"{few}. {present[0].upper()}{present[1:]}. Write one column of scores per class, {OTHER_LAYOUTS}",
            NAME_COLUMNS,
        )
    return names


def _holds_numbers(table: FileTable, name: str) -> bool:
    cells: BoolArray | bool = looks_numeric(table, name)
    if isinstance(cells, bool):
        return cells
    if cells.any() and not cells.all():
        # If the column were read as free text, a class would be lost silently.
        row = int(np.argmin(cells))
        raise InputError(
            f"{table.place(row, name)} is {table.column(name)[row].as_py()!r}, but other lines have numbers; "
            "write a score, or give a class table, which says which columns are classes"
        )
    return bool(cells.all())


def _notes(table: FileTable, taken: set[str], names: tuple[str, ...], *, has_class_names: bool) -> tuple[str, ...]:
    if not has_class_names:
        return (f"there is no class table, so the {len(names)} columns of numbers are the classes: {_some(names)}",)
    others = tuple(name for name in table.names if name not in taken and _is_all_numbers(table, name))
    if not others:
        return ()
    return (f"columns of numbers that are not known classes are kept, but not read as scores: {_some(others)}",)


def _is_all_numbers(table: FileTable, name: str) -> bool:
    return bool(np.all(looks_numeric(table, name)))


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")


def dense_matrix(scores: AnyArray) -> AnyArray:
    """Return an (n, K) array of scores, or raise an error that names the first invalid score."""
    if scores.shape[1] < 2:
        raise InputError(f"scores has {scores.shape[1]} column; reranking needs at least two classes")
    for start in range(0, len(scores), 4096):
        block = np.asarray(scores[start : start + 4096], dtype=np.float64)
        width = block.shape[1]

        def location_of(index: int, start: int = start, width: int = width) -> str:
            return f"scores[{start + index // width}, {index % width}]"

        check_scores(block.ravel(), location_of)
    return scores
