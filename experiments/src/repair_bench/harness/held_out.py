"""The held-out accuracy of a fitted method on the calibration rows, with the hyperparameters that it chose."""

from dataclasses import replace

import numpy as np

from repair._utils.arrays import FloatArray
from repair.data.calibration_set import CalibrationSet
from repair.data.score_set import ScoreSet
from repair.evaluation.cross_fitting import cross_fit
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.rivals.rival import ScoreRival
from repair.rerankers.rivals.rival import cross_fit as cross_fit_rival
from repair.rerankers.rivals.rows import Rows, usable_rows
from repair.stats.not_applicable import NotApplicable
from repair.stats.row_weights import equal_group_weights

__all__ = ["held_out_accuracy"]


def held_out_accuracy(fitted: ShortlistReranker, calibration: ScoreSet) -> float | None:
    """Return the accuracy over all calibration rows, each ranked by a copy that was fitted without its fold.

    There are five folds, which keep groups whole.  An uncovered row counts as wrong.  Every group counts
    once, also for methods whose fit weighs every row the same, so the figures of methods can be compared.
    The hyperparameters are those of the fit on all rows, so the figures are slightly optimistic.

    Parameters
    ----------
    fitted : ShortlistReranker
        A method that was fitted on these rows.
    calibration : ScoreSet
        The rows, with labels.

    Returns
    -------
    float or None
        None if there are too few rows or groups for five folds.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import LogitAdjustment, ScoreSet
    >>> from repair_bench.harness.held_out import held_out_accuracy
    >>> rows = ScoreSet(np.eye(3)[np.arange(90) % 3], np.arange(90) % 3, class_counts=[5, 2, 1])
    >>> held_out_accuracy(LogitAdjustment(2).fit(rows), rows)
    1.0
    """
    scores = calibration.scores if fitted.uses_all_scores else calibration.shortlist(fitted.n_candidates)
    rows = CalibrationSet.build(replace(calibration, scores=scores), fitted.n_candidates)
    hits = _rival_hits(fitted, rows) if isinstance(fitted, ScoreRival) else _hits(fitted, rows)
    if hits is None:
        return None
    weights = equal_group_weights(len(hits), rows.groups)
    return float(weights @ hits / weights.sum())


def _hits(fitted: ShortlistReranker, rows: CalibrationSet) -> FloatArray | None:
    copies = cross_fit(fitted.with_chosen_parameters(), rows)
    return None if isinstance(copies, NotApplicable) else copies.hits(rows.labels)


def _rival_hits(fitted: ScoreRival, rows: CalibrationSet) -> FloatArray | None:
    """Return the hits of the cross-fitted scores, which the rival has remembered from the choice of its parameters."""
    kept = Rows.of(rows, type(fitted).__name__)
    if kept.folds is None:
        return None
    hits = np.zeros(len(rows.labels))
    scores = cross_fit_rival(fitted, kept, fitted.chosen_.to_dict())
    hits[usable_rows(rows)] = scores.argmax(axis=1) == kept.y
    return hits
