"""Stacks: a conditional logit over the cross-fitted log-probabilities of other rivals and the base.

Σ_j θ_j·log p_j with θ ≥ 0 of the best likelihood (Wolpert, "Stacked generalization", 1992; Breiman, "Stacked
regressions", 1996, for the sign constraint).  Each log p_j of a calibration row comes from a model that did not
see the row's fold.  θ is a hyperparameter: fits on subsamples of the rows keep it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from repair._utils.arrays import AnyArray, FloatArray
from repair.rerankers.rivals.gda import Gda
from repair.rerankers.rivals.neighbours import KnnInterpolation, TipAdapter
from repair.rerankers.rivals.prior2posterior import Prior2Posterior
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned, tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.scaling import MatrixScaling, VectorScaling
from repair.rerankers.rivals.softmax import log_softmax, mixed, mixture_weights
from repair_bench.rivals.heads import BalancedHead, PlainHead
from repair_bench.rivals.kernel_logistic import KernelLogistic
from repair_bench.rivals.proker import Proker
from repair_bench.rivals.trees import LightgbmEmbeddings, LightgbmScores

__all__ = ["StackAll", "StackScores"]

#: Members with a smaller weight are left out.
SMALLEST = 1e-3


@dataclass(frozen=True, eq=False)
class Stacked:
    """Trained members with their weights.  The first weight is that of the base."""

    members: list[Scorer]
    mixture: list[float]

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the weighted sum of log-probabilities."""
        return mixed([log_softmax(z), *(log_softmax(one.scores(z, x)) for one in self.members)], self.mixture)


class StackScores(ScoreRival):
    """A stack of the rivals that read scores only."""

    mode_name = "stack_scores"
    members: ClassVar[Mapping[str, ScoreRival]] = {
        one.mode_name: one
        for one in (VectorScaling(), MatrixScaling(), Prior2Posterior(), KernelLogistic(), LightgbmScores())
    }

    def tune(self, rows: Rows) -> Tuned:
        """Let every member choose for itself, and fit the weights on their cross-fitted log-probabilities."""
        found = {name: tuned(member, rows) for name, member in self.members.items()}
        base = log_softmax(rows.z)
        if rows.folds is None:
            return Tuned({"base": 1.0, "members": {}}, rows.z)
        columns = [base, *(log_softmax(one.scores) for one in found.values())]
        theta = mixture_weights(columns, rows.y, rows.weights)
        members = {
            name: {"weight": float(weight), "chosen": dict(one.parameters)}
            for (name, one), weight in zip(found.items(), theta[1:], strict=True)
            if weight > SMALLEST
        }
        return Tuned({"base": float(theta[0]), "members": members}, mixed(columns, theta))

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Train the members that have a weight."""
        members = parameters["members"]
        trained = [self.members[name].train(rows, one["chosen"]) for name, one in members.items()]
        return Stacked(trained, [parameters["base"], *(one["weight"] for one in members.values())])


class StackAll(StackScores):
    """A stack of all rivals, those that read embeddings included."""

    mode_name = "stack_all"
    reads_embeddings = True
    members: ClassVar[Mapping[str, ScoreRival]] = {
        **StackScores.members,
        **{
            one.mode_name: one
            for one in (
                KnnInterpolation(),
                TipAdapter(),
                Gda(),
                Proker(),
                PlainHead(),
                BalancedHead(),
                LightgbmEmbeddings(),
            )
        },
    }
