"""Matching class tables and score columns to the classes by name.

``value_counts()`` returns counts in order of frequency, and the columns of a data frame can be in
any order.  So where values have names (a mapping, a Series, a DataFrame), they are matched by name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from repair._utils.arrays import FloatArray
from repair.errors import InputError
from repair.validation.checks import ValueNames, check_class_vector

__all__ = ["align_columns", "align_to_classes", "class_vector", "column_names"]


def class_vector(
    values: Any, name: str, n_classes: int, class_names: Sequence[str] | None, *, positive: bool = False
) -> FloatArray:
    """Return one validated number per class, in class order.  A mapping or Series is matched by id or name.

    The numbers must be finite and not negative, nor 0 with `positive`.
    """
    aligned = align_to_classes(values, name, n_classes, class_names)
    return check_class_vector(aligned, name, n_classes, positive=positive)


def align_to_classes(values: Any, name: str, n_classes: int, class_names: Sequence[str] | None) -> Any:
    """Return the values of a mapping or Series in class order.  Anything else is returned unchanged.

    Keys are the class ids 0…K−1 or, if `class_names` is given, the names.  Every class needs
    exactly one entry.
    """
    if isinstance(values, Mapping):
        entries: Mapping[Any, Any] = values
    elif _is_series(values):
        if len(set(values.index)) != len(values):
            raise InputError(f"{name} has a repeated index entry; give every class one entry")
        entries = values.to_dict()
    else:
        return values
    if isinstance(class_names, ValueNames):  # whole numbers are names here, and not ids
        entries = {str(key): value for key, value in entries.items()}
    by_id = all(isinstance(key, int) or hasattr(key, "__index__") for key in entries)
    if not by_id and class_names is None:
        raise InputError(f"{name} has class names as keys (such as {next(iter(entries))!r}); pass class_names as well")
    keys = range(n_classes) if by_id or class_names is None else class_names
    _check_same_entries(entries, keys, name, "entry for class")
    return [entries[key] for key in keys]


def column_names(scores: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame, or the index of one of its rows (a Series), if they are text."""
    columns = getattr(scores, "columns", scores.index if _is_series(scores) else None)
    if columns is None:
        return None
    names = tuple(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def _is_series(values: Any) -> bool:
    return hasattr(values, "to_dict") and hasattr(values, "index") and not hasattr(values, "columns")


def align_columns(scores: Any, class_names: Sequence[str] | None) -> Any:
    """Return a data frame, or one of its rows, with the columns in class order.  Anything else is unchanged."""
    columns = column_names(scores)
    if columns is None or class_names is None or columns == tuple(class_names):
        return scores
    if len(set(columns)) != len(columns):
        raise InputError("scores has two columns with the same name; give every class one column")
    _check_same_entries(columns, class_names, "scores", "column")
    return scores[list(class_names)]


def _check_same_entries(keys: Any, classes: Sequence[Any], name: str, noun: str) -> None:
    """Raise an error that names the first key that is not a class, or the first class without a key."""
    known, present = set(classes), set(keys)
    missing = next((key for key in classes if key not in present), None)
    unknown = next((key for key in keys if key not in known), None)
    if unknown is not None:
        raise InputError(f"{name} has an entry for {unknown!r}, which is not one of the {len(known)} classes")
    if missing is not None:
        raise InputError(f"{name} has no {noun} {missing!r}; every class needs one")
