"""GDA: Gaussian discriminant analysis of the embeddings, in an ensemble with the base.

w_y = Σ⁻¹μ_y and b_y = log π_y − ½·μ_yᵀΣ⁻¹μ_y with a shrunk covariance Σ that all classes share, and
θ₀·z + θ₁·(W·x + b) as the final scores (Wang et al., "A hard-to-beat baseline for training-free CLIP-based
adaptation", ICLR 2024).  Means and covariance come from all labelled rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.rerankers.rivals.components import principal_components
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.softmax import log_loss, log_softmax, mixed, mixture_weights

__all__ = ["Gda"]

SHRINKAGES = (0.03, 0.1, 0.3, 0.6, 0.9)
PRIORS = ("equal", "counts")
#: Wider embeddings are reduced to this many principal components.
WIDTH = 384


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums from which means and covariance follow.  They can be subtracted, so folds cost little."""

    counts: FloatArray
    sums: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, x: AnyArray, y: IntArray, n_classes: int) -> Moments:
        """Return the sums of some rows."""
        values = np.asarray(x, dtype=np.float32)
        order = np.argsort(y, kind="stable")
        present, starts = np.unique(y[order], return_index=True)
        sums = np.zeros((n_classes, x.shape[1]))
        if len(y):
            sums[present] = np.add.reduceat(values[order].astype(np.float64), starts, axis=0)
        return cls(np.bincount(y, minlength=n_classes).astype(np.float64), sums, (values.T @ values).astype(np.float64))

    def minus(self, other: Moments) -> Moments:
        """Return the sums without some of the rows."""
        return Moments(self.counts - other.counts, self.sums - other.sums, self.squares - other.squares)

    def plus(self, other: Moments) -> Moments:
        """Return the sums with more rows."""
        return Moments(self.counts + other.counts, self.sums + other.sums, self.squares + other.squares)


@dataclass(frozen=True, eq=False)
class Discriminant:
    """The class means and the eigenvectors of their common covariance, for any shrinkage."""

    means: FloatArray
    counts: FloatArray
    values: FloatArray
    vectors: FloatArray

    @classmethod
    def of(cls, moments: Moments) -> Discriminant:
        """Return the means and the covariance.  A class without rows has the mean of all rows."""
        counts, total = moments.counts, moments.counts.sum()
        overall = moments.sums.sum(axis=0) / total
        means = np.where(counts[:, None] > 0, moments.sums / np.maximum(counts, 1.0)[:, None], overall)
        within = (moments.squares - (means * counts[:, None]).T @ means) / max(total - (counts > 0).sum(), 1.0)
        values, vectors = np.linalg.eigh(within)
        return cls(means, counts, np.maximum(values, 0.0), vectors)

    def scores(self, x: AnyArray, shrinkage: float, prior: str) -> AnyArray:
        """Return W·x + b.  A class without rows gets the mean of the row's other scores."""
        spread = (1.0 - shrinkage) * self.values + shrinkage * self.values.mean() + 1e-9
        whitened = self.means @ (self.vectors / np.sqrt(spread))
        weights = (whitened / np.sqrt(spread)) @ self.vectors.T
        shares = (self.counts + 1.0) / (self.counts + 1.0).sum() if prior == "counts" else np.ones(len(self.counts))
        bias = np.log(shares) - 0.5 * (whitened**2).sum(axis=1)
        result: AnyArray = np.asarray(x, dtype=np.float32) @ weights.T.astype(np.float32) + bias.astype(np.float32)
        empty = self.counts == 0
        if empty.any():
            result[:, empty] = result[:, ~empty].mean(axis=1, keepdims=True)
        return result


@dataclass(frozen=True, eq=False)
class GdaModel:
    """Base scores mixed with those of the discriminant analysis."""

    discriminant: Discriminant
    basis: AnyArray | None
    parameters: Parameters

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the weighted sum of both."""
        assert x is not None
        reduced = x if self.basis is None else x @ self.basis
        gda = self.discriminant.scores(reduced, float(self.parameters["shrinkage"]), self.parameters["prior"])
        return mixed([log_softmax(z), log_softmax(gda)], self.parameters["mixture"])


class Gda(ScoreRival):
    """Gaussian discriminant analysis of the embeddings, mixed with the base (Wang et al., 2024)."""

    mode_name = "gda"
    reads_embeddings = True

    def tune(self, rows: Rows) -> Tuned:
        """Choose the shrinkage and the prior, and the weights of both parts by a conditional logit."""
        if rows.folds is None:
            return Tuned({"shrinkage": 0.9, "prior": "equal", "mixture": [1.0, 0.0]}, rows.z)
        basis = _basis(rows)
        x = rows.vectors() if basis is None else rows.vectors() @ basis
        everything = _moments(rows, basis)
        settings, n_folds = list(product(SHRINKAGES, PRIORS)), int(rows.folds.max()) + 1
        scored = np.empty((len(settings), len(rows), rows.n_classes), dtype=np.float32)
        for fold in range(n_folds):
            held_out = rows.folds == fold
            left = everything.minus(Moments.of(x[held_out], rows.y[held_out], rows.n_classes))
            discriminant = Discriminant.of(left)
            for at, (shrinkage, prior) in enumerate(settings):
                scored[at, held_out] = discriminant.scores(x[held_out], shrinkage, prior)
        best, lowest, base = Tuned({}, rows.z), np.inf, log_softmax(rows.z)
        for (shrinkage, prior), column in zip(settings, scored, strict=True):
            columns = [base, log_softmax(column)]
            theta = mixture_weights(columns, rows.y, rows.weights)
            scores = mixed(columns, theta)
            loss = log_loss(scores, rows.y, rows.weights)
            if loss < lowest:
                best = Tuned({"shrinkage": shrinkage, "prior": prior, "mixture": theta.tolist()}, scores)
                lowest = loss
        return best

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Estimate the means and the covariance from all labelled rows."""
        basis = _basis(rows)
        return GdaModel(Discriminant.of(_moments(rows, basis)), basis, parameters)


def _basis(rows: Rows) -> AnyArray | None:
    """Return the principal components of the labelled rows if the embeddings are wide, without labels in use."""
    return principal_components(rows, WIDTH)


def _moments(rows: Rows, basis: AnyArray | None) -> Moments:
    x = rows.vectors() if basis is None else rows.vectors() @ basis
    moments = Moments.of(x, rows.y, rows.n_classes)
    if rows.reference_x is None or rows.reference_y is None:
        return moments
    reference = rows.reference_x if basis is None else rows.reference_x @ basis
    return moments.plus(Moments.of(reference, rows.reference_y, rows.n_classes))
