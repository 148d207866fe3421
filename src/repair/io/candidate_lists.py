"""Candidate lists: one line per row, with a list of classes and a list of scores."""

from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError
from repair.io.class_index import ClassIndex, Resolved, are_ids, label_values
from repair.io.columns import (
    ColumnNames,
    as_numbers,
    as_text,
    check_scores,
    find_column,
    is_list,
    name_column,
    text_column,
)
from repair.io.label_files import LabelFile
from repair.io.rows import Rows, optional_columns, padded, refuse_repeats, remaining
from repair.io.table_readers import FileTable

__all__ = ["list_columns", "read_candidate_lists", "read_label_column"]

#: If a file has names and ids, names are used, because they stay valid when the class list changes.
CANDIDATE_COLUMNS = ("candidates", "candidate_names", "candidate_ids")
SCORE_COLUMNS = ("candidate_scores", "scores")


def list_columns(table: FileTable, columns: ColumnNames) -> tuple[str, str] | None:
    """Return the columns with the lists of candidates and scores, if the table has any."""
    candidates = columns.candidate or find_column(table, CANDIDATE_COLUMNS)
    if candidates is None or candidates not in table.names or not is_list(table, candidates):
        return None
    scores = columns.score or find_column(table, SCORE_COLUMNS)
    if scores is None or scores not in table.names or not is_list(table, scores):
        raise InputError(
            f"there are lists of candidates ({candidates!r}), but there is no column with lists of scores, such as "
            "'candidate_scores'",
            name_column("score"),
        )
    return candidates, scores


def read_candidate_lists(
    table: FileTable,
    list_names: tuple[str, str],
    columns: ColumnNames,
    classes: ClassIndex,
    label_file: LabelFile | None,
    n_known: int | None,
) -> Rows:
    """Read lists of ids or names, of any lengths.  `n_known` is K if the caller knows it."""
    class_name, score_name = list_names
    taken = {class_name, score_name, *(name for name in CANDIDATE_COLUMNS if name in table.names)}
    items, row_of = flat_list(table, class_name)
    values, score_rows = flat_list(table, score_name)
    _check_even(table, class_name, score_name, row_of, score_rows)
    scores = as_numbers(values, table, score_name, row_of)
    check_scores(scores, lambda index: table.place(int(row_of[index]), score_name))
    found = optional_columns(table, columns, taken)
    labels, label_place = read_label_column(table, columns, taken, label_file, found.get("row_ids"))
    if items.null_count:
        index = int(np.argmax(items.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{table.place(int(row_of[index]), class_name)} has a missing candidate; remove it")

    names = classes.names
    new: tuple[str, ...] = ()
    if holds_numbers(items):
        class_ids, n_classes = _ids(table, class_name, items, row_of, labels, n_known)
        real = class_ids >= 0
        class_ids, row_of, scores = class_ids[real], row_of[real], scores[real]
    else:
        resolved, class_ids = _named(table, class_name, items, row_of, classes, labels)
        names, new, n_classes = resolved.names, resolved.new, len(resolved.names)

    def name_of(index: int) -> str:
        return str(class_ids[index]) if names is None else names[class_ids[index]]

    refuse_repeats(row_of, class_ids, n_classes, lambda index: table.place(int(row_of[index])), name_of)
    return Rows(
        layout="candidates",
        scores=padded(row_of, class_ids, scores, len(table), n_classes),
        class_names=names,
        new_classes=new,
        labels=None if labels is None else label_values(labels, names, n_classes, label_place),
        other=remaining(table, taken),
        **found,
    )


def flat_list(table: FileTable, name: str) -> tuple[Any, AnyArray]:
    """Return the entries of a list column, and the row of each entry."""
    from pyarrow import compute as pc

    lists = table.column(name)
    if lists.null_count:
        row = int(np.argmax(lists.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{table.place(row, name)} is missing; write a list, or [] if there are no entries")
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    return pc.list_flatten(lists), np.repeat(np.arange(len(table)), lengths)


def holds_numbers(items: Any) -> bool:
    """Return whether list entries are whole numbers.  True if there are no entries."""
    import pyarrow as pa

    return bool(pa.types.is_integer(items.type)) or len(items) == 0


def read_label_column(
    table: FileTable, columns: ColumnNames, taken: set[str], label_file: LabelFile | None, row_ids: AnyArray | None
) -> tuple[Any, Any]:
    """Return one label per row as text or None, and a function that says where it is.  A label file has priority."""
    name = columns.find("label", table, taken)
    if name is not None:
        taken.add(name)
    if label_file is not None:
        return label_file.of_rows(row_ids, len(table)), label_file.place
    return (None, None) if name is None else (text_column(table, name), lambda row: table.place(row, name))


def _check_even(table: FileTable, class_name: str, score_name: str, rows: AnyArray, score_rows: AnyArray) -> None:
    counts, score_counts = (np.bincount(entry_rows, minlength=len(table)) for entry_rows in (rows, score_rows))
    if (counts != score_counts).any():
        row = int(np.argmax(counts != score_counts))
        raise InputError(
            f"{table.place(row)} has {counts[row]} entries in {class_name!r}, but {score_counts[row]} in "
            f"{score_name!r}; write one score per candidate"
        )


def _ids(
    table: FileTable, name: str, items: Any, row_of: AnyArray, labels: Any, n_known: int | None
) -> tuple[AnyArray, int]:
    """Return the checked candidate ids, and K, which is one more than the largest id if it is not known."""
    ids = as_numbers(items, table, name, row_of)
    n_classes = n_known
    if n_classes is None:
        texts = [] if labels is None else [text for text in labels.unique().to_pylist() if text]
        largest = [int(text) for text in texts] if are_ids(texts, None) else []
        n_classes = 1 + max(int(ids.max(initial=-1)), *largest, 1)
    outside = (ids < -1) | (ids >= min(n_classes, 2**31 - 1))
    if outside.any():
        index = int(np.argmax(outside))
        raise InputError(
            f"{table.place(int(row_of[index]), name)} has class id {ids[index]:.0f}; "
            f"ids run from 0 to {min(n_classes, 2**31 - 1) - 1}, −1 is padding"
        )
    return ids.astype(np.int32), n_classes


def _named(
    table: FileTable, name: str, items: Any, row_of: AnyArray, classes: ClassIndex, labels: Any
) -> tuple[Resolved, AnyArray]:
    encoded = as_text(items, table, name).dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    first_seen = np.unique(codes, return_index=True)[1]
    distinct = encoded.dictionary.to_pylist()
    if "" in distinct:
        where = table.place(int(row_of[first_seen[distinct.index("")]]), name)
        raise InputError(f"{where} has a candidate without a name; write the candidate's class")
    known_labels = [] if labels is None else [text for text in labels.unique().to_pylist() if text]
    resolved = classes.resolve(distinct, lambda code: table.place(int(row_of[first_seen[code]]), name), known_labels)
    return resolved, resolved.ids[codes]
