"""Prior2Posterior: correct the scores by the prior that the model itself seems to have.

z − τ·log π̂ with the effective prior π̂ = mean softmax(z) over the calibration rows (Bhat et al.,
"Prior2Posterior: Model Prior Correction for Long-Tailed Learning", arXiv 2412.16540).
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.search import choose
from repair.rerankers.rivals.softmax import log_softmax

__all__ = ["Prior2Posterior"]

TAUS = tuple(round(0.1 * step, 1) for step in range(-5, 21))


@dataclass(frozen=True, eq=False)
class Shifted:
    """Scores plus a constant per class."""

    shift: FloatArray

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the shifted scores."""
        return z + self.shift


class Prior2Posterior(ScoreRival):
    """Logit adjustment by the model's effective prior (arXiv 2412.16540).

    The exponent τ is chosen by cross-validation, and so is whether π̂ is the mean of the probabilities as
    the base states them or after temperature scaling.
    """

    mode_name = "prior2posterior"

    def tune(self, rows: Rows) -> Tuned:
        """Choose τ and the temperature of the probabilities."""
        settings = [{"tau": tau, "scaled": scaled} for scaled, tau in product((True, False), sorted(TAUS, key=abs))]
        return choose(rows, [(one, self.cross_fit(rows, one)) for one in settings])

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Estimate the effective prior."""
        probabilities = np.exp(log_softmax(rows.z if parameters["scaled"] else rows.z / rows.scale))
        prior = rows.weights @ probabilities / rows.weights.sum()
        return Shifted(-float(parameters["tau"]) * np.log(np.maximum(prior, 1e-9)))
