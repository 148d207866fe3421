"""Reading one vector per class, such as an embedding of its name."""

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError
from repair.io.archives import text_array
from repair.io.class_files import class_name_column
from repair.io.class_index import positions_of
from repair.io.class_matrices import read_matrix
from repair.io.columns import listed, number_column, text_column
from repair.io.formats import Path, format_of, in_file
from repair.io.table_readers import FileTable
from repair.validation.checks import numeric_array

__all__ = ["read_class_vectors"]


def read_class_vectors(path: Path, class_names: tuple[str, ...]) -> AnyArray:
    """Read one vector per class.

    Parameters
    ----------
    path : path
        ``.npy`` with an array whose rows are in the order of `class_names`; ``.npz`` with arrays
        ``class_names`` and ``embeddings``; or a table with a column of class names and one column per
        entry of the vectors.
    class_names : tuple of str
        Classes in the order of the result.  Other classes of the file are left out.

    Returns
    -------
    ndarray (K, d)

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from repair.io.class_vectors import read_class_vectors
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "vectors.npz")
    >>> np.savez(path, embeddings=[[1.0, 0.0], [0.0, 2.0]], class_names=["cat", "dog"])
    >>> read_class_vectors(path, ("dog", "cat")).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    >>> folder.cleanup()
    """
    format_ = format_of(path)
    with in_file(path):
        vectors, names = read_matrix(path, format_, "embeddings", _from_archive, _from_table)
        names = class_names if names is None else names
        if len(vectors) != len(names):
            raise InputError(f"there are {len(vectors)} vectors for {len(names)} classes; give every class one vector")
        order = positions_of(
            names, class_names, lambda name: f"there is no vector for class {name!r}; give every class one vector"
        )
        ordered: AnyArray = vectors[order]
        return ordered


def _from_archive(arrays: dict[str, AnyArray]) -> tuple[AnyArray, tuple[str, ...]]:
    key = next((name for name in ("embeddings", "class_embeddings", "vectors") if name in arrays), None)
    if key is None or "class_names" not in arrays:
        present = ", ".join(map(repr, arrays)) or "none"
        raise InputError(f"the arrays 'class_names' and 'embeddings' are needed, but the file has {present}; save both")
    names = text_array(arrays["class_names"], "class_names")
    return numeric_array(arrays[key], key, 2), tuple(map(str, names.ravel().tolist()))


def _from_table(table: FileTable) -> tuple[AnyArray, tuple[str, ...]]:
    names = class_name_column(table)
    columns = [number_column(table, name) for name in table.names if name != names]
    if not columns:
        raise InputError(f"there are no columns of numbers; {listed(table)}; write one column per entry of the vectors")
    return np.stack(columns, axis=1), tuple(map(str, text_column(table, names).to_pylist()))
