"""Similarity by the number of levels that two classes share in a taxonomy."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair.errors import InputError
from repair.similarity.reading import read_text
from repair.validation.checks import check_choice, check_count

__all__ = ["read_taxonomy", "taxonomy_similarity"]

Lineage = tuple[str, ...]

#: Pairs that are computed at once.
BLOCK_PAIRS = 2_000_000
#: Up to this many classes the result is a dense matrix (32 MB), which is simpler to use.
DENSE_CLASSES = 2_000
#: A stored entry of a sparse matrix takes 12 bytes instead of 8.  Below this share of pairs it is clearly smaller.
SPARSE_SHARE = 1 / 3


def taxonomy_similarity(
    paths: Sequence[str | Sequence[str]],
    *,
    separator: str | None = None,
    min_shared: int = 1,
    sparse: bool | str = "auto",
) -> Any:
    """Return shared levels / levels of the longer path, for all pairs of classes.

    Levels are counted from the root downwards until the first difference, so two genera of the same
    name in different families are different.  Because of the division by the longer path, 1 always
    means "the same path", even if paths differ in length, and one minus the similarity is a
    distance.

    Parameters
    ----------
    paths : sequence of K paths
        Lineage of each class from the root to the class itself: a sequence of names, or text that
        is split at `separator`.  Leave out a level that all classes share, such as "life".  It adds
        the same to every pair, and leaves no zeros for a sparse matrix.
    separator : str, optional
        Text between the levels of a path, for instance ``";"`` or ``"/"``.  Needed only if paths
        are text.
    min_shared : int, default 1
        Pairs that share fewer levels have similarity 0.  With the default nothing is lost.  Use a
        larger value to make a sparse matrix smaller.  Rivals on a shortlist mostly share several
        levels anyway.
    sparse : {'auto', True, False}, default 'auto'
        Whether to return a scipy CSR matrix instead of a numpy array.  'auto' returns a sparse
        matrix for more than 2,000 classes if fewer than a third of all pairs share `min_shared`
        levels.  It is built without a K×K array.

    Returns
    -------
    ndarray of float64 or scipy.sparse.csr_matrix, shape (K, K)
        Symmetric, from 0 to 1, with 1 on the diagonal.

    Examples
    --------
    >>> paths = ["animal/cat/lion", "animal/cat/tiger", "animal/dog", "plant/moss"]
    >>> taxonomy_similarity(paths, separator="/").round(2)
    array([[1.  , 0.67, 0.33, 0.  ],
           [0.67, 1.  , 0.33, 0.  ],
           [0.33, 0.33, 1.  , 0.  ],
           [0.  , 0.  , 0.  , 1.  ]])
    >>> taxonomy_similarity(paths, separator="/", min_shared=2, sparse=True).nnz
    6
    """
    min_shared = check_count(min_shared, "min_shared")
    check_choice(sparse, "sparse", ("auto", True, False))
    codes, depths = _prefix_codes(_check_paths(paths, separator))
    groups = _groups(codes, min_shared)
    if sparse == "auto":
        n_pairs = sum(len(members) ** 2 for members in groups)
        sparse = len(depths) > DENSE_CLASSES and n_pairs < SPARSE_SHARE * len(depths) ** 2
    blocks = _blocks(codes, depths, groups)
    return _as_sparse(blocks, groups, len(depths)) if sparse else _as_dense(blocks, len(depths))


def read_taxonomy(
    path: "str | PathLike[str]",
    columns: str | Sequence[str],
    *,
    separator: str | None = None,
    id_column: str | None = None,
) -> list[Lineage]:
    r"""Read the path of each class from a CSV file with a header line.

    Parameters
    ----------
    path : path
        The file, gzip-compressed or not.
    columns : str or sequence of str
        The columns from the root to the class, for instance ``("kingdom", …, "species")``, or the
        single column that contains the whole path, together with `separator`.  Empty levels at the
        end of a path are left out.
    separator : str, optional
        Text between the levels.  Needed only if `columns` is a single column.
    id_column : str, optional
        The column with class ids from 0 to K − 1.  By default classes are in the order of the
        lines.

    Returns
    -------
    list of K tuples of str
        The paths, in the form that `taxonomy_similarity` takes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "classes.csv"
    >>> _ = path.write_text("id,family,species\n1,Canidae,wolf\n0,Felidae,lion\n")
    >>> read_taxonomy(path, ["family", "species"], id_column="id")
    [('Felidae', 'lion'), ('Canidae', 'wolf')]
    """
    reader = csv.DictReader(io.StringIO(read_text(path)))
    level_columns = [columns] if isinstance(columns, str) else list(columns)
    for column in level_columns + [id_column] * (id_column is not None):
        if column not in (reader.fieldnames or ()):
            present = ", ".join(reader.fieldnames or ()) or "none"
            raise InputError(f"{path} has no column {column!r}; its columns are {present}")
    lines = list(reader)
    if id_column is not None:
        lines = _by_id(lines, id_column, path)
    paths: list[str | Sequence[str]] = [
        line[columns] or "" if isinstance(columns, str) else [line[column] or "" for column in level_columns]
        for line in lines
    ]
    try:
        return _check_paths(paths, separator)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _by_id(lines: list[dict[str, str]], id_column: str, path: object) -> list[dict[str, str]]:
    ordered: dict[str, dict[str, str]] = {line[id_column]: line for line in lines}
    missing = next((str(class_id) for class_id in range(len(lines)) if str(class_id) not in ordered), None)
    if missing is not None:
        raise InputError(
            f"{path} has {len(lines)} lines, but no {id_column} {missing}; ids run from 0 and must not repeat"
        )
    return [ordered[str(class_id)] for class_id in range(len(lines))]


def _check_paths(paths: Sequence[str | Sequence[str]], separator: str | None) -> list[Lineage]:
    if isinstance(paths, str) or not isinstance(paths, Iterable):
        raise InputError(f"paths is {type(paths).__name__}; pass a list with one path for each class")
    return [_check_path(path, position, separator) for position, path in enumerate(paths)]


def _check_path(path: str | Sequence[str], position: int, separator: str | None) -> Lineage:
    where = f"paths[{position}]"
    if isinstance(path, str):
        if not separator:
            raise InputError(f"{where} is the text {path!r}; pass separator=… to split it into levels")
        path = path.strip().strip(separator).split(separator)
    elif not isinstance(path, Iterable):
        raise InputError(f"{where} is {path!r}; pass the names from the root to the class")
    names = list(path)
    for level, name in enumerate(names):
        if not isinstance(name, str):
            raise InputError(f"{where}[{level}] is {name!r}, not text; pass the names of the levels as text")
    names = [name.strip() for name in names]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError(f"{where} is empty; give class {position} at least its own name")
    if "" in names:
        raise InputError(f"{where}[{names.index('')}] is empty; name every level above the last, or leave it out")
    return tuple(names)


def _prefix_codes(paths: list[Lineage]) -> tuple[list[IntArray], IntArray]:
    """Return one code per class for each level, and the number of levels of each class.

    Two classes have the same code at a level if they share all levels down to it.  The code is −1
    below the end of a path.
    """
    depths = np.array([len(path) for path in paths], dtype=np.int32)
    codes: list[IntArray] = []
    above = [0] * len(paths)
    for level in range(int(depths.max(initial=0))):
        code_of: dict[tuple[int, str], int] = {}
        above = [
            code_of.setdefault((code, path[level]), len(code_of)) if level < len(path) else -1
            for code, path in zip(above, paths, strict=True)
        ]
        codes.append(np.array(above, dtype=np.int32))
    return codes, depths


def _groups(codes: list[IntArray], min_shared: int) -> list[IntArray]:
    """Return the groups of classes that share `min_shared` levels.  A class that shares none is its own group."""
    n_classes = len(codes[0]) if codes else 0
    level = codes[min_shared - 1] if min_shared <= len(codes) else np.full(n_classes, -1)
    distinct = -1 - np.arange(n_classes)
    keys = np.where(level < 0, distinct, level)
    order = np.argsort(keys, kind="stable").astype(np.int32)
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if n_classes else []


def _blocks(
    codes: list[IntArray], depths: IntArray, groups: list[IntArray]
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield rows, columns and their similarities, for a few rows of a group at a time."""
    for members in groups:
        step = max(BLOCK_PAIRS // len(members), 1)
        for start in range(0, len(members), step):
            rows = members[start : start + step]
            shared = np.zeros((len(rows), len(members)), dtype=np.int32)
            for code in codes:
                shared += (code[rows, None] == code[members]) & (code[rows, None] >= 0)
            yield rows, members, shared / np.maximum(depths[rows, None], depths[members])


def _as_dense(blocks: Iterator[tuple[IntArray, IntArray, FloatArray]], n_classes: int) -> FloatArray:
    result = np.zeros((n_classes, n_classes))
    for rows, columns, values in blocks:
        result[rows[:, None], columns] = values
    return result


def _as_sparse(blocks: Iterator[tuple[IntArray, IntArray, FloatArray]], groups: list[IntArray], n_classes: int) -> Any:
    from scipy.sparse import csr_matrix

    n_in_row = np.zeros(n_classes, dtype=np.int64)
    for members in groups:
        n_in_row[members] = len(members)
    ends = np.concatenate([[0], np.cumsum(n_in_row)])
    columns = np.empty(ends[-1], dtype=np.int32)
    values = np.empty(ends[-1])
    for rows, members, block in blocks:
        positions = ends[rows][:, None] + np.arange(len(members))
        columns[positions] = members
        values[positions] = block
    return csr_matrix((values, columns, ends), shape=(n_classes, n_classes))
