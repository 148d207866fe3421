"""Nearest labelled rows: kNN interpolation and Tip-Adapter.

kNN interpolation (Khandelwal et al., "Generalization through memorization", ICLR 2020) is
λ·p_kNN + (1−λ)·softmax(z) with p_kNN(y) ∝ Σ 1[y_i = y]·e^(−d_i/T) over the k nearest labelled rows, where d
is 1 − cosine.

Tip-Adapter (Zhang et al., ECCV 2022) is z + α·Σ_i 1[y_i = y]·e^(−β(1−cos(x, x_i))) over all labelled rows.

Both divide the sums by (labelled rows of the class)^γ, with γ chosen too.  γ = 0 is the published form.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.rerankers.rivals.bank import Bank, class_votes
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.softmax import log_loss, log_softmax, mixed, mixture_weights

__all__ = ["KnnInterpolation", "TipAdapter"]

NUMBERS = (4, 16, 64)
WIDTHS = (0.01, 0.03, 0.1, 0.3)
SHARES = tuple(round(0.1 * step, 1) for step in range(10))
BALANCES = (0.0, 0.5, 1.0)
BETAS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True, eq=False)
class KnnModel:
    """Probabilities of the base, interpolated with those of the neighbours."""

    bank: Bank
    n_classes: int
    parameters: Parameters

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return log-probabilities of the mixture."""
        assert x is not None
        near, labels = self.bank.nearest(x, int(self.parameters["k"]))
        votes = _shares(near, labels, self.bank.balanced_by(float(self.parameters["balance"])), self.parameters)
        p = np.exp(log_softmax(z))
        return _interpolated(_neutral(votes, p, self.bank), p, float(self.parameters["share"]))


class KnnInterpolation(ScoreRival):
    """kNN interpolation on embeddings, with all labelled rows as neighbours (Khandelwal et al., 2020)."""

    mode_name = "knn_interpolation"
    reads_embeddings = True

    def tune(self, rows: Rows) -> Tuned:
        """Choose k, the width T, the share λ and the balance γ."""
        bank, p = Bank.of(rows), np.exp(log_softmax(rows.z))
        near, labels = bank.nearest(rows.vectors(), max(NUMBERS), rows.folds)
        at_label, best, lowest = p[np.arange(len(rows)), rows.y], {"k": NUMBERS[0], "share": 0.0}, np.inf
        best |= {"width": WIDTHS[0], "balance": 0.0}
        for k, width, balance in product(NUMBERS, WIDTHS, BALANCES) if rows.folds is not None else ():
            tried = {"k": k, "width": width, "balance": balance}
            votes = _shares(near[:, :k], labels[:, :k], bank.balanced_by(balance), tried)
            hit = _neutral(votes, p, bank)[np.arange(len(rows)), rows.y]
            for share in SHARES:
                loss = float(-rows.weights @ np.log(share * hit + (1 - share) * at_label + 1e-12))
                if loss < lowest:
                    best, lowest = {**tried, "share": share}, loss
        votes = _shares(near[:, : best["k"]], labels[:, : best["k"]], bank.balanced_by(best["balance"]), best)
        return Tuned(best, _interpolated(_neutral(votes, p, bank), p, best["share"]))

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Keep the labelled rows."""
        return KnnModel(Bank.of(rows), rows.n_classes, parameters)


@dataclass(frozen=True, eq=False)
class TipModel:
    """Base scores plus the affinities to the labelled rows of each class."""

    bank: Bank
    parameters: Parameters

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the weighted sum of base scores and affinities."""
        assert x is not None
        affinity = self.bank.affinities(x, (float(self.parameters["beta"]),))[0]
        balanced = affinity * self.bank.balanced_by(float(self.parameters["balance"]))
        return mixed([z, balanced], self.parameters["mixture"])


class TipAdapter(ScoreRival):
    """Tip-Adapter with all labelled rows in the cache (Zhang et al., 2022)."""

    mode_name = "tip_adapter"
    reads_embeddings = True

    def tune(self, rows: Rows) -> Tuned:
        """Choose β and γ, and with them α, which is the weight of the affinities in a conditional logit."""
        if rows.folds is None:
            return Tuned({"beta": BETAS[0], "balance": 0.0, "mixture": [1.0, 0.0]}, rows.z)
        bank, best, lowest = Bank.of(rows), Tuned({}, rows.z), np.inf
        affinities = bank.affinities(rows.vectors(), BETAS, rows.folds)
        for (at, beta), balance in product(enumerate(BETAS), BALANCES):
            columns = [rows.z, affinities[at] * bank.balanced_by(balance)]
            theta = mixture_weights(columns, rows.y, rows.weights)
            scores = mixed(columns, theta)
            loss = log_loss(scores, rows.y, rows.weights)
            if loss < lowest:
                best, lowest = Tuned({"beta": beta, "balance": balance, "mixture": theta.tolist()}, scores), loss
        return best

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Keep the labelled rows."""
        return TipModel(Bank.of(rows), parameters)


def _shares(near: AnyArray, labels: IntArray, by_class: FloatArray, parameters: Parameters) -> FloatArray:
    """Return p_kNN of each row and class."""
    # Distances are taken from the nearest row, which changes nothing but keeps the exponentials in range.
    weights = np.exp((near - near[:, :1]) / float(parameters["width"])) * by_class[np.maximum(labels, 0)]
    votes = class_votes(labels, np.where(labels >= 0, weights, 0.0), len(by_class))
    totals = votes.sum(axis=1, keepdims=True)
    shares: FloatArray = votes / np.where(totals > 0, totals, 1.0)
    return shares


def _neutral(votes: FloatArray, p: FloatArray, bank: Bank) -> FloatArray:
    """Give classes without labelled rows the probability of the base, because no neighbour can vote for them."""
    absent = np.bincount(bank.y, minlength=bank.n_classes) == 0
    if not absent.any():
        return votes
    left = 1.0 - p[:, absent].sum(axis=1, keepdims=True)
    return np.where(absent, p, votes * left)


def _interpolated(votes: FloatArray, p: FloatArray, share: float) -> FloatArray:
    result: FloatArray = np.log(np.maximum(share * votes + (1.0 - share) * p, 1e-30))
    return result
