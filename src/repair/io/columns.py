"""Finding the columns of a table by their role, and reading them as numbers or text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray
from repair.errors import InputError, Remedy
from repair.io.table_readers import FileTable
from repair.validation.checks import SCORE_LIMIT, refuse_score

__all__ = ["ColumnNames", "find_column", "is_list", "name_column", "number_column", "score_column", "text_column"]

#: Usual column names of each role, in order of preference.  Case does not matter.
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


def name_column(role: str) -> Remedy:
    """Return the remedy "name the column of this role"."""
    return Remedy("name-column", f"name it with ColumnNames({role}=…)", role)


@dataclass(frozen=True)
class ColumnNames:
    """Names of the columns of a score table, for columns that do not have a usual name.

    Attributes
    ----------
    row, candidate, score, label, group, weight : str or None
        Name of the column of each role.  By default the usual names are looked for (``row``,
        ``query_id``, …; see ``docs/files.md``).

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
        """Raise an error if a name is not text, or if one column has two roles."""
        given: dict[str, str] = {}
        for role in (field.name for field in fields(self)):
            name = getattr(self, role)
            if name is None:
                continue
            if not isinstance(name, str):
                raise InputError(f"ColumnNames({role}={name!r}) is not text; pass the name of a column")
            if name in given:
                raise InputError(f"ColumnNames has {name!r} as {given[name]} and as {role}; name two different columns")
            given[name] = role

    def named(self) -> set[str]:
        """Return the names that were given."""
        return {getattr(self, field.name) for field in fields(self)} - {None}

    def given(self) -> dict[str, str]:
        """Return the names that were given, by role."""
        return {role: name for role, name in vars(self).items() if name is not None}

    def completed_by(self, others: "ColumnNames", present: Sequence[str]) -> "ColumnNames":
        """Return these names, and for roles without a name those of `others` that are present and not taken.

        Parameters
        ----------
        others : ColumnNames
        present : sequence of str
            The names of all columns of the file.

        Returns
        -------
        ColumnNames
        """
        roles = [field.name for field in fields(self)]
        usable = {role: getattr(others, role) for role in roles}
        kept = {
            role: name
            for role, name in usable.items()
            if getattr(self, role) is None and name in present and name not in self.named()
        }
        return replace(self, **kept)

    def find(self, role: str, table: FileTable, taken: Iterable[str] = ()) -> str | None:
        """Return the column of a role: the given one, or the first with a usual name that is not taken."""
        given: str | None = getattr(self, role)
        if given is not None and given not in table.names:
            raise InputError(f"there is no column {given!r} for the {role}; {listed(table)}")
        return given or find_column(table, SYNONYMS[role], {*taken, *self.named()})

    def require(self, role: str, table: FileTable, taken: Iterable[str] = ()) -> str:
        """Return the column of a role, or raise an error if the table has none."""
        column = self.find(role, table, taken)
        if column is None:
            raise InputError(f"there is no {role} column; {listed(table)}", name_column(role))
        return column


def find_column(table: FileTable, synonyms: Sequence[str], taken: Iterable[str] = ()) -> str | None:
    """Return the first column with one of these names that is not taken, or None."""
    excluded = set(taken)
    by_name = {name.lower(): name for name in reversed(table.names) if name not in excluded}
    return next((by_name[name] for name in synonyms if name in by_name), None)


def listed(table: FileTable) -> str:
    """Return a phrase that lists the columns of the table."""
    shown = ", ".join(repr(name) for name in table.names[:12])
    others = f" and {len(table.names) - 12} more" if len(table.names) > 12 else ""
    alone = len(table.names) == 1 and table.format.kind == "csv" and any(sign in table.names[0] for sign in ";\t|")
    hint = " (are the fields separated by something other than the expected delimiter?)" if alone else ""
    return f"the file has {shown}{others}{hint}"


def is_list(table: FileTable, name: str) -> bool:
    """Return whether a column has a list in every row."""
    import pyarrow as pa

    kind = table.columns.schema.field(name).type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def text_column(table: FileTable, name: str) -> Any:
    """Return a column as text, with whole numbers as digits.  Missing values stay missing."""
    return as_text(table.column(name), table, name)


def as_text(values: Any, table: FileTable, name: str) -> Any:
    """Return values as text.  There may be any number of them per row."""
    import pyarrow as pa
    from pyarrow import compute as pc

    kind = values.type
    if pa.types.is_floating(kind):
        # pandas turns whole numbers into floats if some are missing.  Other floats cannot be names.
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
        raise InputError(f"column {name!r} contains a NUL character; remove it")
    return values


def number_column(table: FileTable, name: str) -> FloatArray:
    """Return a column as float64, or raise an error that names the line of the first value that is not a number."""
    return as_numbers(table.column(name), table, name)


def as_numbers(values: Any, table: FileTable, name: str, rows: AnyArray | None = None) -> FloatArray:
    """Return values as float64.  `rows` has the row of each value, if there is not one value per row."""
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
        values = _with_points(pc.utf8_trim_whitespace(values.cast(pa.large_string())), table)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"column {name!r} has type {kind}; write numbers")
    try:
        numbers = values.cast(pa.float64(), safe=False)
    except pa.ArrowInvalid:
        bad = _first_that_fails(values)
        raise InputError(f"{place(bad)} is {values[bad].as_py()!r}; {_number_remedy(values[bad].as_py())}") from None
    array: FloatArray = numbers.to_numpy(zero_copy_only=False)
    return array


def _number_remedy(text: str) -> str:
    if re.fullmatch(r"[-+]?\d*,\d+", text):
        return "write a decimal point, or say that the decimal sign is a comma (CsvFormat(decimal=','), --decimal ,)"
    if re.fullmatch(r"[-+]?[\d.,]+", text):
        return "write a number without separators between thousands"
    return "write a number"


def score_column(table: FileTable, name: str) -> FloatArray:
    """Return a column of scores, which must be −Inf or finite and within the limit."""
    scores = number_column(table, name)
    check_scores(scores, lambda index: table.place(index, name))
    return scores


def check_scores(scores: FloatArray, place: Any) -> None:
    """Raise an error for the first score that is NaN, +Inf or so large that it must be a mask."""
    bad = ~(np.abs(scores) <= SCORE_LIMIT) & ~np.isneginf(scores)
    if bad.any():
        index = int(np.argmax(bad))
        raise refuse_score(float(scores[index]), place(index))


def looks_numeric(table: FileTable, name: str) -> BoolArray | bool:
    """Return whether a column has numbers.  For text that is partly numbers, return a mask of the cells that are."""
    import pyarrow as pa
    from pyarrow import compute as pc

    values = table.column(name)
    kind = values.type
    if _is_text(kind):
        try:
            values = _with_points(pc.utf8_trim_whitespace(values), table)
            values.cast(pa.float64())
            return bool(values.null_count < len(values))
        except pa.ArrowInvalid:
            pass  # finding the cells that are not numbers is slower, and rarely needed
        pattern = r"(?i)^\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|inf(inity)?)\s*$"
        matches = pc.match_substring_regex(values, pattern)
        cells: BoolArray = pc.fill_null(matches, False).to_numpy(zero_copy_only=False)
        return cells
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def first(mask: Any) -> int:
    """Return the index of the first true value."""
    return int(np.argmax(np.asarray(mask.to_numpy(zero_copy_only=False) if hasattr(mask, "to_numpy") else mask)))


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _with_points(values: Any, table: FileTable) -> Any:
    """Return numbers as text with a decimal point.  A number such as 1.234,5 stays, and cannot be read."""
    from pyarrow import compute as pc

    if table.format.decimal == ".":
        return values
    return pc.replace_substring_regex(values, r"^([-+]?\d*),(\d+([eE][-+]?\d+)?)$", r"\1.\2")


def _first_that_fails(values: Any) -> int:
    """Return the index of the first text that is not a number, by bisection."""
    import pyarrow as pa

    low, high = 0, len(values)  # the first failure is in values[low:high]
    while high - low > 1:
        middle = (low + high) // 2
        try:
            values.slice(low, middle - low).cast(pa.float64())
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low
