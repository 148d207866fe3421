"""The held-out gain: how much a method improves on the base order on rows that it was not fitted on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray
from repair.data.calibration_set import CalibrationSet
from repair.evaluation.cross_fitting import CrossFit
from repair.evaluation.head_tail_frontier import stratum_weights
from repair.stats.folds import FOLDS
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain, gain_of_weighted_rows, paired_gain

__all__ = ["HeldOutGain", "gain_where", "held_out_gain"]


@dataclass(frozen=True)
class HeldOutGain:
    """Held-out accuracy over all rows minus that of the base order.

    Rows weigh 1/(group size) if groups are given.

    Attributes
    ----------
    accuracy : PairedGain
        Gain over all rows.
    rare, frequent : PairedGain or NotApplicable
        Gain over rows of rare and of frequent classes.
    macro : PairedGain or NotApplicable
        Gain of the accuracy averaged over classes.
    folds : int
        Number of folds.
    """

    accuracy: PairedGain
    rare: PairedGain | NotApplicable
    frequent: PairedGain | NotApplicable
    macro: PairedGain | NotApplicable
    folds: int


def held_out_gain(found: CrossFit | NotApplicable, calibration: CalibrationSet) -> HeldOutGain | NotApplicable:
    """Return the gain of a cross-fitted method over the base order.

    Parameters
    ----------
    found : CrossFit or NotApplicable
        The method, fitted without each fold of `calibration`.  `NotApplicable` is returned unchanged.
    calibration : CalibrationSet
        The rows on which the method was cross-fitted.

    Returns
    -------
    HeldOutGain or NotApplicable

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker, ScoreSet
    >>> from repair.data.calibration_set import CalibrationSet
    >>> from repair.evaluation.cross_fitting import cross_fit
    >>> from repair.evaluation.held_out_gain import held_out_gain
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 6, size=400)
    >>> scores = rng.normal(size=(400, 6)) + 2.0 * np.eye(6)[labels] + np.array([1.5, 0, 0, 0, 0, 0])
    >>> rows = CalibrationSet.build(ScoreSet(scores, labels), 4)
    >>> bool(held_out_gain(cross_fit(Reranker("classwise"), rows), rows).accuracy.interval()[0] > 0)
    True
    """
    if isinstance(found, NotApplicable):
        return found
    difference = found.hits(calibration.labels) - (calibration.positions == 0)

    weights = stratum_weights(calibration.labels, calibration.class_counts, calibration.importance)
    rare, frequent, macro = (
        gain_of_weighted_rows(difference, weights[name], calibration.groups) for name in ("rare", "frequent", "macro")
    )
    overall = gain_where(difference, np.ones(len(difference), dtype=bool), calibration)
    return HeldOutGain(overall, rare, frequent, macro, FOLDS)


def gain_where(difference: FloatArray, which: BoolArray, calibration: CalibrationSet) -> PairedGain:
    """Return the paired gain over some of the rows, with their weights and groups."""
    groups = None if calibration.groups is None else calibration.groups[which]
    return paired_gain(difference[which], calibration.importance[which], groups)
