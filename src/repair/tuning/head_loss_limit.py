"""The head-loss limit: scale a correction down until frequent classes lose at most ε.

The scaled score is g + s·(r + t·log w − g), so s = 0 is the base order and s = 1 the whole correction.
Strengths s are tested in ascending order.  Each must pass a test on held-out rows that it loses at
most ε, and the first that fails ends the search.  This is fixed-sequence testing, so the level needs
no correction for the number of tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from repair._utils.arrays import FloatArray
from repair.data.adjusted_shortlist import with_adjusted_list
from repair.data.calibration_set import CalibrationSet
from repair.fitting.design_matrix import Design
from repair.fitting.fit import FittedProblem, fit_design
from repair.fitting.penalised_logit import Fit
from repair.model.state import FittedState
from repair.model.tuning_records import HeadLossTest
from repair.stats.folds import group_folds, subsample
from repair.stats.row_weights import equal_group_weights, number_of_units
from repair.stats.strata import strata_of
from repair.tuning.head_loss_tests import betting_p_values, fixed_sequence, student_p_values, unit_margins
from repair.tuning.options import HeadLossLimit

__all__ = ["limit_head_loss"]

#: Strengths s in the order in which they are tested.  0 is the base order and needs no test.
STRENGTHS = np.round(np.arange(1, 21) * 0.05, 2)
#: Share of the groups on which the correction is fitted with an exact test.
FIT_SHARE = 0.6

Learn: TypeAlias = Callable[[CalibrationSet], FittedProblem]


def limit_head_loss(
    calibration: CalibrationSet, learn: Learn, limit: HeadLossLimit, *, random_state: int = 0
) -> FittedState:
    """Fit, and choose the strength of the correction by tests of the limit on held-out rows.

    Parameters
    ----------
    calibration : CalibrationSet
        The rows to fit and to test on.
    learn : callable
        Fits the whole correction on a calibration set.
    limit : HeadLossLimit
    random_state : int, default 0
        Seed for folds and samples.

    Returns
    -------
    FittedState
        The fitted state with the chosen strength.
    """
    fitted_on, held_out = calibration, calibration
    if limit.exact:
        rows = subsample(len(calibration.labels), calibration.groups, FIT_SHARE, random_state)
        fitted_on = calibration.take(rows)
        fitted_on.check_learnable()
        held_out = calibration.take(np.setdiff1d(np.arange(len(calibration.labels)), rows))
    fitted = learn(fitted_on)
    state = fitted.state
    if fitted.dial == 0.0 and state.correction.changes_nothing:
        return _with_strength(state, 1.0)  # this is the base order, which loses nothing
    held_out = with_adjusted_list(held_out, state.shortlist_tau, state.width)
    if limit.exact:
        lists = state.correction.prepared(held_out.shortlist, held_out.all_scores)
        final: FloatArray | None = state.correction.scores(lists, state.adjustments(fitted.dial))
    else:
        final = _out_of_fold(fitted, limit.cv, random_state)
    test = _choose_strength(held_out, final, limit, random_state)
    return replace(_with_strength(state, test.strength, (test.reason,)), head_loss=test)


def _out_of_fold(fitted: FittedProblem, n_folds: int, random_state: int) -> FloatArray | None:
    """Return the final scores of all rows, each from a fit on the other folds, or None if that is impossible.

    Learned terms use their cross-fitted columns, because the final terms were learned from the labels
    of all rows.  Uncovered rows keep their base scores, because no scores can make them right.
    """
    calibration, design = fitted.problem.calibration, fitted.problem.design
    if number_of_units(len(calibration.labels), calibration.groups) < n_folds:
        return None
    folds = group_folds(len(calibration.labels), calibration.groups, n_folds, random_state)
    final = calibration.shortlist.scores.copy()
    for train, test, held_out in design.in_folds(folds):
        if not len(train):
            return None
        final[design.rows[held_out]] = _held_out_scores(fitted, fit_design(train, fitted.settings), test)
    return final


def _held_out_scores(fitted: FittedProblem, fit: Fit, test: Design) -> FloatArray:
    """Return the final scores of held-out rows, with offsets and weights that were fitted without them."""
    problem, adjustments = fitted.problem, fitted.state.adjustments(fitted.dial)
    if not any(term.learns for term in problem.terms):  # exactly as a model with this fit would score them
        terms, weights = problem.collapsed(fit.weights)
        correction = replace(fitted.state.correction, offsets=fit.offsets, terms=terms, weights=weights)
        return correction.scores(problem.calibration.shortlist.take(test.rows), adjustments)
    # The scores of the design are relative to the best of the row.  A constant per row does not change the order.
    return test.scores(fit.offsets, fit.weights) + adjustments.per_class(test.table)[np.maximum(test.ids, 0)]


def _choose_strength(
    rows: CalibrationSet, final: FloatArray | None, limit: HeadLossLimit, random_state: int
) -> HeadLossTest:
    """Test every strength on held-out rows, given their scores at strength 1, and choose the largest that passes."""
    frequent = strata_of(rows.labels, rows.table.counts("head_loss")).frequent
    allowed = limit.points / 100.0
    scores = np.where(rows.shortlist.mask, rows.shortlist.scores, 0.0)
    change = np.zeros(scores.shape) if final is None else np.where(rows.shortlist.mask, final - scores, 0.0)
    losses = np.zeros((len(STRENGTHS), len(rows.labels)))
    for index, strength in enumerate(STRENGTHS):
        scaled = np.where(rows.shortlist.mask, scores + strength * change, -np.inf)
        hits = rows.covered & (scaled.argmax(axis=1) == rows.positions)
        losses[index] = (rows.positions == 0) - hits.astype(np.float64)
    margins = unit_margins(losses, frequent, rows.groups, allowed)
    p_values = np.ones(len(STRENGTHS))
    if final is not None and limit.exact:
        p_values = betting_p_values(margins, allowed, random_state)
    elif final is not None:
        p_values = student_p_values(margins, allowed)
    reached = fixed_sequence(p_values, limit.level)
    strength = float(STRENGTHS[reached - 1]) if reached else 0.0
    n_units = margins.shape[1]
    weights = equal_group_weights(len(rows.labels), rows.groups)
    mass = float(weights[frequent].sum())
    lost = losses[:, frequent] @ weights[frequent] / mass if mass else np.full(len(STRENGTHS), np.nan)
    units = f"{'' if rows.groups is None else 'groups with '}rows of frequent classes"
    reason = _reason(strength, n_units, units, limit)
    return HeadLossTest(strength, STRENGTHS, lost, p_values, n_units, reason)


def _reason(strength: float, n_units: int, units: str, limit: HeadLossLimit) -> str:
    how = "exact, fitted on 60 % and tested on 40 %" if limit.exact else f"approximate, {limit.cv} folds"
    points = f"{limit.points:g} percentage point{'' if limit.points == 1 else 's'}"
    what = f"a loss of at most {points} on rows of frequent classes ({how}, level {limit.level:g})"
    if strength == 0.0:
        return f"the base order is kept: no strength passed the test for {what} on {n_units} held-out {units}"
    return f"the correction is applied at strength {strength:g}, the largest that passed the test for {what}"


def _with_strength(state: FittedState, strength: float, notes: tuple[str, ...] = ()) -> FittedState:
    return replace(
        state,
        correction=replace(state.correction, strength=strength),
        choice=replace(state.choice, strength=strength),
        summary=replace(state.summary, notes=(*state.summary.notes, *notes)),
    )
