"""Context: what the row's other scores say about a candidate.

A kernel ridge regression of the base's residuals (1 for the label, less the base's probabilities)
on the row's profile, its scores as a vector (`repair.profiles`).  If class y turned out right more
often than its score says on rows with similar scores, y gains.  Unlike a difference of two scores
this can put y above a rival on one row and below it on another.
"""

from dataclasses import dataclass, replace

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.calibration import CalibrationSet
from repair.candidates import CandidateView
from repair.coverage import list_adjustment
from repair.kernels import kernels_for
from repair.parallel import even_blocks, map_row_blocks
from repair.profiles import (
    CANDIDATES_WIDTH,
    SCORES_WIDTH,
    basis_of,
    profiles_of_candidates,
    profiles_of_scores,
    root_shares,
    whole_vectors,
)
from repair.shortlist import Shortlist
from repair.terms.cross_fit import ROWS_PER_BLOCK, RidgeRows, dense_codes, mixed

__all__ = ["READS", "Context"]

#: What a profile can be made of: the scores of all classes, or those of the candidates.
READS = ("scores", "candidates")
#: Rows that others are compared with, at most.
LANDMARKS = 256
#: The ridge's penalties, in rows: how much evidence a pattern needs to be heard.
PENALTIES = (0.1, 1.0, 10.0)
#: Directions in which landmarks differ less than this, beside the widest, are noise.
NARROW = 1e-6
#: Above this many classes a row of landmarks for each is too much.
MOST_CLASSES = 1 << 14
#: Above this many numbers features are computed when asked for instead of being kept.
MOST_KEPT = 1 << 26


@dataclass(frozen=True, eq=False)
class Context:
    """Σ over landmarks l of e^(profile·l − 1)·W[y, l].

    Attributes
    ----------
    basis : ndarray of float32 (K, r)
        Turns scores into profiles.
    landmarks : ndarray of float32 (m, r)
        Profiles of some calibration rows.
    matrices : ndarray of float32 (number of mixed regressions, K, m)
        W; after the fit a single one.
    reads : {"scores", "candidates"}
        What the profile is made of.
    """

    basis: AnyArray
    landmarks: AnyArray
    matrices: AnyArray
    reads: str
    name: str = "context"
    requires: tuple[str, ...] = ()
    copies: float = 1.0

    @classmethod
    def learn(cls, calibration: CalibrationSet, tau: float) -> "tuple[Context, FloatArray]":
        """Learn from the covered rows; return also their columns, from other folds."""
        rows, table = np.flatnonzero(calibration.covered), calibration.table
        shortlist, scores = calibration.shortlist.take(rows), calibration.all_scores
        chosen = _landmark_rows(shortlist)
        if scores is None:
            basis = basis_of(whole_vectors(shortlist.take(chosen), None), CANDIDATES_WIDTH)
            profiles = profiles_of_candidates(shortlist, basis)
        else:
            basis = basis_of(whole_vectors(shortlist.take(chosen), scores[rows[chosen]]), SCORES_WIDTH, centred=True)
            profiles = profiles_of_scores(scores, basis)[rows]
        landmarks = profiles[chosen]
        features = _KernelRows(profiles, landmarks, _whitening(landmarks))
        importance = calibration.importance[rows]
        problem = RidgeRows(
            features.kept() if len(rows) * len(chosen) <= MOST_KEPT else features,
            shortlist.ids,
            _residuals(shortlist, calibration.positions[rows], list_adjustment(table, tau)),
            table.n_classes,
            importance / importance.mean(),
            PENALTIES,
        )
        groups = None if calibration.groups is None else dense_codes(calibration.groups[rows])
        matrices, columns = problem.cross_fitted(len(rows), groups, shortlist.ids)
        term = cls(basis, landmarks, matrices @ features.whitening.T, READS[0] if scores is not None else READS[1])
        return term, columns

    def folded(self, weights: FloatArray) -> "tuple[Context, float]":
        """Return one regression for the fitted mixture, and its weight."""
        matrices, total = mixed(self.matrices, weights)
        return replace(self, matrices=matrices), total

    def column(self, view: CandidateView) -> FloatArray:
        """Return what rows with similar scores say about each candidate."""
        shortlist = view.shortlist
        profiles = profiles_of_candidates(shortlist, self.basis) if self.reads == "candidates" else shortlist.profiles
        assert profiles is not None
        alike = _alike(profiles, self.landmarks)
        dots = kernels_for(alike.size).row_dots
        found: FloatArray = dots(alike, self.matrices[0], shortlist.ids, view.lengths)
        return found

    def for_classes(self, n_classes: int) -> "Context":
        """Return the term for a longer list of classes; nothing is known of the new ones."""
        added = n_classes - len(self.basis)
        wide = np.pad(self.matrices, ((0, 0), (0, added), (0, 0)))
        return replace(self, basis=np.pad(self.basis, ((0, added), (0, 0))), matrices=wide)


@dataclass(frozen=True, eq=False)
class _KernelRows:
    """Rows compared with the landmarks, in directions of equal width: the ridge needs no other matrix."""

    profiles: AnyArray
    landmarks: AnyArray
    whitening: AnyArray

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.profiles), self.whitening.shape[1]

    def __getitem__(self, rows: AnyArray | slice) -> AnyArray:
        found: AnyArray = _alike(self.profiles[rows], self.landmarks) @ self.whitening
        return found

    def kept(self) -> AnyArray:
        """Return all rows at once."""
        found = np.empty(self.shape, dtype=np.float32)

        def fill(rows: slice) -> None:
            found[rows] = self[rows]

        map_row_blocks(fill, even_blocks(len(found), ROWS_PER_BLOCK))
        return found


def _landmark_rows(shortlist: Shortlist) -> IntArray:
    """Choose rows by turns from those whose best class is the same, so that rare ones are there too.

    By the base's best class, not by the label: no row's column may depend on its own label.
    """
    order = np.random.default_rng(0).permutation(len(shortlist))
    best = shortlist.ids[order, 0]
    by_class = np.argsort(best, kind="stable")
    sizes = np.bincount(np.maximum(best, 0))
    turn = np.empty(len(order), dtype=np.int64)
    turn[by_class] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen: IntArray = np.sort(order[np.argsort(turn, kind="stable")[:LANDMARKS]])
    return chosen


def _alike(profiles: AnyArray, landmarks: AnyArray) -> AnyArray:
    """Return e^(cosine − 1) of each row and landmark."""
    alike: AnyArray = profiles @ landmarks.T
    alike -= np.float32(1.0)
    return np.exp(alike, out=alike)


def _whitening(landmarks: AnyArray) -> AnyArray:
    """Return the matrix after which landmarks differ equally in all directions that are kept."""
    values, vectors = np.linalg.eigh(_alike(landmarks, landmarks).astype(np.float64))
    kept = values > NARROW * values[-1]
    found: AnyArray = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)
    return found


def _residuals(shortlist: Shortlist, positions: IntArray, adjustment: FloatArray | None) -> FloatArray:
    """Return 1 for the label, less the base's probabilities."""
    residuals = -(root_shares(shortlist, adjustment) ** 2)
    residuals[np.arange(len(residuals)), positions] += 1.0
    return residuals


def possible(ids: IntArray, n_classes: int) -> bool:
    """Say whether the term can be learned for so many classes."""
    return n_classes <= MOST_CLASSES and ids.shape[1] > 1
