"""Similarity by the angle between class vectors: classifier weights, or embeddings of the class names."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray, unit_rows
from repair.errors import InputError
from repair.validation.checks import check_count, numeric_array

__all__ = ["cosine_similarity"]

#: Similarities that are computed at once if only neighbours are kept (32 MB).
BLOCK_ENTRIES = 4_000_000


def cosine_similarity(vectors: ArrayLike, *, neighbours: int | None = None) -> Any:
    """Return the cosine of the angle between the vectors of all pairs of classes.

    Parameters
    ----------
    vectors : array_like, shape (K, d)
        One vector per class: the rows of a classifier's last weight matrix, or embeddings of the
        class names.  Their lengths do not matter.
    neighbours : int, optional
        Number of nearest neighbours to keep per class.  A pair is kept if one class is among the
        nearest neighbours of the other, and all other similarities are 0.  Among equally similar
        classes the lower ids are kept.  By default all pairs are kept.  Set it if a K×K array does
        not fit into memory: rows are then compared in blocks, and the result is sparse.

    Returns
    -------
    ndarray of float64 or, with `neighbours`, scipy.sparse.csr_matrix, shape (K, K)
        Symmetric, from −1 to 1, with 1 on the diagonal.  Negative cosines are kept, because the
        correction is linear in the similarity, and opposite vectors may carry more information
        than unrelated ones.

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
        raise InputError(f"vectors[{bad}] is zero and has no direction; give class {bad} a vector that is not zero")
    return unit_rows(array)


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
    # Keep each pair once, because its two directions may differ in the last bit.
    pairs, first = np.unique(np.concatenate([*keys, np.empty(0, dtype=np.int64)]), return_index=True)
    pair_values = np.concatenate([*values, np.empty(0)])[first]
    left, right = np.divmod(pairs, n_classes)
    diagonal = np.arange(n_classes)
    rows, columns = np.concatenate([left, right, diagonal]), np.concatenate([right, left, diagonal])
    entries = np.concatenate([pair_values, pair_values, np.ones(n_classes)])
    return csr_matrix((entries, (rows, columns)), shape=(n_classes, n_classes))


def _largest(cosine: FloatArray, start: int, neighbours: int) -> tuple[AnyArray, AnyArray]:
    """Return rows and columns of the largest entries of each row, without the diagonal.

    Among equal entries the first ones are taken.
    """
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
