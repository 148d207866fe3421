"""Checks of the arrays and numbers that users pass.  The rest of the library does not check them again.

Every function takes what a user passed and returns an array of the shape and type that the rest of
the library relies on, or raises `InputError` with the position, the value and the remedy.  Inputs
are never modified.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.errors import InputError, Remedy

__all__ = [
    "SCORE_LIMIT",
    "ValueNames",
    "are_names",
    "as_array",
    "check_choice",
    "check_class_names",
    "check_class_vector",
    "check_count",
    "check_group_codes",
    "check_labels",
    "check_number",
    "check_row_vector",
    "numeric_array",
    "refuse_score",
]

#: Finite scores beyond this limit are rejected.  They are usually masks, and would dominate every score gap.
SCORE_LIMIT = 1e30
#: Types that count as a single number.  `isinstance` is several times as fast with a tuple as with a union.
NUMBERS = (int, float, np.integer, np.floating)
#: Types of class names that are not text.
VALUE_TYPES: dict[str, tuple[type, ...]] = {"int": (int, np.integer), "bool": (bool, np.bool_)}
#: Stands for labels that are not text in the list of unknown labels.  No class can have this name.
MISSING = "\x00(missing)"


def as_array(values: ArrayLike, name: str) -> AnyArray:
    """Return `values` as an array of any type and shape."""
    if type(values) is np.ndarray:
        return values
    if np.ma.is_masked(values):
        raise InputError(f"{name} has masked entries; fill them first, for scores with .filled(-np.inf)")
    try:
        return np.asarray(values)
    except (ValueError, TypeError, RuntimeError, AttributeError) as error:
        raise InputError(
            f"{name} cannot be read as an array ({error}); pass a numpy array or equally long rows"
        ) from None


def numeric_array(values: ArrayLike, name: str, ndim: int) -> AnyArray:
    """Return `values` as a float or integer array with `ndim` dimensions, without a copy if possible."""
    array = as_array(values, name)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {array.dtype}; pass real numbers (float16, float32, float64 or integers)")
    if array.ndim != ndim:
        raise InputError(f"{name} has shape {array.shape}; expected {ndim} dimension{'s' if ndim > 1 else ''}")
    if array.dtype.itemsize > 8:
        raise InputError(f"{name} has dtype {array.dtype}; pass float64, because all computations use it")
    return array.astype(np.float64) if array.dtype.kind in "ub" else array


def refuse_score(value: float, where: str) -> InputError:
    """Return the error for a score that is not a usable number.

    Parameters
    ----------
    value : float
    where : str
        Position of the score, such as ``"scores[3, 0]"``.
    """
    if np.isnan(value) or value == np.inf:
        return InputError(f"{where} is {value}; scores must be finite (−Inf marks a class that is not a candidate)")
    return InputError(
        f"{where} is {value:g}, beyond ±{SCORE_LIMIT:g}; rescale the scores, "
        "or use −Inf for a class that is not a candidate"
    )


def check_number(value: object, name: str, low: float, high: float = np.inf, *, open_low: bool = False) -> float:
    """Return `value` as a float in ``[low, high]``, or in ``(low, high]`` with `open_low`."""
    try:
        number = float(value) if isinstance(value, NUMBERS) else np.nan
    except OverflowError:
        number = np.inf
    if isinstance(value, bool) or not (low < number if open_low else low <= number) or number > high:
        bounds = f" {'above' if open_low else 'of at least'} {low:g}" if low > -np.inf else ""
        bounds += f" and at most {high:g}" if high < np.inf else ""
        raise InputError(f"{name} is {value!r}; it must be a finite number{bounds}")
    if math.isinf(number):
        raise InputError(f"{name} is infinite; pass a finite number")
    return number


def check_count(value: object, name: str, low: int = 1) -> int:
    """Return `value` as an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InputError(f"{name} is {value!r}; it must be a whole number of at least {low}")
    return int(value)


def check_choice(value: object, name: str, choices: tuple[object, ...]) -> None:
    """Raise an error unless `value` is one of `choices`, with the same type."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        typed = " ".join("none" if choice is False else str(choice) for choice in choices if choice is not None)
        raise InputError(f"{name} is {value!r}", Remedy("choose-value", f"choose one of {listed}", typed))


def check_class_names(names: object, n_classes: int) -> tuple[str, ...]:
    """Return the class names as text, one distinct name per class.

    Whole numbers or booleans, such as ``classes_`` of a scikit-learn classifier, become `ValueNames`.
    """
    if isinstance(names, ValueNames) and len(names) == n_classes:
        return names
    if isinstance(names, str | bytes | Mapping | Set) or not hasattr(names, "__iter__"):
        raise InputError(f"class_names is {type(names).__name__}; pass a sequence of {n_classes} names")
    entries = list(names)
    for kind, types in VALUE_TYPES.items():
        if entries and all(
            isinstance(entry, types) and isinstance(entry, bool | np.bool_) == (kind == "bool") for entry in entries
        ):
            return ValueNames(check_class_names([str(entry) for entry in entries], n_classes), kind)
    for position, name in enumerate(entries):
        if not isinstance(name, str):
            raise InputError(f"class_names[{position}] is {name!r}, not text; pass all names as text, and labels too")
    checked = tuple(str(name) for name in entries)
    if len(checked) != n_classes:
        raise InputError(f"class_names has {len(checked)} entries, but there are {n_classes} classes")
    if len(set(checked)) != n_classes:
        seen: dict[str, int] = {}
        for position, name in enumerate(checked):
            if name in seen:
                raise InputError(f"class_names repeats {name!r} at {seen[name]} and {position}; names must be distinct")
            seen[name] = position
    return checked


def check_labels(
    labels: ArrayLike,
    n_rows: int,
    n_classes: int,
    class_names: tuple[str, ...] | None = None,
    name: str = "labels",
) -> tuple[IntArray, dict[str, int]]:
    """Return the labels as class ids, and the unknown label names with their number of rows.

    The id is −1 where the label is not a known class.
    """
    array = as_array(labels, name)
    if isinstance(class_names, ValueNames) and array.dtype.kind in "iub" and array.ndim == 1:
        array = array.astype(str)
    if array.ndim != 1 or len(array) != n_rows:
        hint = "; flatten it with .ravel()" if array.size == n_rows else ""
        raise InputError(f"{name} has shape {array.shape}; expected one label for each of {n_rows} rows{hint}")
    if are_names(array):
        return _ids_of_names(array, class_names)
    if array.dtype.kind not in "iufO":
        raise InputError(f"{name} has dtype {array.dtype}; pass class ids, or names together with class_names")
    if array.dtype.kind == "O":
        array = array.astype(np.int64)
    bad = ~((array >= -1) & (array < n_classes))
    if array.dtype.kind == "f":
        bad |= np.where(bad, 0, array) % 1 != 0
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{name}[{row}] is {array[row]}; labels are class ids from 0 to {n_classes - 1}, "
            "or −1 for a class that is not in the table"
            + ("; are they counted from 1?" if array[row] == n_classes else "")
        )
    return array.astype(np.int32), {}


class ValueNames(tuple[str, ...]):
    """Class names that stand for whole numbers or booleans: labels are these values, not class ids.

    Attributes
    ----------
    kind : {"int", "bool"}
        Type of the labels, in which predictions are returned.
    """

    kind: str

    def __new__(cls, names: Iterable[str], kind: str) -> ValueNames:
        """Return the names, which know the type of the labels."""
        made = super().__new__(cls, names)
        made.kind = kind
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the type when pickled."""
        return ValueNames, (tuple(self), self.kind)

    @property
    def values(self) -> AnyArray:
        """The labels, and −1 (or None) for "no candidate" at the end."""
        if self.kind == "bool":
            return np.array([*(name == "True" for name in self), None], dtype=object)
        return np.array([*map(int, self), -1])


def are_names(array: AnyArray) -> bool:
    """Return whether labels are names: text, or objects that are not all whole numbers."""
    if array.dtype.kind == "O":
        return not all(isinstance(value, int | np.integer) for value in array.flat)
    return array.dtype.kind in "UST"


def _ids_of_names(array: AnyArray, class_names: tuple[str, ...] | None) -> tuple[IntArray, dict[str, int]]:
    if class_names is None:
        raise InputError(
            f"labels are names (the first is {str(array[0])!r}); pass class_names to say which class is which"
        )
    id_of = {name: position for position, name in enumerate(class_names)}
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "T":
        array = np.array(array.tolist())
    if array.dtype.kind == "O" and set(map(type, array.tolist())) - {str, np.str_}:
        # A missing value (None, NaN, NA) is never a class, even if a class is called "None" or "nan".
        array = np.array([value if isinstance(value, str) else MISSING for value in array.tolist()])
    names, inverse, counts = np.unique(array.astype(str), return_inverse=True, return_counts=True)
    ids = np.array([id_of.get(name, -1) for name in names.tolist()], dtype=np.int32)
    unknown = {name: int(n) for name, i, n in zip(names.tolist(), ids, counts, strict=True) if i < 0}
    return ids[inverse], unknown


def check_class_vector(values: ArrayLike, name: str, n_classes: int, *, positive: bool = False) -> FloatArray:
    """Return one finite number per class as float64.  The numbers must not be negative, nor 0 with `positive`."""
    return _check_vector(values, name, n_classes, "class", positive=positive)


def check_row_vector(values: ArrayLike, name: str, n_rows: int) -> FloatArray:
    """Return one finite, non-negative number per row as float64."""
    return _check_vector(values, name, n_rows, "row", positive=False)


def _check_vector(values: ArrayLike, name: str, size: int, noun: str, *, positive: bool) -> FloatArray:
    vector = numeric_array(values, name, 1).astype(np.float64)
    if len(vector) != size:
        raise InputError(
            f"{name} has {len(vector)} entries, but there are {size} {noun}{'es' if noun == 'class' else 's'}"
        )
    usable = np.isfinite(vector) & ((vector > 0) if positive else (vector >= 0))
    if not usable.all():
        position = int(np.argmin(usable))
        kind = "positive" if positive else "0 or more"
        raise InputError(f"{name}[{position}] is {vector[position]}; every {noun} needs a finite number that is {kind}")
    if not vector.any():
        raise InputError(f"{name} is zero everywhere; at least one {noun} must have a positive value")
    if name == "class_counts" and vector.sum() <= 1.0 + 1e-9:
        raise InputError(f"class_counts adds up to {vector.sum():g}; pass numbers of examples, not shares")
    return vector


def check_group_codes(groups: Any, name: str, size: int) -> IntArray:
    """Return the groups of `size` rows or classes as consecutive integer codes."""
    array = as_array(groups, name)
    if array.ndim != 1 or len(array) != size:
        raise InputError(f"{name} has shape {array.shape}; expected {size} entries in one dimension")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(f"{name}[{int(np.argmax(np.isnan(array)))}] is NaN; every entry needs a group")
    if array.dtype.kind in "mM" and np.isnat(array).any():
        raise InputError(f"{name}[{int(np.argmax(np.isnat(array)))}] is NaT; every entry needs a group")
    if array.dtype.kind in "OT":
        values = array.tolist()
        if set(map(type, values)) - {str, np.str_, int, np.int64, np.int32}:
            wrong = next(i for i, value in enumerate(values) if not isinstance(value, str | int | np.integer))
            raise InputError(f"{name}[{wrong}] is {values[wrong]}; every entry must be text or a whole number")
        array = np.array(list(map(str, values)))
    return np.unique(array, return_inverse=True)[1].astype(np.int32)
