"""Three representations of a class similarity with one common method.

The method returns the mean similarity of each candidate to the other candidates of its row.  The
diagonal is never used, and ``s(y, j)`` need not equal ``s(j, y)``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from repair._utils.arrays import PAD_ID, AnyArray, FloatArray, IntArray, read_only
from repair._utils.parallel import map_row_blocks, row_blocks
from repair.errors import InputError
from repair.kernels import kernels_for
from repair.validation.checks import numeric_array

__all__ = ["DenseSimilarity", "FunctionSimilarity", "Similarity", "SparseSimilarity", "as_similarity"]

LARGEST_SIMILARITY = 1e30
#: Numbers per block when a matrix is checked and copied.
NUMBERS_PER_BLOCK = 1 << 16
FINITE = f"similarities must be finite and within ±{LARGEST_SIMILARITY:g}"

PairFunction = Callable[[IntArray, IntArray], Any]


class Similarity(Protocol):
    """A class similarity, as the model uses it."""

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        ...

    def average_over_rivals(self, ids: IntArray, lengths: IntArray) -> FloatArray:
        """Return the mean similarity of each candidate to the other candidates of its row, 0 if there are none."""
        ...


@dataclass(frozen=True, eq=False)
class DenseSimilarity:
    """A similarity stored as a K×K matrix.

    Attributes
    ----------
    table : ndarray (K, K)
    """

    table: AnyArray

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.table)

    def average_over_rivals(self, ids: IntArray, lengths: IntArray) -> FloatArray:
        """Return the mean similarity of each candidate to the other candidates of its row."""
        average: FloatArray = kernels_for(ids.size).average_over_rivals(self.table, ids, lengths)
        return average


@dataclass(frozen=True, eq=False)
class SparseSimilarity:
    """A similarity given by some entries of a K×K matrix.  All other entries are 0.

    The entries are plain arrays instead of a scipy matrix, so reranking does not need scipy.

    Attributes
    ----------
    keys : ndarray of int64
        ``row * K + column`` of each entry, in ascending order.
    values : ndarray of float64
        The entries.
    n_classes : int
        Number of classes K.
    """

    keys: np.ndarray[Any, np.dtype[np.int64]]
    values: FloatArray
    n_classes: int

    def average_over_rivals(self, ids: IntArray, lengths: IntArray) -> FloatArray:
        """Return the mean similarity of each candidate to the other candidates of its row."""
        return _average_of_pairs(self._values_of, ids, lengths)

    def _values_of(self, left: IntArray, right: IntArray) -> FloatArray:
        if not len(self.keys):
            return np.zeros(len(left))
        pair_keys = left.astype(np.int64) * self.n_classes + right
        positions = np.minimum(np.searchsorted(self.keys, pair_keys), len(self.keys) - 1)
        return np.where(self.keys[positions] == pair_keys, self.values[positions], 0.0)


@dataclass(frozen=True, eq=False)
class FunctionSimilarity:
    """A similarity computed by a function, for so many classes that a matrix does not fit into memory.

    Attributes
    ----------
    function : callable
        Takes two equally long arrays of class ids and returns one number per pair.  It may be
        called from several threads at once.
    n_classes : int
        Number of classes K.
    """

    function: PairFunction
    n_classes: int

    def average_over_rivals(self, ids: IntArray, lengths: IntArray) -> FloatArray:
        """Return the mean similarity of each candidate to the other candidates of its row."""
        return _average_of_pairs(self._values_of, ids, lengths)

    def _values_of(self, left: IntArray, right: IntArray) -> FloatArray:
        try:
            returned = self.function(left, right)
        except Exception as error:
            raise InputError(
                f"the similarity function failed on two arrays of {len(left)} class ids "
                f"({type(error).__name__}: {error}); it must return one number for each pair"
            ) from error
        values = numeric_array(returned, "the similarity function's result", 1)
        if len(values) != len(left):
            raise InputError(f"the similarity function returned {len(values)} values for {len(left)} pairs of classes")
        if not (np.abs(values) <= LARGEST_SIMILARITY).all():
            bad = int(np.argmin(np.abs(values) <= LARGEST_SIMILARITY))
            pair = f"classes {left[bad]} and {right[bad]}"
            raise InputError(f"the similarity function returned {values[bad]} for {pair}; {FINITE}")
        return values.astype(np.float64)


def _average_of_pairs(values_of: PairFunction, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Return the average over rivals, computed one rival position at a time to avoid an n×k×k array."""
    total = np.zeros(ids.shape)
    positions = np.arange(ids.shape[1])
    for rival in positions:
        pair = (ids != PAD_ID) & (rival < lengths)[:, None] & (positions != rival)
        if pair.any():
            rivals = np.broadcast_to(ids[:, rival : rival + 1], ids.shape)
            total[pair] += values_of(ids[pair], rivals[pair])
    total /= np.maximum(lengths - 1, 1)[:, None]
    return total


def as_similarity(similarity: Any, n_classes: int) -> Similarity:
    """Validate a similarity that a user passed and return it in the form that models use.

    Parameters
    ----------
    similarity : array_like (K, K), scipy sparse matrix (K, K), callable, or Similarity
        A callable takes two equally long arrays of class ids and returns one number per pair.
    n_classes : int
        Number of classes K.

    Returns
    -------
    Similarity

    Examples
    --------
    >>> import numpy as np
    >>> from repair.similarity import as_similarity
    >>> similarity = as_similarity([[1.0, 0.2, 0.4], [0.2, 1.0, 0.0], [0.4, 0.0, 1.0]], n_classes=3)
    >>> similarity.average_over_rivals(np.array([[0, 1, 2]], np.int32), np.array([3], np.int32)).round(2)
    array([[0.3, 0.1, 0.2]])
    """
    if isinstance(similarity, DenseSimilarity | SparseSimilarity | FunctionSimilarity):
        _check_shape((similarity.n_classes, similarity.n_classes), n_classes)
        return similarity
    if callable(similarity):
        return FunctionSimilarity(similarity, n_classes)
    if hasattr(similarity, "tocoo"):
        return _from_sparse(similarity, n_classes)
    table = numeric_array(similarity, "similarity", 2)
    _check_shape(table.shape, n_classes)
    return DenseSimilarity(read_only(_finite_copy(table)))


def _from_sparse(matrix: Any, n_classes: int) -> SparseSimilarity:
    _check_shape(matrix.shape, n_classes)
    entries = matrix.tocoo()
    keys = entries.row.astype(np.int64) * n_classes + entries.col
    unique, values = _summed(keys, numeric_array(entries.data, "similarity", 1).astype(np.float64))
    if not (np.abs(values) <= LARGEST_SIMILARITY).all():
        bad = int(np.argmin(np.abs(values) <= LARGEST_SIMILARITY))
        where = f"similarity[{unique[bad] // n_classes}, {unique[bad] % n_classes}]"
        raise InputError(f"{where} is {values[bad]}; {FINITE}")
    return SparseSimilarity(unique, values, n_classes)


def _summed(keys: AnyArray, values: FloatArray) -> tuple[AnyArray, FloatArray]:
    """Return the entries sorted by key, with entries of the same key added up.  Most matrices are sorted already."""
    if (np.diff(keys) > 0).all():
        return keys, values
    unique, inverse = np.unique(keys, return_inverse=True)
    return unique, np.bincount(inverse, values, minlength=len(unique)).astype(np.float64)


def _check_shape(shape: tuple[int, ...], n_classes: int) -> None:
    if shape != (n_classes, n_classes):
        raise InputError(f"similarity has shape {shape}; with {n_classes} classes it must be {(n_classes,) * 2}")


def _finite_copy(table: AnyArray) -> AnyArray:
    """Return a copy, so later changes to the user's array do not change the model.  Entries must be finite."""
    dtype = table.dtype if table.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    copied = np.empty(table.shape, dtype)

    def fill(rows: slice) -> bool:
        copied[rows] = table[rows]
        part = copied[rows].ravel()  # still in the cache
        with np.errstate(over="ignore", invalid="ignore"):
            if part @ part <= LARGEST_SIMILARITY**2:  # then every number is within the limit, and none is NaN
                return True
        return bool(part.min() >= -LARGEST_SIMILARITY and part.max() <= LARGEST_SIMILARITY)

    if not all(map_row_blocks(fill, row_blocks(len(table), NUMBERS_PER_BLOCK // len(table)))):
        usable = np.abs(copied) <= LARGEST_SIMILARITY
        row, column = np.argwhere(~usable)[0]
        raise InputError(f"similarity[{row}, {column}] is {table[row, column]}; {FINITE}")
    return copied
