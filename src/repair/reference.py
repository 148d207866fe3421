"""Labelled rows with embeddings: what neighbours and heads learn from besides the calibration rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray, IntArray
from repair.errors import InputError
from repair.inputs import numeric_array

__all__ = ["Reference", "check_embeddings"]


@dataclass(frozen=True, eq=False)
class Reference:
    """Extra labelled rows, usually the base's training set.

    Attributes
    ----------
    embeddings : ndarray of float32 (m, d)
        Of length 1 each.
    labels : ndarray of int (m,)
        Class ids; −1 where the class table lacks the label, and such a row is never heard.
    """

    embeddings: AnyArray
    labels: IntArray


def check_embeddings(values: ArrayLike, name: str, n_rows: int, width: int | None = None) -> AnyArray:
    """Return one vector of length 1 for each row as float32; a vector of zeros stays zero.

    Examples
    --------
    >>> from repair.reference import check_embeddings
    >>> check_embeddings([[3.0, 4.0], [0.0, 0.0]], "embeddings", 2).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    given = numeric_array(values, name, 2)
    if len(given) != n_rows:
        raise InputError(f"{name} has {len(given)} rows, but there are {n_rows}; give one vector for each row")
    if given.shape[1] < 1 or (width is not None and given.shape[1] != width):
        wanted = "at least one" if width is None else f"{width}, as the others have"
        raise InputError(f"{name} has {given.shape[1]} columns; expected {wanted}")
    with np.errstate(over="ignore"):  # what float32 cannot hold is refused below
        vectors = given.astype(np.float32)
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    if not np.isfinite(largest).all():
        row = int(np.argmin(np.isfinite(largest)))
        column = int(np.argmin(np.isfinite(vectors[row])))
        raise InputError(f"{name}[{row}, {column}] is {given[row, column]}; embeddings must be finite float32 numbers")
    # Divided by the largest entry first: squares of large or small numbers leave the range of float32.
    vectors /= np.where(largest > 0, largest, 1.0)[:, None]
    length = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    unit: AnyArray = vectors / np.where(length > 0, length, 1.0)
    return unit
