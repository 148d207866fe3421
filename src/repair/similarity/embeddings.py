"""Classes compared by the angle between vectors: classifier weights, or embeddings of their names."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray, FloatArray
from repair.errors import InputError
from repair.inputs import check_count, numeric_array

__all__ = ["cosine_similarity"]

#: Similarities that are computed at once when only neighbours are kept (32 MB).
BLOCK_ENTRIES = 4_000_000


def cosine_similarity(vectors: ArrayLike, *, neighbours: int | None = None) -> Any:
    """Return the cosine of the angle between the vectors of all pairs of classes.

    Parameters
    ----------
    vectors : array_like, shape (K, d)
        One vector a class: the rows of a classifier's last weight matrix, or embeddings of the
        class names.  Their lengths do not matter.
    neighbours : int, optional
        Keep only pairs in which one class is among the other's so many most similar ones (of equally
        similar ones the lower ids); the others count as 0.  Rows are compared a block at a time, so
        no K×K array is made.

    Returns
    -------
    ndarray of float64 or, with `neighbours`, scipy.sparse.csr_matrix, shape (K, K)
        Symmetric, from −1 to 1, with 1 on the diagonal.  Negative cosines are kept: the correction
        is linear in the similarity, so "opposed" may say more than "unrelated".

    Examples
    --------
    >>> weights = [[1.0, 0.0], [3.0, 4.0], [-2.0, 0.0]]
    >>> cosine_similarity(weights)
    array([[ 1. ,  0.6, -1. ],
           [ 0.6,  1. , -0.6],
           [-1. , -0.6,  1. ]])
    >>> cosine_similarity(weights, neighbours=1).toarray()
    array([[ 1. ,  0.6,  0. ],
           [ 0.6,  1. , -0.6],
           [ 0. , -0.6,  1. ]])
    """
    unit = _unit_vectors(vectors)
    if neighbours is not None:
        return _nearest(unit, min(check_count(neighbours, "neighbours"), len(unit) - 1))
    cosine: FloatArray = unit @ unit.T
    np.clip(cosine, -1.0, 1.0, out=cosine)
    np.fill_diagonal(cosine, 1.0)
    return cosine


def _unit_vectors(vectors: ArrayLike) -> FloatArray:
    array = numeric_array(vectors, "vectors", 2).astype(np.float64)
    if not array.size:
        raise InputError(f"vectors has shape {array.shape}; pass one vector of at least one number for each class")
    largest = np.abs(array).max(axis=1)
    if not np.isfinite(largest).all():
        bad = int(np.argmin(np.isfinite(largest)))
        raise InputError(f"vectors[{bad}] has entries that are not finite; correct the vector of class {bad}")
    if not largest.all():
        bad = int(np.argmin(largest))
        raise InputError(f"vectors[{bad}] is zero and has no direction; give class {bad} a vector that is not")
    array /= largest[:, None]  # so that no square overflows or vanishes
    unit: FloatArray = array / np.linalg.norm(array, axis=1, keepdims=True)
    return unit


def _nearest(unit: FloatArray, neighbours: int) -> Any:
    """Return the pairs of nearest neighbours, in both directions, and the diagonal."""
    from scipy.sparse import csr_matrix

    n_classes = len(unit)
    step = max(BLOCK_ENTRIES // n_classes, 1)
    keys: list[AnyArray] = []
    values: list[FloatArray] = []
    for start in range(0, n_classes if neighbours else 0, step):
        cosine = unit[start : start + step] @ unit.T
        np.clip(cosine, -1.0, 1.0, out=cosine)
        rows, columns = _largest(cosine, start, neighbours)
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        keys.append(low * n_classes + high)
        values.append(cosine[rows - start, columns])
    # Each pair once: its two directions may differ in the last bit.
    pairs, first = np.unique(np.concatenate([*keys, np.empty(0, dtype=np.int64)]), return_index=True)
    found = np.concatenate([*values, np.empty(0)])[first]
    left, right = np.divmod(pairs, n_classes)
    diagonal = np.arange(n_classes)
    rows, columns = np.concatenate([left, right, diagonal]), np.concatenate([right, left, diagonal])
    entries = np.concatenate([found, found, np.ones(n_classes)])
    return csr_matrix((entries, (rows, columns)), shape=(n_classes, n_classes))


def _largest(cosine: FloatArray, start: int, neighbours: int) -> tuple[AnyArray, AnyArray]:
    """Return row and column of each row's largest entries but its own; of equal ones the first."""
    rivals = cosine.copy()
    np.fill_diagonal(rivals[:, start:], -np.inf)
    threshold = np.partition(rivals, -neighbours, axis=1)[:, -neighbours, None]
    kept = rivals >= threshold
    surplus = kept.sum(axis=1) - neighbours
    for row in np.flatnonzero(surplus):
        last = np.flatnonzero(rivals[row] == threshold[row])[-surplus[row] :]
        kept[row, last] = False
    rows, columns = np.nonzero(kept)
    return rows + start, columns
