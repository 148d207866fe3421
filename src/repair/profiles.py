"""Profiles: a row's base scores as a short vector, so that rows can be compared with each other.

Where every class's score is known, the vector is the scores less their mean; where only candidates
are, the square roots of their shares.  Both are turned into a few numbers by a basis that holds
most of what tells rows apart, and brought to length 1: the size of the scores does not matter.
"""

from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray, as_floats
from repair.parallel import even_blocks, map_row_blocks
from repair.shortlist import Shortlist

__all__ = [
    "CANDIDATES_WIDTH",
    "SCORES_WIDTH",
    "basis_of",
    "profiles_of_candidates",
    "profiles_of_scores",
    "root_shares",
    "whole_vectors",
]

#: Numbers of a profile at most: all scores overlap much, a few candidates hardly.
SCORES_WIDTH, CANDIDATES_WIDTH = 64, 128
#: Scores looked at together.
SCORES_PER_BLOCK = 1 << 20


def profiles_of_scores(scores: AnyArray, basis: AnyArray) -> AnyArray:
    """Return the profiles (n, r) of rows whose scores (n, K) are all known.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.profiles import profiles_of_scores
    >>> profiles_of_scores(np.array([[4.0, -4.0, 0.0, 0.0]]), np.eye(4, dtype=np.float32)).round(1)
    array([[ 0.7, -0.7,  0. ,  0. ]], dtype=float32)
    """
    profiles = np.empty((len(scores), basis.shape[1]), dtype=np.float32)

    def fill(rows: slice) -> None:
        profiles[rows] = _of_length_one(_centred(scores[rows]) @ basis)

    map_row_blocks(fill, even_blocks(len(scores), max(1, SCORES_PER_BLOCK // scores.shape[1])))
    return profiles


def profiles_of_candidates(shortlist: Shortlist, basis: AnyArray) -> AnyArray:
    """Return the profiles (n, r) of rows of which only the candidates are known."""
    roots, ids = root_shares(shortlist).astype(np.float32), np.maximum(shortlist.ids, 0)
    profiles = np.zeros((len(shortlist), basis.shape[1]), dtype=np.float32)
    for place in range(shortlist.n_candidates):
        profiles += roots[:, place : place + 1] * basis[ids[:, place]]
    return _of_length_one(profiles)


def whole_vectors(shortlist: Shortlist, scores: AnyArray | None) -> AnyArray:
    """Return what profiles are made from, (n, K), by a basis of all K directions."""
    if scores is not None:
        return _of_length_one(_centred(scores))
    vectors = np.zeros((len(shortlist), shortlist.n_classes), dtype=np.float32)
    rows, places = np.nonzero(shortlist.mask)
    vectors[rows, shortlist.ids[rows, places]] = root_shares(shortlist)[rows, places]
    return vectors


def basis_of(vectors: AnyArray, width: int, *, centred: bool = False) -> AnyArray:
    """Return the (K, `width`) basis that keeps most of the length of some rows' vectors (m, K).

    With `centred`, a number added to all K scores of a row changes nothing but rounding; nor then do
    scores of classes that came later, which count in the row's mean.
    """
    basis = _main_directions(vectors, width)
    return basis - basis.mean(axis=0) if centred else basis


def _main_directions(vectors: AnyArray, width: int) -> AnyArray:
    n_classes = vectors.shape[1]
    if n_classes <= width:
        return np.eye(n_classes, dtype=np.float32)
    # The right singular vectors by way of the smaller m×m product: K may be many thousands.
    values, left = np.linalg.eigh((vectors @ vectors.T).astype(np.float64))
    kept = np.flatnonzero(values > 1e-6 * values[-1])[-width:]
    basis = np.zeros((n_classes, width), dtype=np.float32)  # of one width, however few rows there are
    basis[:, : len(kept)] = vectors.T @ (left[:, kept] / np.sqrt(values[kept])).astype(np.float32)
    return basis


def root_shares(shortlist: Shortlist, adjustment: FloatArray | None = None) -> FloatArray:
    """Return the square roots of the base's probabilities over the shortlist, 0 on padding.

    Parameters
    ----------
    shortlist : Shortlist
    adjustment : ndarray (K,), optional
        Added to the scores first.
    """
    scores = np.where(shortlist.mask, shortlist.scores, -np.inf)
    if adjustment is not None:
        scores = scores + adjustment[np.maximum(shortlist.ids, 0)]
    best = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - np.where(np.isfinite(best), best, 0.0))
    # Added from left to right, so that padding changes no bit.
    mass = np.cumsum(shares, axis=1)[:, -1:]
    roots: FloatArray = np.sqrt(shares / np.where(mass > 0, mass, 1.0))
    return roots


def _centred(scores: AnyArray) -> AnyArray:
    """Return scores less their row's mean as float32; 0 where they are −Inf."""
    known: Any = as_floats(scores)
    mean = known.mean(axis=1, keepdims=True)
    if not np.isneginf(mean).any():
        centred: AnyArray = np.subtract(known, mean, dtype=known.dtype).astype(np.float32, copy=False)
        return centred
    missing = np.isneginf(known)
    known = np.where(missing, 0.0, known)
    known -= known.sum(axis=1, keepdims=True) / np.maximum((~missing).sum(axis=1, keepdims=True), 1)
    known[missing] = 0.0
    vectors: AnyArray = known.astype(np.float32)
    return vectors


def _of_length_one(vectors: AnyArray) -> AnyArray:
    """Return vectors of length 1; a vector of zeros stays zero."""
    # Divided by the largest first: squares of large scores leave the range of float32.
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    vectors = vectors / np.where(largest > 0, largest, np.float32(1.0))
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    unit: AnyArray = vectors / np.where(length > 0, length, np.float32(1.0))
    return unit
