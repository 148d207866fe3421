"""Class tables from files: one line per class, with its name and what is known about it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray
from repair.errors import InputError
from repair.inputs import check_class_names, numeric_array
from repair.io.archives import text_array
from repair.io.array_files import read_archive
from repair.io.class_index import is_whole
from repair.io.columns import find_column, listed, number_column, text_column
from repair.io.formats import Path, format_of, in_file
from repair.io.tables import FileTable, read_table

__all__ = ["ClassFile", "read_class_table"]

SYNONYMS = {
    "name": ("class_name", "class", "name", "label", "category", "candidate", "class_id", "id"),
    "count": ("count", "counts", "n", "train_count", "n_train", "class_count", "frequency"),
    "group": ("group", "class_group", "parent"),
    "weight_norm": ("weight_norm", "norm"),
    "taxonomy": ("path", "taxonomy"),
}


@dataclass(frozen=True, eq=False)
class ClassFile:
    """What a file says about the classes; every field but `names` may be None.

    Attributes
    ----------
    names : tuple of str
        One name per class; the place of a name is the class's id.
    counts : ndarray, shape (K,)
        Training examples.
    groups : tuple of str
        The group, such as the parent in a taxonomy, that shares a prior.
    weight_norms : ndarray, shape (K,)
        Norms of the base classifier's weight vectors.
    paths : tuple of str
        Where each class stands in a taxonomy, as written in the file.

    Examples
    --------
    >>> from repair.io import ClassFile
    >>> classes = ClassFile(("cat", "dog"), counts=np.array([90.0, 10.0]))
    >>> classes.take(("dog", "cat")).counts.tolist()
    [10.0, 90.0]
    """

    names: tuple[str, ...]
    counts: FloatArray | None = None
    groups: tuple[str, ...] | None = None
    weight_norms: FloatArray | None = None
    paths: tuple[str, ...] | None = None

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.names)

    def take(self, names: tuple[str, ...]) -> "ClassFile":
        """Return the table for these classes, matched by name, in this order."""
        id_of = {name: position for position, name in enumerate(self.names)}
        missing = next((name for name in names if name not in id_of), None)
        if missing is not None:
            raise InputError(f"the class table has no line for class {missing!r}; add one")
        order = np.array([id_of[name] for name in names], dtype=np.int64)

        def ordered(values: Any) -> Any:
            if values is None:
                return None
            return values[order] if isinstance(values, np.ndarray) else tuple(values[place] for place in order)

        return ClassFile(names, *map(ordered, (self.counts, self.groups, self.weight_norms, self.paths)))


def read_class_table(
    path: Path,
    *,
    name: str | None = None,
    count: str | None = None,
    group: str | None = None,
    weight_norm: str | None = None,
    taxonomy: str | None = None,
) -> ClassFile:
    """Read a class table: ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, ``.arrow`` or ``.npz``.

    Parameters
    ----------
    path : path
    name, count, group, weight_norm, taxonomy : str, optional
        Column names, where the usual ones (``class``, ``count``, ``group``, ``weight_norm``,
        ``path``; see ``docs/files.md``) do not apply.  Only the names are required.

    Returns
    -------
    ClassFile
        Classes in the order of the file; a column ``class_id`` with 0…K−1 overrides it.

    Examples
    --------
    >>> import os, tempfile
    >>> from repair.io import read_class_table
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "classes.npz")
    >>> np.savez(path, class_names=["cat", "NA"], class_counts=[90, 10])
    >>> read_class_table(path).names
    ('cat', 'NA')
    >>> folder.cleanup()
    """
    columns = {"name": name, "count": count, "group": group, "weight_norm": weight_norm, "taxonomy": taxonomy}
    format_ = format_of(path)
    with in_file(path):
        if format_.kind == "npy":
            raise InputError("a .npy file holds no names; save a .npz with class_names and class_counts, or a .csv")
        return _from_arrays(read_archive(path)) if format_.kind == "npz" else _from_table(read_table(path), columns)


def _from_table(table: FileTable, columns: dict[str, str | None]) -> ClassFile:
    found: dict[str, str | None] = {}
    named = {given for given in columns.values() if given is not None}
    for role, given in columns.items():
        if given is not None and given not in table.names:
            raise InputError(f"there is no column {given!r} ({role}=…); {listed(table)}")
        taken = {*named, *(one for one in found.values() if one is not None)}
        found[role] = given or find_column(table, SYNONYMS[role], taken)
    if found["name"] is None:
        raise InputError(f"there is no column of class names; {listed(table)}; name it with name=…")
    names = _names(table, found["name"])
    classes = ClassFile(
        names,
        counts=_numbers(table, found["count"], positive=False),
        groups=_texts(table, found["group"]),
        weight_norms=_numbers(table, found["weight_norm"], positive=True),
        paths=_texts(table, found["taxonomy"]),
    )
    order = _id_order(table, {one for one in found.values() if one is not None})
    return classes if order is None else classes.take(tuple(names[place] for place in order))


def _names(table: FileTable, column: str) -> tuple[str, ...]:
    names: list[str | None] = text_column(table, column).to_pylist()
    first: dict[str, int] = {}
    for row, one in enumerate(names):
        if not one:
            raise InputError(f"{table.place(row, column)} is empty; every class needs a name")
        if one in first:
            raise InputError(
                f"{table.place(row, column)} repeats class {one!r} of {table.place(first[one])}; keep one line each"
            )
        first[one] = row
    return tuple(first)


def _numbers(table: FileTable, column: str | None, *, positive: bool) -> FloatArray | None:
    if column is None:
        return None
    numbers = number_column(table, column)
    _check_numbers(numbers, lambda row: table.place(row, column), positive=positive)
    return numbers


def _check_numbers(numbers: FloatArray, place: Any, *, positive: bool) -> None:
    usable = np.isfinite(numbers) & ((numbers > 0) if positive else (numbers >= 0))
    if not usable.all():
        row = int(np.argmin(usable))
        wanted = "positive" if positive else "0 or more"
        raise InputError(f"{place(row)} is {numbers[row]:g}; write a finite number that is {wanted}")


def _texts(table: FileTable, column: str | None) -> tuple[str, ...] | None:
    if column is None:
        return None
    texts: list[str | None] = text_column(table, column).to_pylist()
    empty = next((row for row, one in enumerate(texts) if not one), None)
    if empty is not None:
        raise InputError(f"{table.place(empty, column)} is empty; fill it in for every class, or remove the column")
    return tuple(str(one) for one in texts)


def _id_order(table: FileTable, taken: set[str]) -> list[int] | None:
    """Return the order that a column of class ids sets, if there is one with exactly 0…K−1."""
    column = find_column(table, ("class_id", "id"), taken)
    ids = [] if column is None else text_column(table, column).to_pylist()
    if not ids or not all(one and is_whole(one) for one in ids):
        return None
    numbers = [int(one) for one in ids]
    return np.argsort(numbers).tolist() if sorted(numbers) == list(range(len(numbers))) else None


def _from_arrays(arrays: dict[str, AnyArray]) -> ClassFile:
    if "class_names" not in arrays:
        raise InputError(f"there is no array 'class_names'; the file has {', '.join(map(repr, arrays)) or 'none'}")
    names = text_array(arrays["class_names"], "class_names")
    if names.ndim != 1 or names.dtype.kind != "U" or len(names) == 0:
        raise InputError(f"class_names has shape {names.shape} and dtype {names.dtype}; save one text per class")
    listed_names = check_class_names(names.tolist(), len(names))

    def numbers(key: str, *, positive: bool) -> FloatArray | None:
        if key not in arrays:
            return None
        values = numeric_array(arrays[key], key, 1).astype(np.float64)
        _refuse_length(values, key, len(names))
        _check_numbers(values, lambda row: f"{key}[{row}]", positive=positive)
        return values

    def texts(key: str) -> tuple[str, ...] | None:
        if key not in arrays:
            return None
        values = text_array(arrays[key], key)
        _refuse_length(values, key, len(names))
        return tuple(map(str, values.tolist()))

    return ClassFile(
        listed_names,
        counts=numbers("class_counts", positive=False),
        groups=texts("class_groups"),
        weight_norms=numbers("weight_norms", positive=True),
        paths=texts("class_paths"),
    )


def _refuse_length(values: AnyArray, key: str, size: int) -> None:
    if values.ndim != 1 or len(values) != size:
        raise InputError(f"{key} has shape {values.shape} where there are {size} class names; save one entry each")
