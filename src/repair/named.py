"""Matching what users name: class tables and score columns are aligned by name, never by luck.

Counts from ``value_counts()`` come in order of frequency, and data frames in order of their
columns.  Where values carry names (a mapping, a Series, a DataFrame) the names decide.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from repair.errors import InputError

__all__ = ["align_columns", "align_to_classes", "column_names"]


def align_to_classes(values: Any, name: str, n_classes: int, class_names: Sequence[str] | None) -> Any:
    """Put a mapping or Series into class order; anything else is returned as it is.

    Keys may be the class ids 0…K−1 or, if `class_names` is known, the names; each class once.
    """
    if isinstance(values, Mapping):
        entries: Mapping[Any, Any] = values
    elif _is_series(values):
        if len(set(values.index)) != len(values):
            raise InputError(f"{name} has an index entry twice; give every class one entry")
        entries = values.to_dict()
    else:
        return values
    by_id = all(isinstance(key, int) or hasattr(key, "__index__") for key in entries)
    if not by_id and class_names is None:
        raise InputError(f"{name} is keyed by names (such as {next(iter(entries))!r}); pass class_names as well")
    keys = range(n_classes) if by_id or class_names is None else class_names
    _refuse_differences(entries, keys, name, "class")
    return [entries[key] for key in keys]


def column_names(scores: Any) -> tuple[str, ...] | None:
    """Return the names of a data frame's columns, or of one row's entries (a Series), if they are text."""
    columns = getattr(scores, "columns", scores.index if _is_series(scores) else None)
    if columns is None:
        return None
    listed = tuple(columns)
    return listed if listed and all(isinstance(column, str) for column in listed) else None


def _is_series(values: Any) -> bool:
    return hasattr(values, "to_dict") and hasattr(values, "index") and not hasattr(values, "columns")


def align_columns(scores: Any, class_names: Sequence[str] | None) -> Any:
    """Put the columns of a data frame, or a row of one, into class order; anything else is returned as it is."""
    columns = column_names(scores)
    if columns is None or class_names is None or columns == tuple(class_names):
        return scores
    if len(set(columns)) != len(columns):
        raise InputError("scores has two columns of one name; give every class one column")
    _refuse_differences(columns, class_names, "scores", "column")
    return scores[list(class_names)]


def _refuse_differences(given: Any, wanted: Sequence[Any], name: str, noun: str) -> None:
    known, present = set(wanted), set(given)
    missing = next((key for key in wanted if key not in present), None)
    unknown = next((key for key in given if key not in known), None)
    if unknown is not None:
        raise InputError(f"{name} has an entry for {unknown!r}, which is not one of the {len(known)} classes")
    if missing is not None:
        raise InputError(f"{name} lacks {noun} {missing!r}; give every one of the {len(known)} classes an entry")
