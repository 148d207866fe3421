"""Names for the array types that travel through the library."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["PAD_ID", "PAD_SCORE", "AnyArray", "BoolArray", "FloatArray", "IntArray", "read_only"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

#: What stands in a slot of a row that has fewer candidates than its neighbours.
PAD_ID = -1
PAD_SCORE = -np.inf


def read_only(array: AnyArray) -> AnyArray:
    """Return a view of `array` that refuses to be written to; `array` itself stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view
