"""Transductive rivals, which adapt to the class mix of the unlabelled rows that they rerank.

Both start from calibrated probabilities p(y | x): vector scaling, as Alexandari et al. ("Maximum likelihood with
bias-corrected calibration is hard-to-beat at label shift adaptation", ICML 2020) recommend.  They estimate
the class mix q of the batch that `rerank` gets and return log p + log(q/π), where π is the class mix of
the calibration rows.  The result for a row therefore depends on the other rows of the batch, and one
row alone is hardly changed.

EM (Saerens et al., "Adjusting the outputs of a classifier to new a priori probabilities", 2002) repeats
q ← mean of normalise(p·q/π).  BBSE (Lipton et al., "Detecting and correcting for label shift with black box
predictors", ICML 2018) solves C·w = mean p for w = q/π with C_ij = mean of p_i·1[y = j] over calibration rows.

Both estimates are noisy if there are many classes, so they are shrunk towards π.  How much is chosen by
cross-validation: each held-out fold of the calibration rows is one batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned, cross_fit, tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.scaling import VectorScaling
from repair.rerankers.rivals.search import choose
from repair.rerankers.rivals.softmax import log_softmax

__all__ = ["Bbse", "EmPrior"]

STEPS = 200
#: Rows of the calibration mix that are added to the rows of a batch, as a share of these.
SMOOTHINGS = (3.0, 1.0, 0.3, 0.1, 0.03)
#: Ridge of the estimated ratios, as a multiple of the norm of the confusion matrix divided by √n.
RIDGES = (30.0, 10.0, 3.0, 1.0, 0.3)
#: Largest ratio between the share of a class in the batch and in the calibration rows.
LARGEST_RATIO = 20.0


@dataclass(frozen=True, eq=False)
class EmModel:
    """Calibrated probabilities whose prior is replaced by that of the batch, found by EM."""

    calibrated: Scorer
    prior: FloatArray
    smoothing: float

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return log-probabilities under the class mix of these rows."""
        log_p = log_softmax(np.asarray(self.calibrated.scores(z, x), dtype=np.float64))
        p, mix = np.exp(log_p), self.prior
        for _ in range(STEPS):
            joint = p * (mix / self.prior)
            joint /= joint.sum(axis=1, keepdims=True)
            updated = (joint.mean(axis=0) + self.smoothing * self.prior) / (1.0 + self.smoothing)
            moved = float(np.abs(updated - mix).sum())
            mix = updated
            if moved < 1e-6:
                break
        shifted: AnyArray = log_p + np.log(mix / self.prior)
        return shifted


@dataclass(frozen=True, eq=False)
class BbseModel:
    """Calibrated probabilities whose prior is replaced by that of the batch, found from the confusion matrix."""

    calibrated: Scorer
    prior: FloatArray
    confusion: FloatArray
    ridge: float
    unit: float

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return log-probabilities under the class mix of these rows."""
        log_p = log_softmax(np.asarray(self.calibrated.scores(z, x), dtype=np.float64))
        # The ridge holds the ratios at 1, as in RLLS (Azizzadenesheli et al., ICLR 2019).
        gap = np.exp(log_p).mean(axis=0) - self.confusion.sum(axis=1)
        system = self.confusion.T @ self.confusion + self.ridge * self.unit * np.diag(self.prior)
        ratios = np.minimum(1.0 + np.linalg.solve(system, self.confusion.T @ gap), LARGEST_RATIO)
        mix = np.maximum(ratios, 1.0 / LARGEST_RATIO) * self.prior
        shifted: AnyArray = log_p + np.log(mix / mix.sum() / self.prior)
        return shifted


class EmPrior(ScoreRival):
    """EM for the class mix of the reranked rows (Saerens et al., 2002), after vector scaling."""

    mode_name = "em_prior"

    def tune(self, rows: Rows) -> Tuned:
        """Choose the penalties of vector scaling, and the smoothing with held-out folds as batches."""
        return _tuned(self, rows, "smoothing", SMOOTHINGS, lambda model, value: replace(model, smoothing=value))

    def train(self, rows: Rows, parameters: Parameters) -> EmModel:
        """Calibrate the probabilities, and take their mean on held-out rows as the prior."""
        held_out = _held_out(rows, parameters)
        calibrated = VectorScaling().train(rows, parameters["calibration"])
        return EmModel(calibrated, _prior(rows, held_out), float(parameters["smoothing"]))


class Bbse(ScoreRival):
    """Black box shift estimation for the class mix of the reranked rows (Lipton et al., 2018), after vector scaling."""

    mode_name = "bbse"

    def tune(self, rows: Rows) -> Tuned:
        """Choose the penalties of vector scaling, and the ridge with held-out folds as batches."""
        return _tuned(self, rows, "ridge", RIDGES, lambda model, value: replace(model, ridge=value))

    def train(self, rows: Rows, parameters: Parameters) -> BbseModel:
        """Calibrate the probabilities, and estimate the confusion matrix on held-out rows."""
        held_out = _held_out(rows, parameters)
        by_label = np.zeros((rows.n_classes, rows.n_classes))
        np.add.at(by_label, rows.y, held_out * rows.weights[:, None])
        confusion = by_label.T / rows.weights.sum()
        calibrated = VectorScaling().train(rows, parameters["calibration"])
        unit = float(np.linalg.norm(confusion, 2) / np.sqrt(len(rows)))
        return BbseModel(calibrated, _prior(rows, held_out), confusion, float(parameters["ridge"]), unit)


def _tuned(
    rival: ScoreRival, rows: Rows, name: str, values: Sequence[float], changed: Callable[[Any, float], Scorer]
) -> Tuned:
    """Choose one value.  Every fold is calibrated once, and serves as one batch for all values."""
    fixed = {"calibration": dict(tuned(VectorScaling(), rows).parameters)}
    tried: list[tuple[Parameters, AnyArray]] = [({**fixed, name: value}, np.array(rows.z)) for value in values]
    for fold, (training, held_out) in enumerate(rows.splits()):
        model = rival.train(training, tried[0][0])
        for value, (_, scores) in zip(values, tried, strict=True):
            scores[rows.folds == fold] = changed(model, value).scores(held_out.z, held_out.x)
    return choose(rows, tried)


def _held_out(rows: Rows, parameters: Parameters) -> FloatArray:
    """Return calibrated probabilities of rows that the calibration did not see."""
    scores = cross_fit(VectorScaling(), rows, parameters["calibration"])
    result: FloatArray = np.exp(log_softmax(np.asarray(scores, dtype=np.float64)))
    return result


def _prior(rows: Rows, held_out: FloatArray) -> FloatArray:
    """Return the mean of the calibrated probabilities, slightly smoothed towards equal shares."""
    mean = rows.weights @ held_out / rows.weights.sum()
    result: FloatArray = (len(rows) * mean + 1.0) / (len(rows) + rows.n_classes)
    return result
