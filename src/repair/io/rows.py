"""The common result of reading any layout, and the steps that layouts share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from repair._utils.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.io.columns import ColumnNames, number_column, text_column
from repair.io.table_readers import FileTable

__all__ = ["Rows", "optional_columns", "padded", "refuse_repeats", "remaining", "without_unlabelled"]

#: A padded table of candidates with more slots than this must have at least one candidate per `EMPTIEST` slots.
MANY_SLOTS = 1 << 28
EMPTIEST = 100
#: Number of rows without a label that a note lists.
SHOWN = 3

Place = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a score file in any layout.  `class_fields` has the class-level arrays of the file."""

    layout: str
    scores: AnyArray | Shortlist
    class_names: tuple[str, ...] | None = None
    new_classes: tuple[str, ...] = ()
    labels: AnyArray | None = None
    row_ids: AnyArray | None = None
    groups: AnyArray | None = None
    sample_weight: FloatArray | None = None
    embeddings: AnyArray | None = None
    other: Any = None
    notes: tuple[str, ...] = ()
    class_fields: dict[str, Any] = field(default_factory=dict)
    row_name: str | None = None
    columns: ColumnNames = field(default_factory=ColumnNames)
    kept: AnyArray | None = None


def refuse_repeats(row_of: AnyArray, class_ids: AnyArray, n_classes: int, place: Place, name_of: Place) -> None:
    """Raise an error that names both places if a row has two entries for one class."""
    keys = row_of.astype(np.int64) * n_classes + class_ids
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(twice):
        pairs = order[np.stack([twice, twice + 1])]
        entry, other = (int(index) for index in pairs[:, np.argmin(pairs[1])])
        places = place(entry), place(other)
        where = f"{places[0]} and {places[1]} give" if places[0] != places[1] else f"{places[0]} gives"
        raise InputError(f"{where} class {name_of(entry)!r} twice for one row; keep one entry per candidate")


def padded(row_of: AnyArray, class_ids: AnyArray, scores: FloatArray, n_rows: int, n_classes: int) -> Shortlist:
    """Return a shortlist from one entry per candidate, in any order."""
    lengths = np.bincount(row_of, minlength=n_rows)
    width = max(int(lengths.max()), 1)
    if n_rows * width > max(MANY_SLOTS, EMPTIEST * len(row_of)):
        raise InputError(
            f"one row has {width} candidates, but {n_rows} rows have {len(row_of) / n_rows:.1f} on average; "
            "shorten the longest lists"
        )
    order = np.argsort(row_of, kind="stable")
    starts = np.cumsum(lengths) - lengths
    rows = row_of[order]
    slots = np.arange(len(order)) - starts[rows]
    filled_ids = np.full((n_rows, width), PAD_ID, dtype=np.int32)
    filled_scores = np.full((n_rows, width), PAD_SCORE)
    filled_ids[rows, slots] = class_ids[order]
    filled_scores[rows, slots] = scores[order]
    return Shortlist.from_candidates(filled_ids, filled_scores, n_classes)


def as_objects(values: Any) -> AnyArray:
    """Return a pyarrow array as numpy: whole numbers as numbers, everything else as Python objects."""
    import pyarrow as pa

    array: AnyArray = values.to_numpy(zero_copy_only=False)
    return array if pa.types.is_integer(values.type) and not values.null_count else array.astype(object)


def row_id_column(table: FileTable, name: str) -> Any:
    """Return row ids as whole numbers or text, or raise an error if one is missing."""
    import pyarrow as pa
    from pyarrow import compute as pc

    values = table.column(name)
    text = text_column(table, name)
    missing = pc.fill_null(pc.equal(text, ""), True).to_numpy(zero_copy_only=False)
    if missing.any():
        raise InputError(f"{table.place(int(np.argmax(missing)), name)} is empty; write an id for every row")
    return values if pa.types.is_integer(values.type) else text


def optional_columns(table: FileTable, columns: ColumnNames, taken: set[str]) -> dict[str, Any]:
    """Read row ids, groups and weights of a table with one line per row."""
    row_values: dict[str, Any] = {}
    for role in ("row", "group", "weight"):
        name = columns.find(role, table, taken)
        if name is None:
            continue
        taken.add(name)
        if role == "row":
            row_values |= {"row_ids": as_objects(row_id_column(table, name)), "row_name": name}
        elif role == "group":
            row_values["groups"] = group_column(table, name)
        else:
            row_values["sample_weight"] = weight_column(table, name)
    return row_values


def group_column(table: FileTable, name: str) -> AnyArray:
    """Return the groups as text, or raise an error if one is missing."""
    text = text_column(table, name)
    if text.null_count:
        row = int(np.argmax(text.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{table.place(row, name)} is missing; write a group for every row")
    groups = as_objects(text)
    if (groups == "").any():  # in CSV a missing cell is empty text, which would put unrelated rows into one group
        raise InputError(f"{table.place(int(np.argmax(groups == '')), name)} is empty; write a group for every row")
    return groups


def weight_column(table: FileTable, name: str) -> FloatArray:
    """Return the weights, or raise an error if one is negative or not finite."""
    weights = number_column(table, name)
    usable = np.isfinite(weights) & (weights >= 0)
    if not usable.all():
        row = int(np.argmin(usable))
        raise InputError(f"{table.place(row, name)} is {weights[row]}; weights must be finite and 0 or more")
    return weights


def remaining(table: FileTable, taken: set[str]) -> Any:
    """Return the columns that have no role, or None."""
    names = [name for name in table.names if name not in taken]
    return table.columns.select(names) if names else None


def without_unlabelled(rows: Rows, *, drop: bool) -> Rows:
    """Leave out rows whose label is missing, with a note, or keep them with the label −1.

    A missing label is not a wrong answer, and not a class that nobody knows.
    """
    labels = rows.labels
    if labels is None or labels.dtype.kind not in "OU":
        return rows
    missing = np.array([label is None or label == "" for label in labels.tolist()])
    if not missing.any():
        return rows
    names = any(isinstance(label, str) for label in labels[~missing])
    if not drop:
        return rows if names else replace(rows, labels=np.where(missing, -1, labels).astype(np.int64))
    kept = ~missing
    which = np.flatnonzero(missing)[:SHOWN]
    shown = ", ".join(repr(row) if rows.row_ids is None else str(rows.row_ids[row]) for row in which.tolist())
    more = ", …" if missing.sum() > SHOWN else ""
    other = rows.other
    if other is not None:
        if isinstance(other, dict):
            other = {name: values[kept] for name, values in other.items()}
        else:
            other = other.filter(kept)

    def of_kept(values: Any) -> Any:
        return None if values is None else values[kept]

    return replace(
        rows,
        scores=rows.scores.take(kept) if isinstance(rows.scores, Shortlist) else rows.scores[kept],
        labels=labels[kept] if names else labels[kept].astype(np.int64),
        row_ids=of_kept(rows.row_ids),
        groups=of_kept(rows.groups),
        sample_weight=of_kept(rows.sample_weight),
        embeddings=of_kept(rows.embeddings),
        other=other,
        notes=(*rows.notes, f"{int(missing.sum())} rows have no label and are left out ({shown}{more})"),
        kept=kept,
    )
