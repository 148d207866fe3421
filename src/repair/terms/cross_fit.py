"""Ridge regression whose predictions for its own rows come from the other rows.

In folds, not row by row: without row i the mean of the others is lower whenever the label of i is
higher, so a prediction that leaves out only its own row gives the label away, and the fit after it
would learn to read it backwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.folds import group_folds

__all__ = ["RidgeRows", "dense_codes", "mixed"]

#: Rows looked at together: bounds the (rows, K) arrays in between.
ROWS_PER_BLOCK = 1024
FOLDS = 10


@dataclass(frozen=True, eq=False)
class RidgeRows:
    """Weighted rows of ridge regressions of many targets on the same features.

    Attributes
    ----------
    features : ndarray or scipy sparse matrix (n, d)
    target_ids, target_values : ndarray (n, c)
        The entries of each row's target that are not zero; id −1 is none.
    n_targets : int
    weights : ndarray (n,)
    penalties : tuple of float
        One regression for each.
    """

    features: Any
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
            Which targets to predict for each row; −1 gives 0.

        Returns
        -------
        coefficients : ndarray of float32 (number of penalties, d, n_targets)
        predictions : ndarray (own, k, number of penalties)
        """
        gram, moments = self._sums(np.arange(len(self.weights)))
        coefficients = np.stack([one.astype(np.float32) for one in self._solve(gram, moments)])
        predictions = np.zeros((*wanted.shape, len(self.penalties)))
        units = own if groups is None else int(groups.max()) + 1
        folds = group_folds(own, groups, min(FOLDS, units), seed=0)
        for fold in range(int(folds.max()) + 1):
            rows = np.flatnonzero(folds == fold)
            own_gram, own_moments = self._sums(rows)
            for place, one in enumerate(self._solve(gram - own_gram, moments - own_moments)):
                predictions[rows, :, place] = self._predict(one, rows, wanted[rows])
        return coefficients, np.where((wanted >= 0)[:, :, None], predictions, 0.0)

    def _sums(self, rows: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Return X'WX and X'WY over some rows."""
        size = self.features.shape[1]
        gram, moments = np.zeros((size, size)), np.zeros((size, self.n_targets))
        for start in range(0, len(rows), ROWS_PER_BLOCK):
            part = rows[start : start + ROWS_PER_BLOCK]
            block = self._dense(part)
            weighted = block * self.weights[part, None]
            gram += weighted.T @ block
            self._add_moments(moments, weighted, part)
        return gram, moments

    def _add_moments(self, moments: FloatArray, weighted: FloatArray, rows: AnyArray) -> None:
        if self.target_ids.shape[1] > 1:
            dense = np.zeros((len(rows), self.n_targets + 1))  # the last column takes what −1 points at
            np.put_along_axis(dense, self.target_ids[rows], self.target_values[rows], axis=1)
            moments += weighted.T @ dense[:, :-1]
            return
        # One label a row: add up the rows of each class instead of multiplying by zeros.
        labels = self.target_ids[rows, 0]
        order = np.argsort(labels, kind="stable")
        found, starts = np.unique(labels[order], return_index=True)
        values = weighted[order] * self.target_values[rows][order]
        moments[:, found] += np.add.reduceat(values, starts, axis=0).T

    def _solve(self, gram: FloatArray, moments: FloatArray) -> list[FloatArray]:
        import scipy.linalg

        ridge = np.eye(len(gram))
        return [scipy.linalg.solve(gram + one * ridge, moments, assume_a="pos") for one in self.penalties]

    def _predict(self, coefficients: FloatArray, rows: AnyArray, wanted: IntArray) -> FloatArray:
        found = np.empty(wanted.shape)
        for start in range(0, len(rows), ROWS_PER_BLOCK):
            part = slice(start, start + ROWS_PER_BLOCK)
            every = self._dense(rows[part]) @ coefficients
            found[part] = np.take_along_axis(every, np.maximum(wanted[part], 0), axis=1)
        return found

    def _dense(self, rows: AnyArray) -> FloatArray:
        """Return the features of some rows as a dense float64 array."""
        block = self.features[rows]
        found: FloatArray = block.toarray() if hasattr(block, "toarray") else np.asarray(block, dtype=np.float64)
        return found


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
