"""Reference rows: labelled rows with embeddings that neighbours and heads use besides the calibration rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, IntArray, unit_rows
from repair.errors import InputError
from repair.validation.checks import numeric_array

__all__ = ["Reference", "check_embeddings"]


@dataclass(frozen=True, eq=False)
class Reference:
    """Further labelled rows, usually the training set of the base model.

    Attributes
    ----------
    embeddings : ndarray of float32 (m, d)
        One vector of length 1 per row.
    labels : ndarray of int (m,)
        Class ids, −1 where the label is not a known class.  Rows with −1 are ignored.
    """

    embeddings: AnyArray
    labels: IntArray


def check_embeddings(values: ArrayLike, name: str, n_rows: int, width: int | None = None) -> AnyArray:
    """Return one float32 vector of length 1 per row.  A vector of zeros stays zero.

    Parameters
    ----------
    values : array_like (n, d)
    name : str
        Name of the argument, for error messages.
    n_rows : int
        Number of rows that is expected.
    width : int, optional
        Number of columns d that is expected.  By default any number of at least one is accepted.

    Returns
    -------
    ndarray of float32 (n, d)

    Examples
    --------
    >>> from repair.data.embeddings import check_embeddings
    >>> check_embeddings([[3.0, 4.0], [0.0, 0.0]], "embeddings", 2).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    array = numeric_array(values, name, 2)
    if len(array) != n_rows:
        raise InputError(f"{name} has {len(array)} rows, but there are {n_rows}; give one vector for each row")
    if array.shape[1] < 1 or (width is not None and array.shape[1] != width):
        expected = "at least one" if width is None else f"{width}, as in the other embeddings"
        raise InputError(f"{name} has {array.shape[1]} columns; expected {expected}")
    with np.errstate(over="ignore"):  # numbers that overflow float32 raise an error below
        vectors = array.astype(np.float32)
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    if not np.isfinite(largest).all():
        row = int(np.argmin(np.isfinite(largest)))
        column = int(np.argmin(np.isfinite(vectors[row])))
        raise InputError(f"{name}[{row}, {column}] is {array[row, column]}; embeddings must be finite float32 numbers")
    return unit_rows(vectors)
