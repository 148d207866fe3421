"""A score test of logit adjustment: whether the rows want the scores of frequent classes lowered.

The null hypothesis is that the base scores are right up to a temperature.  A score test needs no fit
but that of the temperature, so it has power with a hundred rows.
"""

from __future__ import annotations

import numpy as np

from repair._utils.arrays import FloatArray, softmax
from repair.data.calibration_set import CalibrationSet
from repair.stats.row_weights import renumbered
from repair.tuning.temperature import base_scores, best_scale

__all__ = ["frequency_p_value"]


def frequency_p_value(rows: CalibrationSet) -> float:
    """Return the one-sided p-value of "the rows do not want frequent classes lowered".

    Each row's derivative of the log-likelihood along −log(n+1) is made orthogonal to its derivative
    along the scores, because the temperature was fitted to the same rows.  Their sums over groups are
    compared with their own spread by Student's t, so neither groups nor a wrong model of the noise
    affect the level.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import ScoreSet
    >>> from repair.data.calibration_set import CalibrationSet
    >>> from repair.tuning.frequency_test import frequency_p_value
    >>> rng = np.random.default_rng(0)
    >>> counts = np.array([900, 90, 9])
    >>> labels = rng.integers(0, 3, size=200)
    >>> scores = np.eye(3)[labels] + rng.normal(size=(200, 3)) + np.log(counts)
    >>> frequency_p_value(CalibrationSet.build(ScoreSet(scores, labels, class_counts=counts), 3)) < 0.001
    True
    """
    from scipy.stats import t as student

    covered = np.flatnonzero(rows.covered)
    scores = best_scale(rows) * base_scores(rows)[covered]
    shares = softmax(scores)
    ids, target, weights = rows.shortlist.ids[covered], rows.positions[covered], rows.importance[covered]
    finite = np.where(ids >= 0, scores, 0.0)
    log_counts = rows.table.log_counts[np.maximum(ids, 0)]
    on_counts, on_scores = _above_mean(log_counts, shares), _above_mean(finite, shares)
    covariance = float(weights @ (shares * on_counts * on_scores).sum(axis=1))
    variance = float(weights @ (shares * on_scores**2).sum(axis=1))
    every = np.arange(len(covered))
    slope = covariance / variance if variance > 0 else 0.0
    derivatives: FloatArray = -weights * (on_counts - slope * on_scores)[every, target]
    if rows.groups is not None:
        codes = renumbered(rows.groups[covered])
        derivatives = np.bincount(codes, derivatives).astype(np.float64)
    spread = float(np.sqrt(derivatives @ derivatives))
    if spread == 0.0 or len(derivatives) < 2:
        return 1.0
    return float(student.sf(derivatives.sum() / spread, len(derivatives) - 1))


def _above_mean(values: FloatArray, shares: FloatArray) -> FloatArray:
    deviations: FloatArray = values - (shares * values).sum(axis=1, keepdims=True)
    return deviations
