"""What every layout is read into, and the steps that layouts share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from repair.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray
from repair.errors import InputError
from repair.io.columns import ColumnNames, number_column, text_column
from repair.io.tables import FileTable
from repair.shortlist import Shortlist

__all__ = ["Rows", "optional_columns", "padded", "refuse_repeats", "remaining"]

#: A padded table of candidates this large is only made if most of it is filled.
MANY_SLOTS = 1 << 28
EMPTIEST = 100

Place = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a score file, whatever its layout; `known` holds class-level arrays of the file."""

    layout: str
    scores: AnyArray | Shortlist
    class_names: tuple[str, ...] | None = None
    new_classes: tuple[str, ...] = ()
    labels: AnyArray | None = None
    row_ids: AnyArray | None = None
    groups: AnyArray | None = None
    sample_weight: FloatArray | None = None
    other: Any = None
    notes: tuple[str, ...] = ()
    known: dict[str, Any] = field(default_factory=dict)
    row_name: str | None = None


def refuse_repeats(row_of: AnyArray, class_ids: AnyArray, n_classes: int, place: Place, name_of: Place) -> None:
    """Refuse two entries for one class in one row, naming both."""
    keys = row_of.astype(np.int64) * n_classes + class_ids
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(twice):
        pairs = order[np.stack([twice, twice + 1])]
        one, other = (int(index) for index in pairs[:, np.argmin(pairs[1])])
        places = place(one), place(other)
        where = f"{places[0]} and {places[1]} give" if places[0] != places[1] else f"{places[0]} gives"
        raise InputError(f"{where} class {name_of(one)!r} twice for one row; keep one entry per candidate")


def padded(row_of: AnyArray, class_ids: AnyArray, scores: FloatArray, n_rows: int, n_classes: int) -> Shortlist:
    """Return a shortlist from one entry per candidate, in any order."""
    lengths = np.bincount(row_of, minlength=n_rows)
    width = max(int(lengths.max()), 1)
    if n_rows * width > max(MANY_SLOTS, EMPTIEST * len(row_of)):
        raise InputError(
            f"one row has {width} candidates, where {n_rows} rows have {len(row_of) / n_rows:.1f} on average; "
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
    """Return a pyarrow array as numpy: whole numbers as they are, anything else as Python objects."""
    import pyarrow as pa

    array: AnyArray = values.to_numpy(zero_copy_only=False)
    return array if pa.types.is_integer(values.type) and not values.null_count else array.astype(object)


def row_id_column(table: FileTable, name: str) -> Any:
    """Return row ids as whole numbers or text; every row has one."""
    import pyarrow as pa
    from pyarrow import compute as pc

    values = table.column(name)
    text = text_column(table, name)
    missing = pc.fill_null(pc.equal(text, ""), True).to_numpy(zero_copy_only=False)
    if missing.any():
        raise InputError(f"{table.place(int(np.argmax(missing)), name)} is empty; every row needs an id")
    return values if pa.types.is_integer(values.type) else text


def optional_columns(table: FileTable, columns: ColumnNames, taken: set[str]) -> dict[str, Any]:
    """Read row ids, groups and weights of a table with one line per row."""
    found: dict[str, Any] = {}
    for role in ("row", "group", "weight"):
        name = columns.find(role, table, taken)
        if name is None:
            continue
        taken.add(name)
        if role == "row":
            found |= {"row_ids": as_objects(row_id_column(table, name)), "row_name": name}
        elif role == "group":
            found["groups"] = group_column(table, name)
        else:
            found["sample_weight"] = weight_column(table, name)
    return found


def group_column(table: FileTable, name: str) -> AnyArray:
    """Return the groups as text; every row has one."""
    text = text_column(table, name)
    if text.null_count:
        row = int(np.argmax(text.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{table.place(row, name)} is missing; every row needs a group")
    groups = as_objects(text)
    if (groups == "").any():  # in CSV a missing cell is empty text, and would tie unrelated rows together
        raise InputError(f"{table.place(int(np.argmax(groups == '')), name)} is empty; every row needs a group")
    return groups


def weight_column(table: FileTable, name: str) -> FloatArray:
    """Return weights, finite and not negative."""
    weights = number_column(table, name)
    usable = np.isfinite(weights) & (weights >= 0)
    if not usable.all():
        row = int(np.argmin(usable))
        raise InputError(f"{table.place(row, name)} is {weights[row]}; weights are finite and 0 or more")
    return weights


def remaining(table: FileTable, taken: set[str]) -> Any:
    """Return the columns that have no role, or None."""
    names = [name for name in table.names if name not in taken]
    return table.columns.select(names) if names else None
