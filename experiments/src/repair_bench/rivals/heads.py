"""Retrained heads: logistic regression on the embeddings of all labelled rows.

cRT (Kang et al., "Decoupling representation and classifier for long-tailed recognition", ICLR 2020) trains
the classifier again on frozen features with class-balanced sampling.  Here the balance is a weight
1/(rows of the class) per row.  `RetrainedHead` takes the better of the balanced and the plain head, alone.
`RetrainedHeadMixed` is the log-linear mixture θ₀·z + θ₁·log p_plain + θ₂·log p_balanced.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair.rerankers.rivals.components import principal_components
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned, tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.search import PATIENCE, choose, search_path
from repair.rerankers.rivals.softmax import log_loss, log_softmax, mixed, mixture_weights, softmax_regression

__all__ = ["BalancedHead", "PlainHead", "RetrainedHead", "RetrainedHeadMixed"]

#: Precisions of the prior on the coefficients of standardised features.
PENALTIES = (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
#: Weights of a calibration row, where a reference row weighs 1.  Reference rows can come from another time or place.
BOOSTS = (1.0, 5.0)
#: Wider embeddings are reduced to this many principal components.
WIDTH = 512
#: Iterations of a first fit, of the next penalty, and of a fold.
FIRST, NEXT, FOLD = 60, 25, 25


@dataclass(frozen=True, eq=False)
class Standardised:
    """Turns embeddings into features of mean 0 and standard deviation 1, with a column of ones."""

    basis: AnyArray | None
    mean: AnyArray
    spread: float

    @classmethod
    def of(cls, rows: Rows) -> "Standardised":
        """Measure all labelled vectors, without their labels."""
        basis = principal_components(rows, WIDTH)
        x = rows.vectors() if rows.reference_x is None else np.concatenate([rows.reference_x, rows.vectors()])
        values = x if basis is None else x @ basis
        # One spread for all columns keeps the cosines.
        return cls(basis, values.mean(axis=0), max(float(values.std(axis=0).mean()), 1e-9))

    def __call__(self, x: AnyArray) -> AnyArray:
        """Return the features."""
        values = np.asarray(x, dtype=np.float32)
        values = (values if self.basis is None else values @ self.basis) - self.mean
        return np.concatenate([values / np.float32(self.spread), np.ones((len(values), 1), dtype=np.float32)], axis=1)


@dataclass(frozen=True, eq=False)
class HeadModel:
    """Log-probabilities of a head.  Classes without labelled rows have those of the base."""

    features: Standardised
    coefficients: AnyArray
    seen: BoolArray

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the log-probabilities."""
        assert x is not None
        return self.of_features(z, self.features(x))

    def of_features(self, z: FloatArray, features: AnyArray) -> AnyArray:
        """Return the log-probabilities of rows whose features are known."""
        found = log_softmax(features @ self.coefficients)
        return found if self.seen.all() else np.where(self.seen, found, log_softmax(z))


class PlainHead(ScoreRival):
    """A plain head, from which the others are made."""

    mode_name = "plain_head"
    reads_embeddings = True
    balanced: ClassVar[bool] = False

    def tune(self, rows: Rows) -> Tuned:
        """Choose the penalty on rows that the head was not fitted on.

        If there are reference rows, these are all calibration rows, scored by heads that were fitted on
        the reference rows only.  The weight of calibration rows is then chosen by heads that saw the other
        folds too, and these give the cross-fitted scores.
        """
        settings = [{"penalty": penalty} for penalty in PENALTIES]
        if rows.folds is None:
            return Tuned(settings[0], rows.z)
        features = Standardised.of(rows)
        if rows.reference_y is None or not len(rows.reference_y):
            return search_path(rows, settings, lambda part, one, start: self._fit(part, features, one, start))
        nothing, table = rows.take(np.zeros(0, dtype=np.int32)), features(rows.vectors())
        best, lowest, worse, start = settings[0], np.inf, 0, None
        for setting in settings:
            model, start = self._fit(nothing, features, setting, start)
            loss = log_loss(model.of_features(rows.z, table), rows.y, rows.weights)
            worse = 0 if loss < lowest else worse + 1
            if loss < lowest:
                best, lowest = setting, loss
            if worse >= PATIENCE:
                break
        tried = [{**best, "boost": boost} for boost in BOOSTS]
        return choose(rows, [(one, self.cross_fit(rows, one)) for one in tried])

    def cross_fit(self, rows: Rows, parameters: Parameters) -> AnyArray:
        """Return held-out scores.  Every fold starts from the head of the reference rows."""
        features, start = Standardised.of(rows), None
        if rows.reference_y is not None and len(rows.reference_y):
            start = self._fit(rows.take(np.zeros(0, dtype=np.int32)), features, parameters, None)[1]
        result = np.array(rows.z)
        for fold, (training, held_out) in enumerate(rows.splits()):
            model, _ = self._fit(training, features, parameters, start)
            result[rows.folds == fold] = model.scores(held_out.z, held_out.x)
        return result

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Fit the head on all labelled rows."""
        return self._fit(rows, Standardised.of(rows), parameters, None)[0]

    def _fit(self, rows: Rows, features: Standardised, parameters: Parameters, start: Any) -> tuple[HeadModel, Any]:
        x, y, weights = _labelled(rows, float(parameters.get("boost", 1.0)))
        counts = np.bincount(y, minlength=rows.n_classes)
        if self.balanced:
            weights = weights / np.maximum(counts, 1)[y]
            weights *= len(y) / weights.sum()
        steps = FIRST if start is None else FOLD if len(rows) else NEXT
        penalty = np.full((x.shape[1] if features.basis is None else WIDTH) + 1, float(parameters["penalty"]))
        penalty[-1] = 0.1
        found = softmax_regression(features(x), y, weights, rows.n_classes, penalty[:, None], start=start, steps=steps)
        return HeadModel(features, found, counts > 0), found


class BalancedHead(PlainHead):
    """A head with class-balanced weights."""

    mode_name = "balanced_head"
    balanced = True


HEADS: dict[str, PlainHead] = {"plain": PlainHead(), "balanced": BalancedHead()}


class RetrainedHead(ScoreRival):
    """A retrained head alone, plain or class-balanced (cRT, Kang et al., 2020).

    Which of the two is chosen by held-out accuracy, because a balanced head has a poor likelihood on
    purpose.
    """

    mode_name = "retrained_head"
    reads_embeddings = True

    def tune(self, rows: Rows) -> Tuned:
        """Choose the penalty of both heads, and the better head."""
        found = {name: tuned(head, rows) for name, head in HEADS.items()}
        right = {name: rows.weights @ (one.scores.argmax(axis=1) == rows.y) for name, one in found.items()}
        best = max(found, key=lambda name: float(right[name]))
        return Tuned({"head": best, **found[best].parameters}, found[best].scores)

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Fit the chosen head."""
        return HEADS[parameters["head"]].train(rows, parameters)


@dataclass(frozen=True, eq=False)
class MixedHeads:
    """The base mixed with both heads."""

    heads: list[Scorer]
    mixture: list[float]

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the weighted sum of log-probabilities."""
        return mixed([log_softmax(z), *(head.scores(z, x) for head in self.heads)], self.mixture)


class RetrainedHeadMixed(ScoreRival):
    """The log-linear mixture of the base, the plain head and the class-balanced head."""

    mode_name = "retrained_head_mixed"
    reads_embeddings = True

    def tune(self, rows: Rows) -> Tuned:
        """Choose both penalties, and the weights by a conditional logit over cross-fitted log-probabilities."""
        found = [tuned(head, rows) for head in HEADS.values()]
        columns = [log_softmax(rows.z), *(one.scores for one in found)]
        theta = mixture_weights(columns, rows.y, rows.weights)
        chosen = {name: dict(one.parameters) for name, one in zip(HEADS, found, strict=True)}
        return Tuned({**chosen, "mixture": theta.tolist()}, mixed(columns, theta))

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Fit both heads."""
        heads = [head.train(rows, parameters[name]) for name, head in HEADS.items()]
        return MixedHeads(heads, list(parameters["mixture"]))


def _labelled(rows: Rows, boost: float) -> tuple[AnyArray, IntArray, FloatArray]:
    """Return vectors, labels and weights of reference and calibration rows, which weigh `boost` times as much."""
    x, y, weights = rows.vectors(), rows.y, rows.weights
    if rows.reference_x is None or rows.reference_y is None:
        return x, y, weights
    ones = np.ones(len(rows.reference_y))
    return (
        np.concatenate([rows.reference_x, x]),
        np.concatenate([rows.reference_y, y]),
        np.concatenate([ones, boost * weights]),
    )
