"""Discriminant: Gaussian discriminant analysis of the embeddings of all labelled rows.

Every class has its own mean μ and all classes share one covariance Σ, so the score of a class is linear in the
embedding: w = Σ⁻¹μ and b = −½·μᵀΣ⁻¹μ.  A few rows are enough for a mean, so it is at its best for rare
classes, for which regressions have too few rows (Wang et al., "A hard-to-beat baseline for training-free CLIP-based
adaptation", ICLR 2024, use it alone).  Σ is shrunk towards a multiple of the identity, by several amounts, and the
fit mixes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.data.calibration_set import CalibrationSet
from repair.stats.row_weights import renumbered
from repair.terms.learned.cross_fitted_logit import cross_fitted
from repair.terms.learned.head import CONSTANT, Head, LabelledRows
from repair.terms.options import ExtendedOptions
from repair.terms.registration import register_term

__all__ = ["Discriminant"]

#: Shares of the identity in the shrunken covariance.
SHRINKAGES = (0.03, 0.3, 0.9)
#: Rows whose products are summed at once, which limits the size of temporary arrays.
ROWS_PER_BLOCK = 2048
#: Covariances with a smaller mean variance than this are replaced by the identity: no class has two different rows.
SMALLEST_VARIANCE = 1e-9


@register_term
@dataclass(frozen=True, eq=False)
class Discriminant(Head):
    """The candidate's score in a Gaussian discriminant analysis of the row's embedding.

    Attributes
    ----------
    matrices : ndarray of float32 (number of shrinkages, K, d + 1)
        Weights for each shrinkage.  After the fit there is only one, their weighted mean.
    """

    name: str = "discriminant"
    learns: ClassVar[bool] = True

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> tuple[Self, FloatArray]:
        """Train on all labelled rows, and return the covered rows' columns, each from a fit without the row's fold."""
        labelled, n_classes = LabelledRows.of(rows), rows.table.n_classes
        labels = np.where(labelled.kept, labelled.labels, n_classes).astype(np.int32)  # ignored rows: no class
        n_own, every = len(labelled.own), np.arange(len(labels))
        everything = Moments.of(labelled.features, labels, n_classes, every)

        def fit(used: AnyArray) -> AnyArray:
            left_out = np.setdiff1d(every, used, assume_unique=True)
            return everything.minus(Moments.of(labelled.features, labels, n_classes, left_out)).matrices()

        groups = None if rows.groups is None else renumbered(rows.groups[labelled.own])
        ids = rows.shortlist.ids[labelled.own]
        matrices, columns = cross_fitted(fit, labelled.features[:n_own], ids, groups, every[n_own:])
        return cls(matrices), columns[rows.covered[labelled.own]]


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over rows from which means and covariance follow.

    They can be subtracted, so a fit without one fold costs little more than the sums of that fold.

    Attributes
    ----------
    counts : ndarray (K,)
        Rows per class.
    sums : ndarray (K, d)
        Sums of the embeddings of each class.
    squares : ndarray (d, d)
        Sum of the embeddings' outer products.
    """

    counts: FloatArray
    sums: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, features: AnyArray, labels: IntArray, n_classes: int, rows: AnyArray) -> Moments:
        """Return the sums of some rows.  The last feature, a constant, and rows labelled K are left out."""
        import scipy.sparse

        kept = rows[labels[rows] < n_classes]
        width = features.shape[1] - 1
        sums, squares = np.zeros((n_classes, width)), np.zeros((width, width))
        for start in range(0, len(kept), ROWS_PER_BLOCK):
            part = kept[start : start + ROWS_PER_BLOCK]
            # In float64: the covariance is what is left after the means are taken out, which can be very little.
            block, ends, ones = features[part, :width].astype(np.float64), np.arange(len(part) + 1), np.ones(len(part))
            sums += scipy.sparse.csr_matrix((ones, labels[part], ends), shape=(len(part), n_classes)).T @ block
            squares += block.T @ block
        return cls(np.bincount(labels[kept], minlength=n_classes).astype(np.float64), sums, squares)

    def minus(self, other: Moments) -> Moments:
        """Return the sums without some of the rows."""
        return Moments(self.counts - other.counts, self.sums - other.sums, self.squares - other.squares)

    def matrices(self) -> AnyArray:
        """Return the weights (number of shrinkages, K, d + 1), which sum to 0 over the classes that occur.

        A constant per row does not change the order of the candidates, so classes without rows get
        zeros, the mean of the others.
        """
        from scipy.linalg import cho_factor, cho_solve

        occurs = self.counts > 0
        means = self.sums[occurs] / self.counts[occurs, None]
        degrees = max(self.counts.sum() - occurs.sum(), 1.0)
        within = (self.squares - (means * self.counts[occurs, None]).T @ means) / degrees
        width = len(within)
        variance = float(np.trace(within)) / width
        if variance < SMALLEST_VARIANCE:
            within, variance = np.zeros_like(within), 1.0
        found = np.zeros((len(SHRINKAGES), len(self.counts), width + 1), dtype=np.float32)
        for matrix, share in zip(found, SHRINKAGES, strict=True):
            shrunken = (1.0 - share) * within
            np.fill_diagonal(shrunken, shrunken.diagonal() + share * variance)
            weights = cho_solve(cho_factor(shrunken, lower=True, overwrite_a=True), means.T).T
            # The bias is the weight of the constant feature.
            bias = -0.5 * np.einsum("ij,ij->i", weights, means) / CONSTANT
            both = np.column_stack([weights, bias])
            matrix[occurs] = both - both.mean(axis=0)
        return found
