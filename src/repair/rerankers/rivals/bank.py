"""The bank of labelled vectors, which is searched for neighbours of other rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.rerankers.rivals.rows import Rows

__all__ = ["Bank", "class_votes"]

#: Cosines per block of queries.
BLOCK = 1 << 24
FAR = np.float32(-4.0)


@dataclass(frozen=True, eq=False)
class Bank:
    """Vectors of length 1 with labels, sorted by label.

    Attributes
    ----------
    x : ndarray of float32 (m, d)
    y : ndarray of int (m,)
    folds : ndarray of int (m,)
        Fold of each calibration row, −1 for reference rows.
    n_classes : int
    """

    x: AnyArray
    y: IntArray
    folds: IntArray
    n_classes: int

    @classmethod
    def of(cls, rows: Rows) -> Bank:
        """Return all labelled rows: the reference rows and the calibration rows."""
        folds = np.zeros(len(rows), dtype=np.int32) if rows.folds is None else rows.folds
        return cls.build(rows.vectors(), rows.y, folds, rows.n_classes, rows.reference_x, rows.reference_y)

    @classmethod
    def build(
        cls,
        x: AnyArray,
        y: IntArray,
        folds: IntArray,
        n_classes: int,
        reference_x: AnyArray | None = None,
        reference_y: IntArray | None = None,
    ) -> Bank:
        """Join calibration and reference rows."""
        if reference_x is not None and reference_y is not None:
            x, y = np.concatenate([reference_x, x]), np.concatenate([reference_y, y])
            folds = np.concatenate([np.full(len(reference_y), -1, dtype=np.int32), folds])
        order = np.argsort(y, kind="stable")
        return cls(np.ascontiguousarray(x[order], dtype=np.float32), y[order], folds[order], n_classes)

    def balanced_by(self, exponent: float) -> FloatArray:
        """Return (m / rows of the class)^exponent, scaled to a mean of 1 over rows.  A class without rows gets 1."""
        counts = np.maximum(np.bincount(self.y, minlength=self.n_classes), 1).astype(np.float64)
        factors = counts**-exponent
        result: FloatArray = factors / factors[self.y].mean()
        return result

    def nearest(self, x: AnyArray, k: int, folds: IntArray | None = None) -> tuple[AnyArray, IntArray]:
        """Return the cosines (n, k) and labels (n, k) of the nearest rows, nearest first.

        With `folds`, calibration rows of the query's own fold are left out.  Missing neighbours have label −1.
        """
        k = min(k, len(self.y))
        near, labels = np.empty((len(x), k), dtype=np.float32), np.empty((len(x), k), dtype=np.int32)
        for rows, cosines in self._cosines(x, folds):
            best = np.argpartition(cosines, -k, axis=1)[:, -k:]
            values = np.take_along_axis(cosines, best, axis=1)
            order = np.argsort(-values, axis=1, kind="stable")
            near[rows] = np.take_along_axis(values, order, axis=1)
            found = self.y[np.take_along_axis(best, order, axis=1)]
            labels[rows] = np.where(near[rows] > FAR, found, -1)
        return near, labels

    def affinities(self, x: AnyArray, betas: Sequence[float], folds: IntArray | None = None) -> AnyArray:
        """Return Σ e^(−β(1−cos)) over the rows of each class, shape (betas, n, K).

        Each β must be twice the one before.
        """
        present, starts = np.unique(self.y, return_index=True)
        result = np.zeros((len(betas), len(x), self.n_classes), dtype=np.float32)
        for rows, cosines in self._cosines(x, folds):
            kernel = np.where(cosines > FAR, np.exp(np.float32(betas[0]) * (cosines - np.float32(1.0))), np.float32(0))
            for at in range(len(betas)):
                if at:
                    kernel *= kernel
                block = result[at, rows]
                block[:, present] = np.add.reduceat(kernel, starts, axis=1)
        return result

    def _cosines(self, x: AnyArray, folds: IntArray | None) -> Iterator[tuple[slice, AnyArray]]:
        step = max(1, BLOCK // max(1, len(self.y)))
        turned = np.ascontiguousarray(self.x.T)
        for start in range(0, len(x), step):
            rows = slice(start, start + step)
            cosines = np.asarray(x[rows], dtype=np.float32) @ turned
            if folds is not None:
                cosines[(self.folds == folds[rows, None]) & (self.folds >= 0)] = FAR
            yield rows, cosines


def class_votes(labels: IntArray, weights: AnyArray, n_classes: int) -> FloatArray:
    """Return the sum of the weights of each row and class, shape (n, K).  Labels of −1 are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.rerankers.rivals.bank import class_votes
    >>> class_votes(np.array([[1, 1, 0], [2, -1, 2]]), np.ones((2, 3)), 3).tolist()
    [[1.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    """
    rows = np.arange(len(labels))[:, None]
    known = labels >= 0
    cells = (rows * n_classes + labels)[known]
    sums = np.bincount(cells, np.asarray(weights, dtype=np.float64)[known], minlength=len(labels) * n_classes)
    return sums.reshape(len(labels), n_classes).astype(np.float64, copy=False)
