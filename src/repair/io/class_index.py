"""Matching the class names and ids of a file to the known classes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.errors import InputError, InputWarning, warn_user

__all__ = ["ClassIndex", "Resolved", "label_values", "positions_of"]

Place = Callable[[int], str]


@dataclass(frozen=True)
class Resolved:
    """The classes of a file: the id of each distinct candidate name, the names of all classes, and the new names."""

    ids: IntArray
    names: tuple[str, ...]
    new: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassIndex:
    """The known classes (None if there are none), and whether other classes are appended or raise an error."""

    names: tuple[str, ...] | None = None
    append: bool = False

    def resolve(self, candidates: Sequence[str], location_of: Place, labels: Sequence[str] = ()) -> Resolved:
        """Return the classes of distinct candidate names.  `location_of` says where each name occurs first."""
        if self.names is None:
            return _collect(candidates, labels)
        if self.names and are_ids(candidates, self.names):
            return self._by_number(candidates, location_of)
        id_of = {name: position for position, name in enumerate(self.names)}
        new: list[str] = []
        for position, name in enumerate(candidates):
            if name not in id_of:
                if not self.append:
                    raise InputError(
                        f"{location_of(position)}, class {name!r} is not among the {len(self.names)} known classes; "
                        "add it to the class table, or check its spelling"
                    )
                id_of[name] = len(id_of)
                new.append(name)
        ids = np.array([id_of[name] for name in candidates], dtype=np.int32)
        return Resolved(ids, (*self.names, *new), tuple(new))

    def _by_number(self, candidates: Sequence[str], location_of: Place) -> Resolved:
        assert self.names is not None
        numbers = [int(name) for name in candidates]
        for position, number in enumerate(numbers):
            if not 0 <= number < len(self.names):
                raise InputError(
                    f"{location_of(position)}, class id is {number}; ids run from 0 to {len(self.names) - 1}"
                )
        return Resolved(np.array(numbers, dtype=np.int32), self.names)


def _collect(candidates: Sequence[str], labels: Sequence[str]) -> Resolved:
    """Return the classes for the names that occur, in sorted order."""
    distinct = set(candidates) | set(labels)
    # Whole numbers are sorted as numbers, so ties between classes go to the lower number.
    names = sorted(distinct, key=int) if all(map(is_whole, distinct)) else sorted(distinct)
    warn_user(
        f"there is no class table, so the {len(names)} names among candidates and labels are used as classes, sorted",
        InputWarning,
    )
    id_of = {name: position for position, name in enumerate(names)}
    return Resolved(np.array([id_of[name] for name in candidates], dtype=np.int32), tuple(names))


def positions_of(names: Sequence[str], wanted: Sequence[str], problem: Callable[[str], str]) -> AnyArray:
    """Return the position of each wanted name among `names`, or raise an error about the first that is missing.

    Examples
    --------
    >>> from repair.io.class_index import positions_of
    >>> positions_of(("cat", "dog"), ("dog", "cat", "dog"), lambda name: f"there is no {name!r}").tolist()
    [1, 0, 1]
    """
    position_of = {name: position for position, name in enumerate(names)}
    missing = next((name for name in wanted if name not in position_of), None)
    if missing is not None:
        raise InputError(problem(missing))
    return np.array([position_of[name] for name in wanted], dtype=np.int64)


def is_whole(name: str) -> bool:
    """Return whether a text is a whole number without leading zeros.  "007" is a name."""
    return name.isascii() and name.isdigit() and len(name) < 10 and (name == "0" or name[0] != "0")


def are_ids(values: Sequence[str], names: Sequence[str] | None) -> bool:
    """Return whether texts are class ids: all are whole numbers or −1, and no class name is a whole number."""
    if not all(value == "-1" or is_whole(value) for value in values):
        return False
    return names is None or not any(map(is_whole, names))


def label_values(labels: Any, names: tuple[str, ...] | None, n_classes: int, location_of: Place) -> AnyArray:
    """Return labels, given as a pyarrow array of text, as class ids or as names, with None where a label is missing.

    Names that are not known classes are kept.  The calibration set counts their rows as uncovered.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    labels = pc.if_else(pc.equal(labels, ""), None, labels)
    distinct = [value for value in pc.unique(labels).to_pylist() if value is not None]
    if not distinct:
        return np.full(len(labels), None, dtype=object)
    if not are_ids(distinct, names):
        if names is None:
            example = next(value for value in distinct if not is_whole(value))
            raise InputError(f"labels are names (such as {example!r}), but candidates are ids; give a class table too")
        texts: AnyArray = labels.to_numpy(zero_copy_only=False).astype(object)
        return texts
    ids: AnyArray = pc.fill_null(labels.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    outside = (ids < -1) | (ids >= n_classes)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            f"{location_of(row)} is {ids[row]}; labels are class ids from 0 to {n_classes - 1}, "
            "or −1 for a class that is not in the table"
        )
    if labels.null_count:
        values: AnyArray = ids.astype(object)
        values[labels.is_null().to_numpy(zero_copy_only=False)] = None
        return values
    return ids
