"""One dense vector for each row, made for cosine neighbours: its dot products are cosines."""

from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray

__all__ = ["narrow", "unit_rows"]

#: Dimensions that a table of words is narrowed to.
WIDTH = 200


def unit_rows(vectors: AnyArray) -> FloatArray:
    """Scale every row to length 1; a row of zeros stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.bench.row_vectors import unit_rows
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: FloatArray = vectors / np.where(length > 0, length, 1.0)
    return scaled


def narrow(table: Any, training: AnyArray, width: int = WIDTH) -> FloatArray:
    """Project the rows of a sparse table to the directions in which its training rows vary most.

    Parameters
    ----------
    table : scipy sparse matrix (n, d)
    training : ndarray of bool (n,)
        The rows that the truncated singular value decomposition sees.
    width : int, default 200
        Fewer where the training rows or the columns are fewer.

    Returns
    -------
    ndarray of float64 (n, width)
        Rows of length 1; zero for a row that shares no column with training.
    """
    from sklearn.decomposition import TruncatedSVD

    own = table[training]
    model = TruncatedSVD(min(width, *own.shape), random_state=0).fit(own)
    return unit_rows(model.transform(table))
