"""The temperature of the base scores, which sets how sure they are but not their order."""

from __future__ import annotations

import numpy as np

from repair._utils.arrays import PAD_SCORE, FloatArray, log_sum_exp
from repair.data.calibration_set import CalibrationSet

__all__ = ["base_scores", "best_scale", "log_probability"]

#: Range of the logarithm of the factor.
LOG_SCALES = (-5.0, 5.0)


def base_scores(rows: CalibrationSet) -> FloatArray:
    """Return the base scores of the candidates minus the best of the row, −Inf on padding."""
    shortlist = rows.shortlist
    scores: FloatArray = np.where(shortlist.mask, shortlist.scores - shortlist.scores[:, :1], PAD_SCORE)
    return scores


def log_probability(scores: FloatArray, rows: CalibrationSet) -> FloatArray:
    """Return the log-probability of each label, 0 where it is not on the shortlist."""
    result, covered = np.zeros(len(rows.labels)), np.flatnonzero(rows.covered)
    listed = scores[covered]
    result[covered] = listed[np.arange(len(covered)), rows.positions[covered]] - log_sum_exp(listed)
    return result


def best_scale(rows: CalibrationSet) -> float:
    """Return the factor of the base scores under which the labels are most likely."""
    from scipy.optimize import minimize_scalar

    scores = base_scores(rows)

    def loss(log_scale: float) -> float:
        return -float(rows.importance @ log_probability(np.exp(log_scale) * scores, rows))

    return float(np.exp(minimize_scalar(loss, bounds=LOG_SCALES, method="bounded").x))
