"""Array type aliases, and the small array functions that the whole library shares."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PAD_ID",
    "PAD_SCORE",
    "AnyArray",
    "BoolArray",
    "FloatArray",
    "IntArray",
    "as_floats",
    "dot",
    "is_full",
    "log_sum_exp",
    "read_only",
    "row_sums",
    "softmax",
    "unit_rows",
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

#: Id and score in the unused slots of a row that has fewer candidates than the widest row.
PAD_ID = -1
PAD_SCORE = -np.inf


_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def as_floats(scores: AnyArray) -> AnyArray:
    """Return scores as float32 or float64.

    float32 and float64 are returned unchanged, float16 becomes float32, everything else float64.

    Examples
    --------
    >>> import numpy as np
    >>> from repair._utils.arrays import as_floats
    >>> as_floats(np.array([1, 2])).dtype
    dtype('float64')
    """
    dtype = scores.dtype
    if dtype in (_FLOAT32, _FLOAT64):
        return scores
    return scores.astype(np.float32 if dtype == np.float16 else np.float64)


def dot(left: FloatArray, right: FloatArray) -> float:
    """Return Σ left·right, bit-identical for any number of BLAS threads."""
    return float(np.add.reduce(left * right))


def row_sums(values: FloatArray) -> FloatArray:
    """Return each row's sum, added from left to right.

    Trailing zeros then do not change the result, so padding a row does not change its sum.  numpy's
    own sum adds in an order that depends on the width.
    """
    sums: FloatArray = values.cumsum(axis=1)[:, -1] + 0.0  # + 0.0 turns a sum of −0 into 0
    return sums


def softmax(scores: FloatArray) -> FloatArray:
    """Return the softmax of each row.  −Inf gives 0, and a row that holds only −Inf gives zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from repair._utils.arrays import softmax
    >>> softmax(np.array([[0.0, 0.0, -np.inf]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    best = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - np.where(best == -np.inf, 0.0, best))
    mass = row_sums(shares)[:, None]
    return shares / np.where(mass == 0.0, 1.0, mass)


def log_sum_exp(scores: FloatArray) -> FloatArray:
    """Return log Σ exp of each row, and 0 for a row that holds only −Inf."""
    best = scores.max(axis=1)
    best = np.where(np.isneginf(best), 0.0, best)
    mass = np.exp(scores - best[:, None]).sum(axis=1)
    total: FloatArray = np.log(np.where(mass > 0, mass, 1.0)) + best
    return total


def unit_rows(vectors: AnyArray, *, in_place_sums: bool = False) -> AnyArray:
    """Return the rows scaled to length 1, in the precision of `vectors`.  A row of zeros stays zero.

    Rows are divided by their largest entry first, because the squares of very large or very small
    numbers exceed the range of float32.

    Parameters
    ----------
    vectors : ndarray of float (n, d)
    in_place_sums : bool, default False
        Add up the squares without storing them in an array, which is faster for single rows.  The
        order of the additions changes, so the last bit may differ.

    Examples
    --------
    >>> import numpy as np
    >>> from repair._utils.arrays import unit_rows
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    one = vectors.dtype.type(1.0)
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, one)
    if in_place_sums:
        length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    else:
        length = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    unit: AnyArray = scaled / np.where(length > 0, length, one)
    return unit


def is_full(lengths: IntArray, k: int) -> bool:
    """Return whether every row has all k candidates."""
    return bool(lengths[0] == k) if len(lengths) == 1 else bool((lengths == k).all())


def read_only(array: AnyArray) -> AnyArray:
    """Return a read-only view of `array`.  `array` itself stays writable."""
    view = array.view()
    view.setflags(write=False)
    return view
