"""LightGBM on many columns per candidate, mixed with the base.

Gradient-boosted trees with the LambdaRank objective (Ke et al., "LightGBM", NIPS 2017; Burges, "From RankNet to
LambdaRank to LambdaMART", 2010) rank the candidates of a row.  They read the base score, its gaps to other
candidates, rank, entropy, log count and similarity, the cross-fitted scores of other rivals, and the votes
of the nearest calibration rows.  The final scores are θ₀·log softmax(z) + θ₁·f with θ from a conditional logit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.rerankers.rivals.bank import Bank, class_votes
from repair.rerankers.rivals.gda import Gda
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned, cross_fit, tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.scaling import MatrixScaling, VectorScaling
from repair.rerankers.rivals.softmax import log_loss, log_softmax, mixed, mixture_weights
from repair_bench.rivals.columns import Candidates, candidate_table
from repair_bench.rivals.heads import BalancedHead, PlainHead
from repair_bench.rivals.kernel_logistic import KernelLogistic, profiles

__all__ = ["LightgbmEmbeddings", "LightgbmScores"]

ROUNDS = (25, 50, 100, 200)
NUMBERS = (8, 40)
SETTINGS: dict[str, Any] = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 12,
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 20,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 1.0,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbosity": -1,
}


@dataclass(frozen=True, eq=False)
class Sources:
    """Everything from which the columns of new rows are made."""

    members: list[Scorer]
    banks: list[tuple[str, Bank]]
    counts: FloatArray | None
    rows: Rows

    def table(self, z: FloatArray, x: AnyArray | None) -> Candidates:
        """Return candidates and columns of new rows."""
        others = [one.scores(z, x) for one in self.members]
        votes = [vote for kind, bank in self.banks for vote in _votes(bank, _points(kind, z, x), None)]
        return candidate_table(z, others, votes, self.counts, self.rows.similarity)


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Trees and the sources of their columns."""

    sources: Sources
    booster: Any
    mixture: list[float]

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the mixture of the base and the trees."""
        table = self.sources.table(z, x)
        return mixed([log_softmax(z), _predicted(self.booster, table, z.shape[1])], self.mixture)


class LightgbmScores(ScoreRival):
    """LightGBM on columns that are made from the scores, mixed with the base."""

    mode_name = "lightgbm_scores"
    members: ClassVar[Mapping[str, ScoreRival]] = {
        "vector_scaling": VectorScaling(),
        "matrix_scaling": MatrixScaling(),
        "kernel_logistic": KernelLogistic(),
    }
    kinds: ClassVar[tuple[str, ...]] = ("scores",)

    def tune(self, rows: Rows) -> Tuned:
        """Choose the number of trees, and θ, on held-out rows.  The other rivals choose for themselves."""
        found = {name: tuned(member, rows) for name, member in self.members.items()}
        parameters: dict[str, Any] = {"members": {name: dict(one.parameters) for name, one in found.items()}}
        if rows.folds is None:
            return Tuned({**parameters, "rounds": ROUNDS[0], "mixture": [1.0, 0.0]}, rows.z)
        table = self._table(rows, [one.scores for one in found.values()])
        outputs = _held_out(rows, table)
        best, lowest, base = Tuned(parameters, rows.z), np.inf, log_softmax(rows.z)
        for rounds, output in outputs.items():
            theta = mixture_weights([base, output], rows.y, rows.weights)
            scores = mixed([base, output], theta)
            loss = log_loss(scores, rows.y, rows.weights)
            if loss < lowest:
                best, lowest = Tuned({**parameters, "rounds": rounds, "mixture": theta.tolist()}, scores), loss
        return best

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Train the trees on cross-fitted columns of all rows."""
        chosen = parameters["members"]
        table = self._table(rows, [cross_fit(member, rows, chosen[name]) for name, member in self.members.items()])
        trained = [member.train(rows, chosen[name]) for name, member in self.members.items()]
        sources = Sources(trained, self._banks(rows), rows.counts, rows)
        booster = _boosted(rows, table, np.arange(len(rows), dtype=np.int32), int(parameters["rounds"]))
        return TreeModel(sources, booster, list(parameters["mixture"]))

    def _banks(self, rows: Rows) -> list[tuple[str, Bank]]:
        folds = np.zeros(len(rows), dtype=np.int32) if rows.folds is None else rows.folds
        return [
            (kind, Bank.build(_points(kind, rows.z, rows.x), rows.y, folds, rows.n_classes))
            if kind == "scores"
            else (kind, Bank.of(rows))
            for kind in self.kinds
        ]

    def _table(self, rows: Rows, others: list[AnyArray]) -> Candidates:
        """Return the columns of the calibration rows, without the votes of rows in the same fold."""
        votes = []
        for kind, bank in self._banks(rows):
            votes += _votes(bank, _points(kind, rows.z, rows.x), rows.folds)
        return candidate_table(rows.z, others, votes, rows.counts, rows.similarity)


class LightgbmEmbeddings(LightgbmScores):
    """LightGBM on the same columns plus heads, discriminant analysis and neighbours on embeddings."""

    mode_name = "lightgbm_embeddings"
    reads_embeddings = True
    members: ClassVar[Mapping[str, ScoreRival]] = {
        "vector_scaling": VectorScaling(),
        "matrix_scaling": MatrixScaling(),
        "plain_head": PlainHead(),
        "balanced_head": BalancedHead(),
        "gda": Gda(),
    }
    kinds: ClassVar[tuple[str, ...]] = ("scores", "embeddings")


def _points(kind: str, z: FloatArray, x: AnyArray | None) -> AnyArray:
    if kind == "scores":
        return profiles(z, "direction")
    assert x is not None
    return x


def _votes(bank: Bank, points: AnyArray, folds: IntArray | None) -> list[AnyArray]:
    """Return the shares of each class among the nearest rows, for several numbers of rows."""
    near, labels = bank.nearest(points, max(NUMBERS), folds)
    weights = np.where(labels >= 0, np.exp((near - near[:, :1]) / 0.1), 0.0)
    shares = []
    for k in NUMBERS:
        votes = class_votes(labels[:, :k], weights[:, :k], bank.n_classes)
        shares.append(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-9))
    return shares


def _boosted(rows: Rows, table: Candidates, which: IntArray, rounds: int) -> Any:
    """Train the trees on those of the rows whose label is a candidate."""
    import lightgbm

    positions = table.positions(rows.y)
    which = which[positions[which] >= 0]
    width = table.ids.shape[1]
    relevant = np.arange(width) == positions[which][:, None]
    weights = np.repeat(rows.weights[which], width)
    columns = table.columns[which].reshape(-1, table.columns.shape[2])
    data = lightgbm.Dataset(
        columns,
        label=relevant.ravel().astype(np.int32),
        group=np.full(len(which), width),
        weight=weights / weights.mean(),
    )
    return lightgbm.train(SETTINGS, data, num_boost_round=rounds)


def _predicted(booster: Any, table: Candidates, n_classes: int, rounds: int | None = None) -> AnyArray:
    n, width, depth = table.columns.shape
    values = booster.predict(table.columns.reshape(-1, depth), num_iteration=rounds).reshape(n, width)
    return table.spread_out(values, n_classes)


def _held_out(rows: Rows, table: Candidates) -> dict[int, AnyArray]:
    """Return the held-out scores of the trees for every number of rounds."""
    assert rows.folds is not None
    result = {rounds: np.empty((len(rows), rows.n_classes)) for rounds in ROUNDS}
    for fold in range(int(rows.folds.max()) + 1):
        out = rows.folds == fold
        booster = _boosted(rows, table, np.flatnonzero(~out).astype(np.int32), ROUNDS[-1])
        part = Candidates(table.ids[out], table.columns[out])
        for rounds, scores in result.items():
            scores[out] = _predicted(booster, part, rows.n_classes, rounds)
    return result
