"""Profiles: the base scores of a row as a short vector, with which rows can be compared.

If the scores of all classes are known, the vector is the scores minus their mean.  If only candidates
are known, it is the square roots of their shares.  A basis that keeps most of the differences
between rows reduces both to a few numbers.  They are scaled to length 1, so the scale of the scores
does not matter.
"""

from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, as_floats, softmax, unit_rows
from repair._utils.parallel import even_blocks, map_row_blocks
from repair.data.shortlist import Shortlist

__all__ = [
    "CANDIDATES_WIDTH",
    "SCORES_WIDTH",
    "basis_of",
    "profiles_of_candidates",
    "profiles_of_scores",
    "root_shares",
    "whole_vectors",
]

#: Largest width of a profile.  Full score vectors overlap strongly and need fewer numbers than a few candidates.
SCORES_WIDTH, CANDIDATES_WIDTH = 64, 128
#: Scores per block of rows.
SCORES_PER_BLOCK = 1 << 20


def profiles_of_scores(scores: AnyArray, basis: AnyArray) -> AnyArray:
    """Return the profiles (n, r) of rows whose scores (n, K) are all known.

    Parameters
    ----------
    scores : ndarray (n, K)
    basis : ndarray of float32 (K, r)

    Returns
    -------
    ndarray of float32 (n, r)

    Examples
    --------
    >>> import numpy as np
    >>> from repair.terms.score_profiles import profiles_of_scores
    >>> profiles_of_scores(np.array([[4.0, -4.0, 0.0, 0.0]]), np.eye(4, dtype=np.float32)).round(1)
    array([[ 0.7, -0.7,  0. ,  0. ]], dtype=float32)
    """
    profiles = np.empty((len(scores), basis.shape[1]), dtype=np.float32)

    def fill(rows: slice) -> None:
        profiles[rows] = unit_rows(_centred(scores[rows]) @ basis, in_place_sums=True)

    map_row_blocks(fill, even_blocks(len(scores), max(1, SCORES_PER_BLOCK // scores.shape[1])))
    return profiles


def profiles_of_candidates(shortlist: Shortlist, basis: AnyArray) -> AnyArray:
    """Return the profiles (n, r) of rows of which only the candidates are known."""
    roots, ids = root_shares(shortlist).astype(np.float32), np.maximum(shortlist.ids, 0)
    profiles = np.zeros((len(shortlist), basis.shape[1]), dtype=np.float32)
    for position in range(shortlist.n_candidates):
        profiles += roots[:, position : position + 1] * basis[ids[:, position]]
    return unit_rows(profiles, in_place_sums=True)


def whole_vectors(shortlist: Shortlist, scores: AnyArray | None) -> AnyArray:
    """Return the vectors (n, K) that a basis reduces to profiles."""
    if scores is not None:
        return unit_rows(_centred(scores), in_place_sums=True)
    vectors = np.zeros((len(shortlist), shortlist.n_classes), dtype=np.float32)
    rows, positions = np.nonzero(shortlist.mask)
    vectors[rows, shortlist.ids[rows, positions]] = root_shares(shortlist)[rows, positions]
    return vectors


def basis_of(vectors: AnyArray, width: int, *, centred: bool = False) -> AnyArray:
    """Return the (K, `width`) basis that keeps most of the length of some rows' vectors (m, K).

    Parameters
    ----------
    vectors : ndarray (m, K)
    width : int
        Largest number of directions to keep.
    centred : bool, default False
        Whether to centre the basis.  Adding a number to all K scores of a row then changes a profile
        only by rounding.  The same holds for the scores of classes that are added later, although
        they enter the mean of the row.

    Returns
    -------
    ndarray of float32 (K, width)
    """
    basis = _main_directions(vectors, width)
    return basis - basis.mean(axis=0) if centred else basis


def _main_directions(vectors: AnyArray, width: int) -> AnyArray:
    n_classes = vectors.shape[1]
    if n_classes <= width:
        return np.eye(n_classes, dtype=np.float32)
    # Compute the right singular vectors from the smaller m×m product, because K may be many thousands.
    from scipy.linalg import eigh

    last, product = len(vectors) - 1, (vectors @ vectors.T).astype(np.float64)
    values, left = eigh(product, subset_by_index=(max(0, last + 1 - width), last), check_finite=False)
    kept = np.flatnonzero(values > 1e-6 * values[-1])
    basis = np.zeros((n_classes, width), dtype=np.float32)  # always of this width, even if there are few rows
    basis[:, : len(kept)] = vectors.T @ (left[:, kept] / np.sqrt(values[kept])).astype(np.float32)
    return basis


def root_shares(shortlist: Shortlist, adjustment: FloatArray | None = None) -> FloatArray:
    """Return the square roots of the base model's probabilities over the shortlist, 0 on padding.

    Parameters
    ----------
    shortlist : Shortlist
    adjustment : ndarray (K,), optional
        Added to the scores first.  By default the base scores are used unchanged.

    Returns
    -------
    ndarray (n, k)
    """
    scores = np.where(shortlist.mask, shortlist.scores, -np.inf)
    if adjustment is not None:
        scores = scores + adjustment[np.maximum(shortlist.ids, 0)]
    roots: FloatArray = np.sqrt(softmax(scores))
    return roots


def _centred(scores: AnyArray) -> AnyArray:
    """Return the scores minus the mean of their row as float32, and 0 where a score is −Inf."""
    values: Any = as_floats(scores)
    mean = values.mean(axis=1, keepdims=True)
    if not np.isneginf(mean).any():
        centred: AnyArray = np.subtract(values, mean, dtype=values.dtype).astype(np.float32, copy=False)
        return centred
    missing = np.isneginf(values)
    values = np.where(missing, 0.0, values)
    values -= values.sum(axis=1, keepdims=True) / np.maximum((~missing).sum(axis=1, keepdims=True), 1)
    values[missing] = 0.0
    vectors: AnyArray = values.astype(np.float32)
    return vectors
