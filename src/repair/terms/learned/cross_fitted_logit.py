"""Cross-fitted logistic regressions: predictions for their own rows come from the other folds.

They are solved by L-BFGS.  Their columns enter the convex fit, which weights and shrinks them, so a rough solution is
enough.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair.kernels import best_kernels
from repair.stats.folds import fold_rows, group_folds

__all__ = ["ListRows", "SoftmaxRows", "cross_fitted"]

FOLDS = 5
#: Largest number of iterations from zero and from a good start, and the relative decrease of the loss at which L-BFGS
#: stops.
MAX_ITERATIONS, FURTHER_ITERATIONS, TOLERANCE = 50, 12, 1e-6

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
        real, weights, every = ids >= 0, self.weights[rows], np.arange(len(target))

        def loss(matrix: AnyArray) -> tuple[float, AnyArray]:
            scores = np.where(real, base + list_scores(features, matrix, ids), -np.inf)
            value, residuals = _softmax_loss(scores, target, weights, every)
            return value, _sums_by_class(residuals, ids, features, self.n_classes)

        return _path(loss, (self.n_classes, features.shape[1]), self.penalties, None)


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
    """

    features: AnyArray
    labels: IntArray
    weights: FloatArray
    n_classes: int
    penalty: float
    start: AnyArray | None = None

    def fit(self, rows: AnyArray) -> AnyArray:
        """Return W (1, K, d) fitted on some rows."""
        features, labels, weights = self.features[rows], self.labels[rows], self.weights[rows]
        every = np.arange(len(labels))

        def loss(matrix: AnyArray) -> tuple[float, AnyArray]:
            value, residuals = _softmax_loss(features @ matrix.T, labels, weights, every)
            return value, residuals.T @ features

        return _path(loss, (self.n_classes, features.shape[1]), (self.penalty,), self.start)


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
    matrices = fit(np.concatenate([np.arange(len(ids)), always]))
    predictions = np.zeros((*ids.shape, len(matrices)))
    units = len(ids) if groups is None else int(groups.max()) + 1
    for train, test in fold_rows(group_folds(len(ids), groups, min(FOLDS, units), seed=0)):
        for number, matrix in enumerate(fit(np.concatenate([train, always]))):
            predictions[test, :, number] = list_scores(features[test], matrix, ids[test])
    return matrices, predictions


def list_scores(features: AnyArray, matrix: AnyArray, ids: IntArray) -> FloatArray:
    """Return W[y]·x of each candidate, 0 on padding."""
    # Always the compiled kernels, so a fit does not depend on what was loaded before.
    scores: FloatArray = best_kernels().row_dots(features, matrix, ids, (ids >= 0).sum(axis=1))
    return scores


def _softmax_loss(scores: AnyArray, target: IntArray, weights: FloatArray, every: AnyArray) -> tuple[float, AnyArray]:
    """Return the weighted negative log-likelihood, and its derivatives by the scores as float32."""
    scores = scores - scores.max(axis=1, keepdims=True)
    labelled = scores[every, target].astype(np.float64)
    shares = np.exp(scores, out=scores)
    total = shares.sum(axis=1)
    shares /= total[:, None]
    shares[every, target] -= 1.0
    shares *= weights[:, None]
    return float(weights @ (np.log(total) - labelled)), shares.astype(np.float32, copy=False)


def _sums_by_class(values: AnyArray, ids: IntArray, features: AnyArray, n_classes: int) -> AnyArray:
    """Return the sums (K, d) of values[i, c]·features[i] over the candidates c of each class."""
    import scipy.sparse

    real: BoolArray = ids >= 0
    ends = np.arange(len(ids) + 1) * ids.shape[1]
    placed = scipy.sparse.csr_matrix(
        (np.where(real, values, np.float32(0.0)).ravel(), np.maximum(ids, 0).ravel(), ends), shape=(len(ids), n_classes)
    )
    sums: AnyArray = placed.T @ features
    return sums


def _path(
    loss: Callable[[AnyArray], tuple[float, AnyArray]],
    shape: tuple[int, int],
    penalties: tuple[float, ...],
    start: AnyArray | None,
) -> AnyArray:
    """Return the solutions for all penalties.  Each starts from the one before."""
    from scipy.optimize import minimize

    current = np.zeros(shape[0] * shape[1]) if start is None else start.ravel().astype(np.float64)
    iterations, solutions = MAX_ITERATIONS if start is None else FURTHER_ITERATIONS, []
    for penalty in penalties:

        def objective(parameters: FloatArray, penalty: float = penalty) -> tuple[float, FloatArray]:
            value, gradient = loss(parameters.reshape(shape).astype(np.float32))
            on_parameters = penalty * parameters
            return value + 0.5 * float(parameters @ on_parameters), gradient.ravel() + on_parameters

        options = {"maxiter": iterations, "maxcor": 8, "ftol": TOLERANCE}
        current = minimize(objective, current, jac=True, method="L-BFGS-B", options=options).x
        solutions.append(current.reshape(shape).astype(np.float32))
    return np.stack(solutions)
