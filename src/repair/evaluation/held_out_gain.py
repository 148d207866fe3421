"""The held-out gain: how much a method improves on the base order on rows that it was not fitted on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray
from repair.data.calibration_set import CalibrationSet
from repair.evaluation.cross_fitting import CrossFit
from repair.stats.folds import FOLDS
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain, gain_of_weighted_rows, paired_gain
from repair.stats.strata import strata_of

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
    folds : int
        Number of folds.
    """

    accuracy: PairedGain
    rare: PairedGain | NotApplicable
    frequent: PairedGain | NotApplicable
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

    def gain(which: BoolArray) -> PairedGain | NotApplicable:
        return gain_of_weighted_rows(difference, np.where(which, calibration.importance, 0.0), calibration.groups)

    strata, everywhere = strata_of(calibration.labels, calibration.class_counts), np.ones(len(difference), dtype=bool)
    return HeldOutGain(gain_where(difference, everywhere, calibration), gain(strata.rare), gain(strata.frequent), FOLDS)


def gain_where(difference: FloatArray, which: BoolArray, calibration: CalibrationSet) -> PairedGain:
    """Return the paired gain over some of the rows, with their weights and groups."""
    groups = None if calibration.groups is None else calibration.groups[which]
    return paired_gain(difference[which], calibration.importance[which], groups)
