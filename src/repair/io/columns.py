"""Finding the columns a table needs, and reading them as numbers or text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from repair.arrays import AnyArray, BoolArray, FloatArray
from repair.errors import InputError
from repair.inputs import SCORE_LIMIT, refuse_score
from repair.io.tables import FileTable

__all__ = ["ColumnNames", "find_column", "is_list", "number_column", "score_column", "text_column"]

#: What each role's column may be called, most telling first; case does not matter.
SYNONYMS = {
    "row": ("row", "row_id", "query", "query_id", "example", "example_id", "sample", "sample_id", "item_id", "id"),
    "candidate": ("candidate", "candidate_name", "candidate_class", "class", "class_name", "candidate_id", "class_id"),
    "score": ("score", "scores", "logit", "candidate_score", "base_score"),
    "label": (
        *("label", "labels", "true_label", "true_class", "true", "truth", "target", "y_true", "gold"),
        *("is_true", "is_correct", "correct", "is_label", "relevant"),
    ),
    "group": ("group", "groups", "group_id"),
    "weight": ("weight", "weights", "sample_weight"),
}


@dataclass(frozen=True)
class ColumnNames:
    """What the columns of a score table are called, where the usual names do not apply.

    Attributes
    ----------
    row, candidate, score, label, group, weight : str or None
        None looks for the usual names (``row``, ``query_id``, …; see ``docs/files.md``).

    Examples
    --------
    >>> from repair.io import ColumnNames
    >>> ColumnNames(row="patient", label="diagnosis").label
    'diagnosis'
    """

    row: str | None = None
    candidate: str | None = None
    score: str | None = None
    label: str | None = None
    group: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        """Refuse two roles for one column."""
        given: dict[str, str] = {}
        for one in fields(self):
            name = getattr(self, one.name)
            if name is None:
                continue
            if not isinstance(name, str):
                raise InputError(f"ColumnNames({one.name}={name!r}) is not text; pass a column's name")
            if name in given:
                raise InputError(f"ColumnNames gives {name!r} as {given[name]} and as {one.name}; name two columns")
            given[name] = one.name

    def named(self) -> set[str]:
        """Return the names that were given."""
        return {getattr(self, one.name) for one in fields(self)} - {None}

    def find(self, role: str, table: FileTable, taken: Iterable[str] = ()) -> str | None:
        """Return the column of a role: the one given, or the first with a usual name that is not taken."""
        given: str | None = getattr(self, role)
        if given is not None and given not in table.names:
            raise InputError(f"there is no column {given!r} (ColumnNames({role}=…)); {listed(table)}")
        return given or find_column(table, SYNONYMS[role], {*taken, *self.named()})

    def require(self, role: str, table: FileTable, taken: Iterable[str] = ()) -> str:
        """Do as `find`, and refuse a table without such a column."""
        found = self.find(role, table, taken)
        if found is None:
            raise InputError(f"there is no {role} column; {listed(table)}; name it with ColumnNames({role}=…)")
        return found


def find_column(table: FileTable, synonyms: Sequence[str], taken: Iterable[str] = ()) -> str | None:
    """Return the first column with one of these names."""
    out = set(taken)
    by_name = {name.lower(): name for name in reversed(table.names) if name not in out}
    return next((by_name[name] for name in synonyms if name in by_name), None)


def listed(table: FileTable) -> str:
    """Say which columns there are."""
    shown = ", ".join(repr(name) for name in table.names[:12])
    others = f" and {len(table.names) - 12} more" if len(table.names) > 12 else ""
    alone = len(table.names) == 1 and table.format.kind == "csv" and any(sign in table.names[0] for sign in ";\t|")
    hint = " (are its fields separated by something else than the delimiter?)" if alone else ""
    return f"the file has {shown}{others}{hint}"


def is_list(table: FileTable, name: str) -> bool:
    """Say whether a column holds a list in every row."""
    import pyarrow as pa

    kind = table.columns.schema.field(name).type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def text_column(table: FileTable, name: str) -> Any:
    """Return a column as text, whole numbers as their digits; missing values stay missing."""
    return as_text(table.column(name), table, name)


def as_text(values: Any, table: FileTable, name: str) -> Any:
    """Do as `text_column`, for values that need not be one per row."""
    import pyarrow as pa
    from pyarrow import compute as pc

    kind = values.type
    if pa.types.is_floating(kind):
        # pandas turns whole numbers with a gap into floats; other floats name nothing.
        whole = values.to_numpy(zero_copy_only=False).astype(np.float64)
        whole = whole[~np.isnan(whole)]
        if (np.abs(whole) < 2**53).all() and (whole % 1 == 0).all():
            nan = pc.is_nan(values)
            values = pc.if_else(nan, None, values).cast(pa.int64())
            kind = values.type
    usable = pa.types.is_integer, pa.types.is_boolean, pa.types.is_null, pa.types.is_temporal
    if _is_text(kind) or any(is_kind(kind) for is_kind in usable):
        try:
            values = values.cast(pa.large_string())
        except pa.ArrowException:
            raise InputError(f"column {name!r} has type {kind}; write it as text or whole numbers") from None
    else:
        raise InputError(f"column {name!r} has type {kind}; write it as text or whole numbers")
    nul = pc.fill_null(pc.match_substring(values, "\0"), False).to_numpy(zero_copy_only=False)
    if nul.any():
        raise InputError(f"column {name!r} has a text with a NUL character in it; remove it")
    return values


def number_column(table: FileTable, name: str) -> FloatArray:
    """Return a column as float64, refusing what is no number with its line."""
    return as_numbers(table.column(name), table, name)


def as_numbers(values: Any, table: FileTable, name: str, rows: AnyArray | None = None) -> FloatArray:
    """Do as `number_column`; `rows` says which row each value belongs to, if not one each."""
    import pyarrow as pa
    from pyarrow import compute as pc

    def place(index: int) -> str:
        return table.place(index if rows is None else int(rows[index]), name)

    if len(values) == 0:
        return np.empty(0)
    if values.null_count and not pa.types.is_null(values.type):
        raise InputError(f"{place(first(values.is_null()))} is missing; write a number")
    if pa.types.is_null(values.type):
        raise InputError(f"{place(0)} is missing; write a number")
    kind = values.type
    if _is_text(kind):
        values = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"column {name!r} has type {kind}; write numbers")
    try:
        numbers = values.cast(pa.float64(), safe=False)
    except pa.ArrowInvalid:
        bad = _first_that_fails(values)
        raise InputError(f"{place(bad)} is {values[bad].as_py()!r}; write a number") from None
    array: FloatArray = numbers.to_numpy(zero_copy_only=False)
    return array


def score_column(table: FileTable, name: str) -> FloatArray:
    """Return a column of scores, each finite within the limit or −Inf."""
    scores = number_column(table, name)
    check_scores(scores, lambda index: table.place(index, name))
    return scores


def check_scores(scores: FloatArray, place: Any) -> None:
    """Refuse the first score that is NaN, +Inf or a mask in disguise."""
    bad = ~(np.abs(scores) <= SCORE_LIMIT) & ~np.isneginf(scores)
    if bad.any():
        index = int(np.argmax(bad))
        raise refuse_score(float(scores[index]), place(index))


def looks_numeric(table: FileTable, name: str) -> BoolArray | bool:
    """Say whether a column holds numbers; of a text column that is not all numbers, which cells could be."""
    import pyarrow as pa
    from pyarrow import compute as pc

    values = table.column(name)
    kind = values.type
    if _is_text(kind):
        try:
            pc.utf8_trim_whitespace(values).cast(pa.float64())
            return bool(values.null_count < len(values))
        except pa.ArrowInvalid:
            pass  # which cells are none is a slower question, and rarely asked
        pattern = r"(?i)^\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|inf(inity)?)\s*$"
        found = pc.match_substring_regex(values, pattern)
        cells: BoolArray = pc.fill_null(found, False).to_numpy(zero_copy_only=False)
        return cells
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def first(mask: Any) -> int:
    """Return the index of the first true value."""
    return int(np.argmax(np.asarray(mask.to_numpy(zero_copy_only=False) if hasattr(mask, "to_numpy") else mask)))


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _first_that_fails(values: Any) -> int:
    """Return the index of the first text that is no number, by halving."""
    import pyarrow as pa

    low, high = 0, len(values)  # the first failure lies in values[low:high]
    while high - low > 1:
        middle = (low + high) // 2
        try:
            values.slice(low, middle - low).cast(pa.float64())
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low
