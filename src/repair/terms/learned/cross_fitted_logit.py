"""Cross-fitted logistic regressions: predictions for their own rows come from the other folds.

They are solved by L-BFGS.  Their columns enter the convex fit, which weights and shrinks them, so a rough solution is
enough.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray, softmax
from repair._utils.parallel import map_row_blocks, row_blocks
from repair.kernels import best_kernels
from repair.stats.folds import fold_rows, group_folds
from repair.terms.learned.quasi_newton import minimized

__all__ = ["ListRows", "SoftmaxRows", "cross_fitted"]

FOLDS = 5
#: Largest number of iterations on shortlists, over all classes from zero, and over all classes from a good start.
LIST_ITERATIONS, MAX_ITERATIONS, FURTHER_ITERATIONS = 50, 25, 8
#: The relative decrease of the loss at which the solver stops, on shortlists and over all classes.
LIST_TOLERANCE, TOLERANCE = 3e-4, 1e-4
#: Rows whose probabilities are computed at once, so they stay in the cache.
ROWS_PER_BLOCK = 2048
#: The mean of p(1 − p) over the rows of a class, p being the probability of the class, as the solver assumes it.
CURVATURE = 0.1
#: The share of the curvature at the base scores that is left on average, as the solver assumes it for shortlists.
LIST_CURVATURE = 0.3

Fit = Callable[[AnyArray], AnyArray]


@dataclass(frozen=True, eq=False)
class ListRows:
    """Conditional logits on shortlists, base + W[y]·x, one per penalty.

    Attributes
    ----------
    features : ndarray of float32 (n, d)
    ids : ndarray of int (n, k)
        Candidates, −1 on padding, which is at the end of a row.
    base : ndarray (n, k)
        Base scores.
    target : ndarray of int (n,)
        Position of each label.
    weights : ndarray (n,)
    n_classes : int
    penalties : tuple of float
        Penalties λ of λ/2·‖W‖², from the strongest, in rows.
    """

    features: AnyArray
    ids: IntArray
    base: FloatArray
    target: IntArray
    weights: FloatArray
    n_classes: int
    penalties: tuple[float, ...]

    def fit(self, rows: AnyArray) -> AnyArray:
        """Return W (number of penalties, K, d) fitted on some rows."""
        features, ids, base, target = self.features[rows], self.ids[rows], self.base[rows], self.target[rows]
        weights, list_loss = self.weights[rows], best_kernels().list_loss

        def loss(matrix: AnyArray) -> tuple[float, AnyArray]:
            gradient = np.zeros_like(matrix)
            return list_loss(features, matrix, ids, base, target, weights, gradient), gradient

        start = np.zeros((self.n_classes, features.shape[1]), dtype=np.float32)
        curvature = np.outer(self._spread(rows), np.square(features).mean(axis=0)).astype(np.float32)
        return minimized(loss, start, self.penalties, LIST_ITERATIONS, LIST_TOLERANCE, curvature)

    def _spread(self, rows: AnyArray) -> FloatArray:
        """Return the sum of p(1 − p) over some rows for each class, as the solver assumes it, from the base scores."""
        ids, real = self.ids[rows], self.ids[rows] >= 0
        shares = softmax(np.where(real, self.base[rows], -np.inf))
        spread: FloatArray = np.zeros(self.n_classes)
        np.add.at(spread, ids[real], (LIST_CURVATURE * self.weights[rows, None] * shares * (1.0 - shares))[real])
        return spread


@dataclass(frozen=True, eq=False)
class SoftmaxRows:
    """Multinomial logistic regression over all classes.

    Attributes
    ----------
    features : ndarray of float32 (n, d)
    labels : ndarray of int (n,)
    weights : ndarray (n,)
    n_classes : int
    penalty : float
        λ of λ/2·‖W‖², in rows.
    start : ndarray (K, d) or None
        Where the solver starts.  It must not depend on labels of the rows to predict.
    moments : ndarray (d,) or None
        Mean squares of the features, if these are uncorrelated.  The solver then needs fewer iterations.
    """

    features: AnyArray
    labels: IntArray
    weights: FloatArray
    n_classes: int
    penalty: float
    start: AnyArray | None = None
    moments: AnyArray | None = None

    def fit(self, rows: AnyArray) -> AnyArray:
        """Return W (1, K, d) fitted on some rows."""
        # Other rows get weight 0, because a copy of some rows of wide features would need much memory.
        labels, weights = self.labels, np.zeros(len(self.labels))
        weights[rows] = self.weights[rows]
        blocks = [block for block in row_blocks(len(labels), ROWS_PER_BLOCK) if weights[block].any()]

        def loss(matrix: AnyArray) -> tuple[float, AnyArray]:
            total, gradient = 0.0, np.zeros_like(matrix)
            for block in blocks:
                features = self.features[block]
                value, residuals = _softmax_loss(features @ matrix.T, labels[block], weights[block])
                total += value
                gradient += residuals.T @ features
            return total, gradient

        if self.start is None:
            start, iterations = np.zeros((self.n_classes, self.features.shape[1]), dtype=np.float32), MAX_ITERATIONS
        else:
            start, iterations = self.start, FURTHER_ITERATIONS
        curvature = None
        if self.moments is not None:
            rows_of_class = np.bincount(labels, weights, minlength=self.n_classes)
            curvature = np.float32(CURVATURE) * np.outer(rows_of_class, self.moments).astype(np.float32)
        return minimized(loss, start, (self.penalty,), iterations, TOLERANCE, curvature)


def cross_fitted(
    fit: Fit, features: AnyArray, ids: IntArray, groups: IntArray | None, further: AnyArray | None = None
) -> tuple[AnyArray, FloatArray]:
    """Fit on all rows, and predict the first rows by fits without their fold.  Folds keep groups whole.

    Parameters
    ----------
    fit : callable
        Takes indices of rows, and returns matrices (c, K, d).
    features : ndarray of float32 (n, d)
        Features of the rows to predict.
    ids : ndarray of int (n, k)
        The classes to predict for each row, −1 on padding at the end of a row.
    groups : ndarray of int (n,) or None
    further : ndarray of int, optional
        Indices of rows that are part of every fit.

    Returns
    -------
    matrices : ndarray of float32 (c, K, d)
    predictions : ndarray (n, k, c)
    """
    always = np.zeros(0, dtype=np.int64) if further is None else further
    units = len(ids) if groups is None else int(groups.max()) + 1
    parts = list(fold_rows(group_folds(len(ids), groups, min(FOLDS, units), seed=0)))
    best_kernels()  # load them before several threads do

    def fit_without(which: slice) -> AnyArray:
        if which.start == len(parts):
            return fit(np.concatenate([np.arange(len(ids)), always]))
        train, test = parts[which.start]
        return np.stack(
            [list_scores(features[test], matrix, ids[test]) for matrix in fit(np.concatenate([train, always]))], axis=2
        )

    fits = map_row_blocks(fit_without, [slice(number, number + 1) for number in range(len(parts) + 1)])
    predictions = np.zeros((*ids.shape, len(fits[-1])))
    for (_, test), predicted in zip(parts, fits, strict=False):
        predictions[test] = predicted
    return fits[-1], predictions


def list_scores(features: AnyArray, matrix: AnyArray, ids: IntArray) -> FloatArray:
    """Return W[y]·x of each candidate, 0 on padding."""
    # Always the compiled kernels, so a fit does not depend on what was loaded before.
    scores: FloatArray = best_kernels().row_dots(features, matrix, ids, (ids >= 0).sum(axis=1))
    return scores


def _softmax_loss(scores: AnyArray, labels: IntArray, weights: FloatArray) -> tuple[float, AnyArray]:
    """Return the weighted negative log-likelihood, and its derivatives by the scores, which it replaces."""
    rows = np.arange(len(labels))
    scores -= scores.max(axis=1, keepdims=True)
    labelled = scores[rows, labels].astype(np.float64)
    shares = np.exp(scores, out=scores)
    total = shares.sum(axis=1)
    shares *= (weights / total).astype(np.float32)[:, None]
    shares[rows, labels] -= weights.astype(np.float32)
    return float(weights @ (np.log(total) - labelled)), shares
