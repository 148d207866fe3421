"""Reading class tables: one line per class, with its name and what is known about it."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.errors import InputError, Remedy
from repair.io.archives import text_array
from repair.io.array_files import read_archive
from repair.io.class_index import is_whole, positions_of
from repair.io.columns import find_column, listed, number_column, text_column
from repair.io.formats import Path, format_of, in_file
from repair.io.table_readers import CsvFormat, FileTable, read_table
from repair.validation.checks import check_class_names, numeric_array

__all__ = ["ClassFile", "class_name_column", "read_class_table"]

SYNONYMS = {
    "name": ("class_name", "class", "name", "label", "category", "candidate", "class_id", "id"),
    "count": ("count", "counts", "n", "train_count", "n_train", "class_count", "frequency"),
    "group": ("group", "class_group", "parent"),
    "weight": ("weight", "class_weight"),
    "weight_norm": ("weight_norm", "norm"),
    "taxonomy": ("path", "taxonomy"),
}


@dataclass(frozen=True, eq=False)
class ClassFile:
    """The content of a class table.  Every field except `names` may be None.

    Attributes
    ----------
    names : tuple of str
        One name per class.  The index of a name is the class id.
    counts : ndarray, shape (K,)
        Training examples per class.
    groups : tuple of str
        Group of each class, such as its parent in a taxonomy.  The classes of a group share a prior.
    weight_norms : ndarray, shape (K,)
        Norms of the base classifier's weight vectors.
    paths : tuple of str
        Path of each class in a taxonomy, as written in the file.
    weights : ndarray, shape (K,)
        Weight of each class's rows in the fit.

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
    weights: FloatArray | None = None

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.names)

    def take(self, names: tuple[str, ...]) -> "ClassFile":
        """Return the table for these classes, matched by name, in this order."""
        order = positions_of(
            self.names, names, lambda name: f"the class table has no line for class {name!r}; add a line for it"
        )

        def ordered(values: Any) -> Any:
            if values is None:
                return None
            return values[order] if isinstance(values, np.ndarray) else tuple(values[index] for index in order)

        return ClassFile(names, *(ordered(getattr(self, entry.name)) for entry in fields(self)[1:]))

    @property
    def class_fields(self) -> dict[str, Any]:
        """What the table knows about classes, by the names of the fields of `repair.ScoreSet`."""
        columns = {
            "class_counts": self.counts,
            "class_groups": self.groups,
            "class_weights": self.weights,
            "weight_norms": self.weight_norms,
        }
        return {name: values for name, values in columns.items() if values is not None}


def read_class_table(
    path: Path,
    *,
    name: str | None = None,
    count: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    weight_norm: str | None = None,
    taxonomy: str | None = None,
    csv_format: CsvFormat | None = None,
) -> ClassFile:
    """Read a class table: ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, ``.arrow`` or ``.npz``.

    Parameters
    ----------
    path : path
    name, count, group, weight, weight_norm, taxonomy : str, optional
        Column names.  By default the usual names are looked for (``class``, ``count``, ``group``,
        ``weight``, ``weight_norm``, ``path``; see ``docs/files.md``).  Only the column of class names is
        required.
    csv_format : CsvFormat, optional
        Delimiter and decimal sign of a CSV file.

    Returns
    -------
    ClassFile
        Classes in the order of the file, or of a column ``class_id`` with the numbers 0…K−1.

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
    columns = {"name": name, "count": count, "group": group, "weight": weight}
    columns |= {"weight_norm": weight_norm, "taxonomy": taxonomy}
    format_ = format_of(path)
    with in_file(path):
        if format_.kind == "npy":
            raise InputError("a .npy file has no class names; save a .npz with class_names and class_counts, or a .csv")
        return (
            _from_arrays(read_archive(path))
            if format_.kind == "npz"
            else _from_table(read_table(path, csv_format), columns)
        )


def _from_table(table: FileTable, columns: dict[str, str | None]) -> ClassFile:
    column_of: dict[str, str | None] = {}
    named = {given for given in columns.values() if given is not None}
    for role, given in columns.items():
        if given is not None and given not in table.names:
            raise InputError(f"there is no column {given!r} for the {role}; {listed(table)}")
        taken = {*named, *(column for column in column_of.values() if column is not None)}
        column_of[role] = given or find_column(table, SYNONYMS[role], taken)
    if column_of["name"] is None:
        remedy = Remedy("name-class-column", "name it with name=…")
        raise InputError(f"there is no column of class names; {listed(table)}", remedy)
    names = _names(table, column_of["name"])
    classes = ClassFile(
        names,
        counts=_numbers(table, column_of["count"], positive=False),
        groups=_texts(table, column_of["group"]),
        weight_norms=_numbers(table, column_of["weight_norm"], positive=True),
        paths=_texts(table, column_of["taxonomy"]),
        weights=_numbers(table, column_of["weight"], positive=False),
    )
    order = _id_order(table, {column for column in column_of.values() if column is not None})
    return classes if order is None else classes.take(tuple(names[index] for index in order))


def class_name_column(table: FileTable) -> str:
    """Return the column of class names of a table that has no option to name it, or raise an error."""
    column = find_column(table, SYNONYMS["name"])
    if column is None:
        raise InputError(f"there is no column of class names; {listed(table)}; name it 'class'")
    return column


def _names(table: FileTable, column: str) -> tuple[str, ...]:
    names: list[str | None] = text_column(table, column).to_pylist()
    first: dict[str, int] = {}
    for row, name in enumerate(names):
        if not name:
            raise InputError(f"{table.place(row, column)} is empty; write the name of the class")
        if name in first:
            raise InputError(
                f"{table.place(row, column)} repeats class {name!r} of {table.place(first[name])}; "
                "keep one line per class"
            )
        first[name] = row
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
    empty = next((row for row, text in enumerate(texts) if not text), None)
    if empty is not None:
        raise InputError(f"{table.place(empty, column)} is empty; fill it in for every class, or remove the column")
    return tuple(str(text) for text in texts)


def _id_order(table: FileTable, taken: set[str]) -> list[int] | None:
    """Return the order of a column of class ids, or None unless there is one with exactly the numbers 0…K−1."""
    column = find_column(table, ("class_id", "id"), taken)
    ids = [] if column is None else text_column(table, column).to_pylist()
    if not ids or not all(text and is_whole(text) for text in ids):
        return None
    numbers = [int(text) for text in ids]
    return np.argsort(numbers).tolist() if sorted(numbers) == list(range(len(numbers))) else None


def _from_arrays(arrays: dict[str, AnyArray]) -> ClassFile:
    if "class_names" not in arrays:
        raise InputError(
            f"there is no array 'class_names'; the file has {', '.join(map(repr, arrays)) or 'none'}; save the names"
        )
    names = text_array(arrays["class_names"], "class_names")
    if names.ndim != 1 or names.dtype.kind != "U" or len(names) == 0:
        raise InputError(f"class_names has shape {names.shape} and dtype {names.dtype}; save one text per class")
    listed_names = check_class_names(names.tolist(), len(names))

    def numbers(key: str, *, positive: bool) -> FloatArray | None:
        if key not in arrays:
            return None
        values = numeric_array(arrays[key], key, 1).astype(np.float64)
        _check_length(values, key, len(names))
        _check_numbers(values, lambda row: f"{key}[{row}]", positive=positive)
        return values

    def texts(key: str) -> tuple[str, ...] | None:
        if key not in arrays:
            return None
        values = text_array(arrays[key], key)
        _check_length(values, key, len(names))
        return tuple(map(str, values.tolist()))

    return ClassFile(
        listed_names,
        counts=numbers("class_counts", positive=False),
        groups=texts("class_groups"),
        weight_norms=numbers("weight_norms", positive=True),
        paths=texts("class_paths"),
        weights=numbers("class_weights", positive=False),
    )


def _check_length(values: AnyArray, key: str, size: int) -> None:
    if values.ndim != 1 or len(values) != size:
        raise InputError(f"{key} has shape {values.shape}, but there are {size} class names; save one entry per class")
