"""Cross-fitted ridge regression: predictions for its own rows come from the other folds.

Leaving out single rows instead of folds does not work.  Without row i, the mean of the other rows is
lower whenever the target of i is higher, so a leave-one-out prediction reveals the label, and the
fit that uses it would learn to read the label from it with the sign reversed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.parallel import map_row_blocks
from repair.kernels import best_kernels
from repair.stats.folds import fold_rows, group_folds

__all__ = ["Features", "RidgeRows", "mixed"]

#: Rows per block, which limits the size of temporary arrays.
ROWS_PER_BLOCK = 2048
FOLDS = 5
#: The sums of each fold are computed in this many parts, so the work is divided evenly between threads.
PARTS = 2


class Features(Protocol):
    """Rows of features, stored as an array or computed on demand."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows n and of features d."""
        ...

    def __getitem__(self, rows: AnyArray) -> AnyArray:
        """Return some rows as float32."""
        ...


@dataclass(frozen=True, eq=False)
class RidgeRows:
    """Weighted rows of ridge regressions of many targets on the same features.

    Attributes
    ----------
    features : Features (n, d)
    target_ids, target_values : ndarray (n, c)
        The nonzero targets of each row.  Entries with id −1 are ignored.
    n_targets : int
    weights : ndarray (n,)
        Row weights.
    penalties : tuple of float
        Ridge penalties, one regression for each.
    """

    features: Features
    target_ids: IntArray
    target_values: FloatArray
    n_targets: int
    weights: FloatArray
    penalties: tuple[float, ...]

    def cross_fitted(
        self, n_predicted: int, groups: IntArray | None, predicted_ids: IntArray
    ) -> tuple[AnyArray, FloatArray]:
        """Fit on all rows, and predict the first rows by fits without their fold.

        Folds keep groups whole.

        Parameters
        ----------
        n_predicted : int
            Number of rows to predict.
        groups : ndarray of int (n_predicted,) or None
            Group codes of these rows.
        predicted_ids : ndarray of int (n_predicted, k)
            The targets to predict for each row.  The prediction is 0 for −1, which may only be at
            the end of a row.

        Returns
        -------
        coefficients : ndarray of float32 (number of penalties, n_targets, d)
        predictions : ndarray (n_predicted, k, number of penalties)
        """
        best_kernels()  # load them before several threads do
        units = n_predicted if groups is None else int(groups.max()) + 1
        folds = group_folds(n_predicted, groups, min(FOLDS, units), seed=0)
        parts = [held_out for _, held_out in fold_rows(folds)]
        sums = self._sums([*parts, np.arange(n_predicted, len(self.weights))])
        predictions = np.zeros((*predicted_ids.shape, len(self.penalties)))

        def fit_without(which: slice) -> list[AnyArray]:
            left_out = which.start if which.start < len(parts) else -1
            coefficients = self._solve([part for number, part in enumerate(sums) if number != left_out])
            if left_out < 0:
                return coefficients
            self._predict(coefficients, parts[left_out], predicted_ids, predictions)
            return []

        fits = map_row_blocks(fit_without, [slice(number, number + 1) for number in range(len(parts) + 1)])
        return np.stack(fits[-1]), predictions

    def _sums(self, parts: Sequence[AnyArray]) -> list[tuple[FloatArray, AnyArray]]:
        """Return X'WX and Y'WX over the rows of each part."""
        pieces = [piece for part in parts for piece in np.array_split(part, PARTS)]
        sums = map_row_blocks(
            lambda which: self._sums_of(pieces[which.start]),
            [slice(number, number + 1) for number in range(len(pieces))],
        )
        return [_added(sums[first : first + PARTS]) for first in range(0, len(sums), PARTS)]

    def _sums_of(self, rows: AnyArray) -> tuple[FloatArray, AnyArray]:
        import scipy.sparse

        size, per_row = self.features.shape[1], self.target_ids.shape[1]
        gram, moments = np.zeros((size, size)), np.zeros((self.n_targets, size), dtype=np.float32)
        for start in range(0, len(rows), ROWS_PER_BLOCK):
            part = rows[start : start + ROWS_PER_BLOCK]
            roots = np.sqrt(self.weights[part, None]).astype(np.float32)
            block, ids = self.features[part] * roots, self.target_ids[part]
            gram += block.T @ block  # numpy needs half the work for an array times its own transpose
            values = np.where(ids >= 0, self.target_values[part], 0.0).astype(np.float32) * roots
            ends = np.arange(len(part) + 1) * per_row
            targets = scipy.sparse.csr_matrix(
                (values.ravel(), np.maximum(ids, 0).ravel(), ends), shape=(len(part), self.n_targets)
            )
            moments += targets.T @ block
        return gram, moments

    def _solve(self, sums: Sequence[tuple[FloatArray, AnyArray]]) -> list[AnyArray]:
        """Return the coefficients (n_targets, d) for each penalty."""
        gram, moments = _added(sums)
        # The inverse is computed in float64.  float32 is precise enough for the many targets.
        return [moments @ _inverse(gram, penalty).astype(np.float32) for penalty in self.penalties]

    def _predict(self, coefficients: list[AnyArray], rows: AnyArray, predicted_ids: IntArray, out: FloatArray) -> None:
        """Write the predictions of some rows."""
        kernels = best_kernels()  # always the same kernels, so a fit does not depend on what was loaded before
        for start in range(0, len(rows), ROWS_PER_BLOCK):
            part = rows[start : start + ROWS_PER_BLOCK]
            block, ids = self.features[part], predicted_ids[part]
            lengths = (ids >= 0).sum(axis=1)
            for number, matrix in enumerate(coefficients):
                out[part, :, number] = kernels.row_dots(block, matrix, ids, lengths)


def _inverse(gram: FloatArray, penalty: float) -> FloatArray:
    """Return the inverse of a Gram matrix plus a penalty on its diagonal, by a Cholesky decomposition."""
    from scipy.linalg import lapack

    penalised = gram.copy()
    np.fill_diagonal(penalised, penalised.diagonal() + penalty)
    factor, failed = lapack.dpotrf(penalised.T, lower=True)
    if failed:  # rounding has made the matrix indefinite
        return np.linalg.pinv(penalised, hermitian=True).astype(np.float64)
    lower = lapack.dpotri(factor, lower=True, overwrite_c=True)[0]  # zero above its diagonal
    inverse: FloatArray = lower + lower.T
    np.fill_diagonal(inverse, lower.diagonal())
    return inverse


def _added(sums: Sequence[tuple[FloatArray, AnyArray]]) -> tuple[FloatArray, AnyArray]:
    gram, moments = sums[0][0].copy(), sums[0][1].copy()
    for more_gram, more_moments in sums[1:]:
        gram += more_gram
        moments += more_moments
    return gram, moments


def mixed(matrices: AnyArray, weights: Sequence[float] | FloatArray) -> tuple[AnyArray, float]:
    """Return the weighted mean of several matrices, and the total weight.

    Parameters
    ----------
    matrices : ndarray (c, K, d)
    weights : array_like (c,)
        Weights of either sign.

    Returns
    -------
    mean : ndarray of float32 (1, K, d)
        The mean, in an array of one matrix.
    total : float
        Sum of the absolute weights.  ``total * mean`` is the weighted sum of the matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.terms.learned.cross_fitted_ridge import mixed
    >>> mixed(np.array([[[1.0]], [[3.0]]]), np.array([2.0, 2.0]))
    (array([[[2.]]], dtype=float32), 4.0)
    """
    total = float(np.abs(weights).sum())
    shares = np.asarray(weights) / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
    mean: AnyArray = np.zeros(matrices.shape[1:])
    for share, matrix in zip(shares, matrices, strict=True):
        mean = mean + share * matrix
    return mean[np.newaxis].astype(np.float32), total
