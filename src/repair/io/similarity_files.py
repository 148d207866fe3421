"""Reading class similarities.  If the file has class names, classes are matched by name."""

from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError
from repair.io.archives import text_array
from repair.io.class_index import positions_of
from repair.io.class_matrices import read_matrix
from repair.io.columns import number_column, text_column
from repair.io.formats import Path, format_of, in_file, parsing
from repair.io.table_readers import FileTable
from repair.validation.checks import check_class_names, numeric_array

__all__ = ["read_similarity"]


def read_similarity(path: Path, class_names: tuple[str, ...] | None = None) -> Any:
    """Read a class similarity from a file.

    Parameters
    ----------
    path : path
        ``.npy`` with a (K, K) array; ``.npz`` with an array ``similarity`` and optionally
        ``class_names``, or written by ``scipy.sparse.save_npz`` (csr, csc or coo); or a table
        (``.csv``, ``.parquet``, …) with one column per class and, preferably, a first column with
        the class of each line.
    class_names : sequence of str, optional
        Classes in the order of the result.  If the file has names, they are matched, and other
        classes of the file are left out.  Otherwise the file must have this order.

    Returns
    -------
    ndarray (K, K) or scipy sparse matrix (K, K)

    Examples
    --------
    >>> import os, tempfile
    >>> from repair.io import read_similarity
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "similarity.npz")
    >>> np.savez(path, similarity=[[1.0, 0.2], [0.7, 1.0]], class_names=["cat", "dog"])
    >>> read_similarity(path, ("dog", "cat")).tolist()
    [[1.0, 0.7], [0.2, 1.0]]
    >>> folder.cleanup()
    """
    format_ = format_of(path)
    with in_file(path):
        matrix, names = read_matrix(path, format_, "similarity", _from_archive, _from_table)
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"similarity has shape {matrix.shape}; write one row and one column per class")
        return _in_order(matrix, names, class_names)


def _in_order(matrix: Any, names: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> Any:
    if wanted is None or names == tuple(wanted):
        return matrix
    if names is None:
        if matrix.shape[0] != len(wanted):
            raise InputError(
                f"similarity has shape {matrix.shape}; with {len(wanted)} classes it must be {(len(wanted),) * 2}"
            )
        return matrix
    order = positions_of(
        names, wanted, lambda name: f"similarity has no row for class {name!r}; add a row and a column for it"
    )
    return matrix[order][:, order]


def _from_archive(arrays: dict[str, AnyArray]) -> tuple[Any, tuple[str, ...] | None]:
    names = None
    if "class_names" in arrays:
        given = text_array(arrays["class_names"], "class_names")
        if given.ndim != 1:
            raise InputError(f"class_names has shape {given.shape}; save one text per class")
        names = check_class_names(given.tolist(), len(given))
    if "similarity" in arrays:
        matrix: Any = numeric_array(arrays["similarity"], "similarity", 2)
    elif "format" in arrays and "shape" in arrays:
        matrix = _sparse(arrays)
    else:
        raise InputError(
            f"there is no array 'similarity'; the file has {', '.join(map(repr, arrays)) or 'none'}; save the matrix"
        )
    if names is not None and matrix.shape != (len(names), len(names)):
        raise InputError(
            f"similarity has shape {matrix.shape}, but there are {len(names)} class names; save one row and column each"
        )
    return matrix, names


def _sparse(arrays: dict[str, AnyArray]) -> Any:
    """Return the matrix that scipy.sparse.save_npz wrote, after checking every index."""
    with parsing("sparse npz"):
        from scipy import sparse

        kind = str(text_array(arrays["format"], "format"))
        shape = tuple(int(extent) for extent in arrays["shape"])
        if len(shape) != 2 or min(shape) < 0 or max(shape) >= 2**31:
            raise InputError(f"the sparse matrix declares shape {shape}; write one row and one column per class")
        data = numeric_array(arrays["data"], "data", 1)
        if kind == "coo":
            return sparse.coo_array((data, (arrays["row"], arrays["col"])), shape=shape).tocsr()
        if kind not in ("csr", "csc"):
            raise InputError(f"the sparse matrix has format {kind!r}; save it as csr, csc or coo")
        make = sparse.csr_array if kind == "csr" else sparse.csc_array
        indptr = arrays["indptr"]
        if indptr.shape != (shape[0 if kind == "csr" else 1] + 1,) or indptr.dtype.kind not in "iu":
            raise InputError(f"indptr has shape {indptr.shape}; the sparse matrix is damaged")
        matrix = make((data, arrays["indices"], indptr), shape=shape)
        matrix.check_format(full_check=True)
        return matrix.tocsr()


def _from_table(table: FileTable) -> tuple[AnyArray, tuple[str, ...]]:
    """Read a square table.  The header has the classes of the columns, the first column those of the rows."""
    columns = table.names
    if len(columns) == len(table) + 1:
        columns, rows = columns[1:], text_column(table, columns[0]).to_pylist()
        if sorted(map(str, rows)) != sorted(columns):
            odd = next(index for index, name in enumerate(rows) if name not in columns or name in rows[:index])
            raise InputError(
                f"{table.place(odd, table.names[0])} is {rows[odd]!r}; write one line for each class of the header"
            )
    elif len(columns) == len(table):
        rows = columns
    else:
        raise InputError(
            f"similarity has {len(table)} lines and {len(columns)} columns; write one line and one column per class"
        )
    names = tuple(columns)
    matrix = np.empty((len(names), len(names)))
    for position, name in enumerate(names):
        matrix[:, position] = number_column(table, name)
    row_of = {name: row for row, name in enumerate(rows)}
    return matrix[[row_of[name] for name in names]], names
