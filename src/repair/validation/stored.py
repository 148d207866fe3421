"""Checks of arrays read from a model file, which is never trusted."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError

__all__ = ["check_unit_vectors", "stored_array"]

#: Largest squared length that a float16 vector of length 1 can have after rounding.  Votes of longer ones overflow.
LONGEST = 1.01


def stored_array(arrays: Mapping[str, AnyArray], name: str, dtype: Any, ndim: int) -> AnyArray:
    """Return a stored array, or raise an error unless it has the given type and dimensions and is finite.

    Parameters
    ----------
    arrays : mapping from str to ndarray
        The arrays of the file.
    name : str
        Name of the array to return.
    dtype : dtype
        The type it must have.
    ndim : int
        The number of dimensions it must have.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from repair.validation.stored import stored_array
    >>> stored_array({"matrix": np.ones((2, 3), np.float32)}, "matrix", np.float32, 2).shape
    (2, 3)
    """
    if name not in arrays:
        raise InputError(f"array {name!r} is missing")
    array = arrays[name]
    if array.dtype != dtype or array.ndim != ndim:
        raise InputError(
            f"array {name!r} is {array.dtype} of shape {array.shape}, "
            f"not {np.dtype(dtype)} of {ndim} dimension{'s' if ndim > 1 else ''}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"array {name!r} has a value that is not finite")
    return array


def check_unit_vectors(vectors: AnyArray, name: str) -> None:
    """Raise an error if a row is longer than 1.  Stored vectors have length 1, or 0 where there was no vector."""
    if len(vectors) and np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32).max() > LONGEST:
        raise InputError(f"the rows of {name} must have length 1, or 0")
