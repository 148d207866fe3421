"""What a method gains over Base on rows it was not fitted on."""

from dataclasses import dataclass

import numpy as np

from repair.arrays import BoolArray
from repair.calibration import CalibrationSet
from repair.class_table import rare_classes
from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.separability import FOLDS, gain_where, too_little
from repair.estimator import ShortlistReranker
from repair.folds import group_folds
from repair.metrics import hit_rate
from repair.progress import progress_bar
from repair.statistics import PairedGain

__all__ = ["FittedGain", "fitted_gain"]


@dataclass(frozen=True)
class FittedGain:
    """Held-out accuracy over all rows, less Base's; rows weigh 1/(group size) where groups are given.

    Attributes
    ----------
    accuracy : PairedGain
    rare, frequent : PairedGain or NotApplicable
        The same on rows of rare and of frequent classes.
    folds : int
    """

    accuracy: PairedGain
    rare: PairedGain | NotApplicable
    frequent: PairedGain | NotApplicable
    folds: int


def fitted_gain(
    model: ShortlistReranker, calibration: CalibrationSet, *, seed: int = 0, progress: bool = False
) -> FittedGain | NotApplicable:
    """Fit copies of a method on four fifths of the groups, five times, and score the last fifth.

    Everything that ``fit`` chooses is chosen anew from the rows of each fit, so that no held-out
    row takes part in any choice.

    Parameters
    ----------
    model : ShortlistReranker
        Fitted or not; it is not changed.
    calibration : CalibrationSet
    seed : int, default 0
        Of the folds.
    progress : bool, default False

    Returns
    -------
    FittedGain, or NotApplicable where there are too few rows or groups.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker
    >>> from repair.calibration import CalibrationSet
    >>> from repair.diagnosis.fitted_gain import fitted_gain
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 6, size=400)
    >>> scores = rng.normal(size=(400, 6)) + 2.0 * np.eye(6)[labels] + np.array([1.5, 0, 0, 0, 0, 0])
    >>> gain = fitted_gain(Reranker(4, "classwise"), CalibrationSet.build(scores, labels, 4))
    >>> bool(gain.accuracy.interval()[0] > 0)
    True
    """
    refusal = too_little(calibration)
    if refusal is not None:
        return refusal
    folds = group_folds(len(calibration.labels), calibration.groups, FOLDS, seed)
    difference = np.zeros(len(folds))
    quiet = {"progress": False} if "progress" in model.parameters else {}
    with progress_bar("measuring the gain", FOLDS, show=progress) as step:
        for fold in range(FOLDS):
            train, rows = calibration.take(folds != fold), np.flatnonzero(folds == fold)
            if len(np.unique(train.labels[train.covered])) < 2:
                return NotApplicable(f"without fold {fold + 1} of {FOLDS} the covered rows have one label at most")
            fitted = model.clone(**quiet).fit_checked(train)
            ranking = fitted.rerank(fitted.lists_of(calibration.take(rows)))
            difference[rows] = hit_rate(ranking, calibration.labels[rows], 1) - (calibration.positions[rows] == 0)
            step()

    def gain(which: BoolArray) -> PairedGain | NotApplicable:
        which &= calibration.importance > 0
        return gain_where(difference, which, calibration) if which.any() else NotApplicable("there are no such rows")

    known = calibration.labels >= 0
    counts = calibration.table.class_counts
    rare = rare_classes(calibration.label_counts() if counts is None else counts)[calibration.labels]
    everywhere = np.ones(len(folds), dtype=bool)
    return FittedGain(gain_where(difference, everywhere, calibration), gain(known & rare), gain(known & ~rare), FOLDS)
