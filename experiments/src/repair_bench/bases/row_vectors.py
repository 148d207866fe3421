"""One dense vector per row for cosine neighbours.  Their dot products are cosines."""

from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray

__all__ = ["narrow", "unit_rows"]

#: Number of dimensions to which a table of words is reduced.
WIDTH = 200


def unit_rows(vectors: AnyArray) -> FloatArray:
    """Scale every row to length 1.  Rows of zeros are unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.bases.row_vectors import unit_rows
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: FloatArray = vectors / np.where(length > 0, length, 1.0)
    return scaled


def narrow(table: Any, training: AnyArray, width: int = WIDTH) -> FloatArray:
    """Project the rows of a sparse table onto the main directions of its training rows.

    Parameters
    ----------
    table : scipy sparse matrix (n, d)
    training : ndarray of bool (n,)
        The rows on which the truncated singular value decomposition is fitted.
    width : int, default 200
        Number of dimensions.  It is smaller if there are fewer training rows or columns.

    Returns
    -------
    ndarray of float64 (n, width)
        Rows of length 1, or zero for a row without any column of the training rows.
    """
    from sklearn.decomposition import TruncatedSVD

    fitted = table[training]
    model = TruncatedSVD(min(width, *fitted.shape), random_state=0).fit(fitted)
    return unit_rows(model.transform(table))
