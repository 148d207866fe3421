"""Context: what the rest of the shortlist says about a candidate.

A ridge regression of the base's residuals (1 for the label, less the base's probabilities) on the
square roots of those probabilities.  If class y turns out right more often than its score says
whenever class j is strong, y gains where j is strong.  Unlike a difference of scores this can put
y above j on one row and below it on another.
"""

from dataclasses import dataclass

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.calibration import CalibrationSet
from repair.candidates import CandidateView
from repair.class_table import ClassTable
from repair.kernels import kernels_for
from repair.shortlist import Shortlist
from repair.terms.cross_fit import RidgeRows, dense_codes, mixed

__all__ = ["Context"]

#: The ridge's penalties, in rows: how much evidence a pair of classes needs to be heard.
PENALTIES = (1.0, 5.0, 25.0)
#: Above this many classes a K×K matrix is too much for what it brings.
MOST_CLASSES = 4096


@dataclass(frozen=True, eq=False)
class Context:
    """Σ over candidates j of √p_j·W[j, y], with p the softmax of g − τ·log (n+1) over the shortlist.

    Attributes
    ----------
    matrices : ndarray of float32 (number of mixed regressions, K, K)
        W; after the fit a single one.
    tau : float
        The pre-adjustment by which the shortlist was taken.
    """

    matrices: AnyArray
    tau: float
    name: str = "context"
    requires: tuple[str, ...] = ()
    copies: float = 1.0

    @classmethod
    def learn(cls, calibration: CalibrationSet, tau: float) -> "tuple[Context, FloatArray]":
        """Learn from the covered rows; return also their columns, from other folds."""
        import scipy.sparse

        rows = np.flatnonzero(calibration.covered)
        shortlist, table = calibration.shortlist.take(rows), calibration.table
        roots, residuals = _roots(shortlist, table, tau), np.zeros(shortlist.ids.shape)
        residuals[np.arange(len(rows)), calibration.positions[rows]] = 1.0
        residuals -= roots**2
        real = shortlist.mask
        starts = np.append(0, np.cumsum(shortlist.lengths))
        features = scipy.sparse.csr_matrix(
            (roots[real], shortlist.ids[real], starts), shape=(len(rows), table.n_classes)
        )
        importance = calibration.importance[rows]
        problem = RidgeRows(
            features, shortlist.ids, residuals, table.n_classes, importance / importance.mean(), PENALTIES
        )
        groups = None if calibration.groups is None else dense_codes(calibration.groups[rows])
        matrices, columns = problem.cross_fitted(len(rows), groups, shortlist.ids)
        return cls(matrices, tau), columns

    def folded(self, weights: FloatArray) -> "tuple[Context, float]":
        """Return one regression for the fitted mixture, and its weight."""
        matrices, total = mixed(self.matrices, weights)
        return Context(matrices, self.tau), total

    def column(self, view: CandidateView) -> FloatArray:
        """Return what the shortlist's other candidates, and the candidate itself, say about it."""
        ids = view.shortlist.ids
        roots = _roots(view.shortlist, view.table, self.tau)
        found: FloatArray = kernels_for(ids.size).weighted_pairs(self.matrices[0], ids, view.lengths, roots)
        return found

    def for_classes(self, n_classes: int) -> "Context":
        """Return the term for a longer list of classes; nothing is known of the new ones."""
        known = self.matrices.shape[1]
        wide = np.zeros((len(self.matrices), n_classes, n_classes), dtype=np.float32)
        wide[:, :known, :known] = self.matrices
        return Context(wide, self.tau)


def _roots(shortlist: Shortlist, table: ClassTable, tau: float) -> FloatArray:
    """Return the square roots of the base's probabilities over the shortlist, 0 on padding."""
    scores = np.where(shortlist.mask, shortlist.scores, -np.inf)
    if tau:
        scores = scores - tau * table.log_counts[np.maximum(shortlist.ids, 0)]
    best = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - np.where(np.isfinite(best), best, 0.0))
    # Added from left to right, so that padding changes no bit.
    mass = np.cumsum(shares, axis=1)[:, -1:]
    roots: FloatArray = np.sqrt(shares / np.where(mass > 0, mass, 1.0))
    return roots


def possible(ids: IntArray, n_classes: int) -> bool:
    """Say whether the term can be learned for so many classes."""
    return n_classes <= MOST_CLASSES and ids.shape[1] > 1
