"""Reading a matrix with one row per class from an array, an archive or a table."""

from collections.abc import Callable
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.io.array_files import read_archive, read_array
from repair.io.formats import FileFormat, Path
from repair.io.table_readers import FileTable, read_table
from repair.validation.checks import numeric_array

__all__ = ["NamedMatrix", "read_matrix"]

#: A matrix, and the classes of its rows, or None if the file does not name them.
NamedMatrix = tuple[Any, tuple[str, ...] | None]


def read_matrix(
    path: Path,
    format_: FileFormat,
    name: str,
    from_archive: Callable[[dict[str, AnyArray]], NamedMatrix],
    from_table: Callable[[FileTable], NamedMatrix],
) -> NamedMatrix:
    """Read a matrix and the classes of its rows.

    Parameters
    ----------
    path : path
    format_ : FileFormat
        Format of the file.  The array of a ``.npy`` file is the matrix, without class names.
    name : str
        Name of the matrix, for error messages.
    from_archive, from_table : callable
        Return the matrix and the names from the arrays of a ``.npz`` file, and from a table.
    """
    if format_.kind == "npy":
        return numeric_array(np.asarray(read_array(path)), name, 2), None
    return from_archive(read_archive(path)) if format_.kind == "npz" else from_table(read_table(path))
