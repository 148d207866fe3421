"""Names for the array types that travel through the library."""

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
    "read_only",
    "row_sums",
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

#: What stands in a slot of a row that has fewer candidates than its neighbours.
PAD_ID = -1
PAD_SCORE = -np.inf


_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def as_floats(scores: AnyArray) -> AnyArray:
    """Return scores in a type that is computed with: float32 and float64 as they are, float16 as float32, else float64.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.arrays import as_floats
    >>> as_floats(np.array([1, 2])).dtype
    dtype('float64')
    """
    kind = scores.dtype
    if kind in (_FLOAT32, _FLOAT64):
        return scores
    return scores.astype(np.float32 if kind == np.float16 else np.float64)


def dot(left: FloatArray, right: FloatArray) -> float:
    """Return Σ left·right with the same bits whatever the number of BLAS threads."""
    return float(np.add.reduce(left * right))


def row_sums(values: FloatArray) -> FloatArray:
    """Return each row's sum, added from left to right.

    Zeros at the end then change no bit, so a row has the same sum however far it is padded;
    numpy's own sum adds in an order that depends on the width.
    """
    sums: FloatArray = values.cumsum(axis=1)[:, -1] + 0.0  # as if it began with 0, so that −0 and −0 make 0
    return sums


def is_full(lengths: IntArray, k: int) -> bool:
    """Say whether every row has all k candidates."""
    return bool(lengths[0] == k) if len(lengths) == 1 else bool((lengths == k).all())


def read_only(array: AnyArray) -> AnyArray:
    """Return a view of `array` that refuses to be written to; `array` itself stays as it is."""
    view = array.view()
    view.setflags(write=False)
    return view
