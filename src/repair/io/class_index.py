"""Which class a name in a file stands for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from repair.arrays import AnyArray, IntArray
from repair.errors import InputError, InputWarning, warn_user

__all__ = ["ClassIndex", "Resolved", "label_values"]

Place = Callable[[int], str]


@dataclass(frozen=True)
class Resolved:
    """The classes of a file's candidates: an id for each distinct name, all names, and the new ones."""

    ids: IntArray
    names: tuple[str, ...]
    new: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassIndex:
    """The classes known so far (None: none), and whether others are appended or refused."""

    names: tuple[str, ...] | None = None
    append: bool = False

    def resolve(self, candidates: Sequence[str], place: Place, labels: Sequence[str] = ()) -> Resolved:
        """Return the classes of distinct candidate names; `place` says where each stands first."""
        if self.names is None:
            return _collect(candidates, labels)
        if self.names and are_ids(candidates, self.names):
            return self._by_number(candidates, place)
        id_of = {name: position for position, name in enumerate(self.names)}
        new: list[str] = []
        for position, name in enumerate(candidates):
            if name not in id_of:
                if not self.append:
                    raise InputError(
                        f"{place(position)}, class {name!r} is not among the {len(self.names)} known classes; "
                        "add it to the class table, or check its spelling"
                    )
                id_of[name] = len(id_of)
                new.append(name)
        ids = np.array([id_of[name] for name in candidates], dtype=np.int32)
        return Resolved(ids, (*self.names, *new), tuple(new))

    def _by_number(self, candidates: Sequence[str], place: Place) -> Resolved:
        assert self.names is not None
        numbers = [int(name) for name in candidates]
        for position, number in enumerate(numbers):
            if not 0 <= number < len(self.names):
                raise InputError(f"{place(position)}, class id {number} is not between 0 and {len(self.names) - 1}")
        return Resolved(np.array(numbers, dtype=np.int32), self.names)


def _collect(candidates: Sequence[str], labels: Sequence[str]) -> Resolved:
    """Make a class list of the names that occur, in order."""
    found = set(candidates) | set(labels)
    # Whole numbers sort as numbers, so that ties between classes go to the lower one as users count.
    names = sorted(found, key=int) if all(map(is_whole, found)) else sorted(found)
    warn_user(
        f"there is no class table; the {len(names)} names among candidates and labels, sorted, are the classes",
        InputWarning,
    )
    id_of = {name: position for position, name in enumerate(names)}
    return Resolved(np.array([id_of[name] for name in candidates], dtype=np.int32), tuple(names))


def is_whole(name: str) -> bool:
    """Say whether a text is a whole number as a program writes it; "007" is a name."""
    return name.isascii() and name.isdigit() and len(name) < 10 and (name == "0" or name[0] != "0")


def are_ids(values: Sequence[str], names: Sequence[str] | None) -> bool:
    """Say whether texts are class ids: all whole numbers, where no class is called by a number."""
    if not all(value == "-1" or is_whole(value) for value in values):
        return False
    return names is None or not any(map(is_whole, names))


def label_values(labels: Any, names: tuple[str, ...] | None, n_classes: int, place: Place) -> AnyArray:
    """Return labels, given as a pyarrow array of text, as class ids or as names (missing ones as None).

    Names that no class has are left for the calibration set to count as uncovered.
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
            raise InputError(f"labels are names (such as {example!r}), candidates are ids; give the class table too")
        texts: AnyArray = labels.to_numpy(zero_copy_only=False).astype(object)
        return texts
    ids: AnyArray = pc.fill_null(labels.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    outside = (ids < -1) | (ids >= n_classes)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            f"{place(row)} is {ids[row]}; labels are class ids from 0 to {n_classes - 1}, "
            "or −1 for a class that is not in the table"
        )
    return ids
