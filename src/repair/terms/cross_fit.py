"""Ridge regression whose predictions for its own rows come from the other rows.

In folds, not row by row: without row i the mean of the others is lower whenever the label of i is
higher, so a prediction that leaves out only its own row gives the label away, and the fit after it
would learn to read it backwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.folds import group_folds
from repair.kernels import best_kernels
from repair.parallel import map_row_blocks

__all__ = ["Features", "RidgeRows", "dense_codes", "mixed"]

#: Rows looked at together: bounds the arrays in between.
ROWS_PER_BLOCK = 2048
FOLDS = 5
#: Each fold's sums are taken in so many parts, so that threads share them evenly.
PARTS = 2


class Features(Protocol):
    """Rows of features, as an array or computed when asked for."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d)."""
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
        The entries of each row's target that are not zero; id −1 is none.
    n_targets : int
    weights : ndarray (n,)
    penalties : tuple of float
        One regression for each.
    """

    features: Features
    target_ids: IntArray
    target_values: FloatArray
    n_targets: int
    weights: FloatArray
    penalties: tuple[float, ...]

    def cross_fitted(self, own: int, groups: IntArray | None, wanted: IntArray) -> tuple[AnyArray, FloatArray]:
        """Fit on all rows; predict the first `own` rows by fits without their fold, whole groups together.

        Parameters
        ----------
        own : int
        groups : ndarray of int (own,) or None
        wanted : ndarray of int (own, k)
            Which targets to predict for each row; −1, only at the end of a row, gives 0.

        Returns
        -------
        coefficients : ndarray of float32 (number of penalties, n_targets, d)
        predictions : ndarray (own, k, number of penalties)
        """
        best_kernels()  # loaded before threads ask for them
        units = own if groups is None else int(groups.max()) + 1
        folds = group_folds(own, groups, min(FOLDS, units), seed=0)
        parts = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
        sums = self._sums([*parts, np.arange(own, len(self.weights))])
        predictions = np.zeros((*wanted.shape, len(self.penalties)))

        def fit_without(which: slice) -> list[AnyArray]:
            left_out = which.start if which.start < len(parts) else -1
            found = self._solve([one for place, one in enumerate(sums) if place != left_out])
            if left_out < 0:
                return found
            self._predict(found, parts[left_out], wanted, predictions)
            return []

        coefficients = map_row_blocks(fit_without, [slice(one, one + 1) for one in range(len(parts) + 1)])[-1]
        return np.stack(coefficients), predictions

    def _sums(self, parts: Sequence[AnyArray]) -> list[tuple[FloatArray, AnyArray]]:
        """Return X'WX and Y'WX over the rows of each part."""
        pieces = [piece for part in parts for piece in np.array_split(part, PARTS)]
        found = map_row_blocks(
            lambda which: self._sums_of(pieces[which.start]), [slice(one, one + 1) for one in range(len(pieces))]
        )
        return [_added(found[first : first + PARTS]) for first in range(0, len(found), PARTS)]

    def _sums_of(self, rows: AnyArray) -> tuple[FloatArray, AnyArray]:
        import scipy.sparse

        size, per_row = self.features.shape[1], self.target_ids.shape[1]
        gram, moments = np.zeros((size, size)), np.zeros((self.n_targets, size), dtype=np.float32)
        for start in range(0, len(rows), ROWS_PER_BLOCK):
            part = rows[start : start + ROWS_PER_BLOCK]
            roots = np.sqrt(self.weights[part, None]).astype(np.float32)
            block, ids = self.features[part] * roots, self.target_ids[part]
            gram += block.T @ block  # one array times itself: half the work
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
        # The inverse in full precision; the many targets can do with less.
        return [moments @ _inverse(gram, one).astype(np.float32) for one in self.penalties]

    def _predict(self, coefficients: list[AnyArray], rows: AnyArray, wanted: IntArray, out: FloatArray) -> None:
        """Write the predictions of some rows."""
        kernels = best_kernels()  # always the same ones: a fit has the same bits whatever was done before
        for start in range(0, len(rows), ROWS_PER_BLOCK):
            part = rows[start : start + ROWS_PER_BLOCK]
            block, ids = self.features[part], wanted[part]
            lengths = (ids >= 0).sum(axis=1)
            for place, one in enumerate(coefficients):
                out[part, :, place] = kernels.row_dots(block, one, ids, lengths)


def _inverse(gram: FloatArray, penalty: float) -> FloatArray:
    """Return the inverse of a Gram matrix with a penalty on its diagonal, by Cholesky's method."""
    from scipy.linalg import lapack

    penalised = gram.copy()
    np.fill_diagonal(penalised, penalised.diagonal() + penalty)
    factor, failed = lapack.dpotrf(penalised.T, lower=True)
    if failed:  # rounding has made it indefinite
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


def dense_codes(groups: IntArray) -> IntArray:
    """Return group codes numbered from 0 without gaps, as folds want them."""
    return np.unique(groups, return_inverse=True)[1].astype(np.int32)


def mixed(matrices: AnyArray, weights: Sequence[float] | FloatArray) -> tuple[AnyArray, float]:
    """Return the weighted mean of several matrices as one (in an array of one), and the total weight.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.terms.cross_fit import mixed
    >>> mixed(np.array([[[1.0]], [[3.0]]]), np.array([2.0, 2.0]))
    (array([[[2.]]], dtype=float32), 4.0)
    """
    total = float(np.abs(weights).sum())
    shares = np.asarray(weights) / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
    mean: AnyArray = np.zeros(matrices.shape[1:])
    for share, matrix in zip(shares, matrices, strict=True):
        mean = mean + share * matrix
    return mean[np.newaxis].astype(np.float32), total
