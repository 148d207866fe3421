"""``max_head_loss``: scale a correction down until what it may cost frequent classes is bounded.

The scaled score is g + s·(r + t·log w − g): s = 0 is Base and s = 1 the whole correction.  Going up
from Base, each s must show on held-out rows that it loses at most ε; the first that cannot ends the
search (fixed-sequence testing, so the level needs no correction for the number of steps).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from repair.arrays import BoolArray, FloatArray
from repair.calibration import CalibrationSet
from repair.class_table import rare_classes
from repair.correction import Correction
from repair.coverage import with_adjusted_list
from repair.decision import Decision
from repair.design import Design
from repair.errors import InputError
from repair.fitted_state import FittedState
from repair.fitting import FitSettings, fit_design
from repair.folds import group_folds, subsample
from repair.head_loss import betting_p_values, fixed_sequence, student_p_values, unit_margins
from repair.inputs import check_choice, check_number
from repair.tables import text_table
from repair.terms import LEARNED_TERMS

__all__ = ["HeadLossRule", "HeadLossTest", "limit_head_loss"]

#: s in the order in which it is tested; 0, which is Base, needs no test.
STRENGTHS = np.round(np.arange(1, 21) * 0.05, 2)
#: Share of the groups that ``strict`` fits on.
FIT_SHARE = 0.6

Learn: TypeAlias = Callable[[CalibrationSet], tuple[FittedState, FitSettings, float]]


@dataclass(frozen=True)
class HeadLossRule:
    """What the user asked for.

    Attributes
    ----------
    points : float
        ε in percentage points.
    level : float
        δ, the allowed probability of a larger loss.
    strict : bool
    folds, seed : int
    """

    points: float
    level: float = 0.1
    strict: bool = False
    folds: int = 5
    seed: int = 0

    @classmethod
    def checked(cls, points: object, level: object, strict: object, folds: int, seed: int) -> HeadLossRule | None:
        """Check a user's arguments; None if no limit is asked for."""
        check_choice(strict, "strict", (True, False))
        allowed = check_number(level, "head_loss_level", 0.0, 0.5, open_low=True)
        if points is None:
            if strict:
                raise InputError("strict=True says how max_head_loss is tested; pass max_head_loss (such as 1.0) too")
            return None
        limit = check_number(points, "max_head_loss", 0.0, 99.0)
        return cls(limit, allowed, bool(strict), folds, seed)


@dataclass(frozen=True, eq=False)
class HeadLossTest:
    """The tests that led to a strength; prints as a table.

    Attributes
    ----------
    strength : float
        The largest s reached.
    strengths, losses, p_values : ndarray
        Each s, its loss on held-out frequent rows (a share, not points), and the p-value of "the
        loss is larger than allowed".
    n_units : int
        Groups (rows, without groups) with frequent rows that were tested on.
    reason : str
    """

    strength: float
    strengths: FloatArray
    losses: FloatArray
    p_values: FloatArray
    n_units: int
    reason: str

    def __str__(self) -> str:
        """Return the table and the outcome."""
        cells = zip(self.strengths, self.losses, self.p_values, strict=True)
        rows = [[f"{s:.2f}", f"{100 * loss:+.2f}", f"{p:.3g}"] for s, loss, p in cells]
        return f"{text_table(['strength', 'loss (points)', 'p'], rows, text_columns=())}\n{self.reason}"


def limit_head_loss(calibration: CalibrationSet, learn: Learn, rule: HeadLossRule) -> FittedState:
    """Fit, and set the strength of the correction by `rule`.

    Parameters
    ----------
    calibration : CalibrationSet
    learn : callable
        Fits a calibration set; returns the state, the settings it was fitted with, and its dial.
    rule : HeadLossRule
    """
    fitted_on, held_out = calibration, calibration
    if rule.strict:
        rows = subsample(len(calibration.labels), calibration.groups, FIT_SHARE, rule.seed)
        fitted_on = calibration.take(rows)
        fitted_on.refuse_hopeless()
        held_out = calibration.take(np.setdiff1d(np.arange(len(calibration.labels)), rows))
    state, settings, dial = learn(fitted_on)
    if dial == 0.0 and _changes_nothing(state.correction):
        return _with_strength(state, 1.0)  # it is Base, which loses nothing
    final: FloatArray | None
    if state.account.mode == "extended":
        held_out = with_adjusted_list(held_out, _tau_of(state))
    if rule.strict:
        lists = state.correction.profiled(held_out.shortlist, held_out.all_scores)
        final = state.correction.scores(lists, Decision(dial))
    elif state.account.mode == "extended":
        final = _out_of_fold_extended(calibration, state, settings, dial, rule)
    else:
        final = _out_of_fold(calibration, state.correction, settings, Decision(dial), rule)
    test = _choose_strength(held_out, final, rule)
    return replace(_with_strength(state, test.strength, (test.reason,)), head_loss=test)


def _changes_nothing(correction: Correction) -> bool:
    return correction.tau == 0.0 and not correction.offsets.any() and not correction.weights.any()


def _out_of_fold(
    calibration: CalibrationSet, correction: Correction, settings: FitSettings, decision: Decision, rule: HeadLossRule
) -> FloatArray | None:
    """Return the final scores of all rows, each from a fit on other folds; None if that is impossible."""
    n_units = len(calibration.labels) if calibration.groups is None else len(np.unique(calibration.groups))
    if n_units < rule.folds:
        return None
    folds = group_folds(len(calibration.labels), calibration.groups, rule.folds, rule.seed)
    design = Design.of(calibration, correction.terms, correction.tau)
    final = np.empty(calibration.shortlist.ids.shape)
    for fold in range(rule.folds):
        train, test = np.flatnonzero(folds[design.rows] != fold), np.flatnonzero(folds == fold)
        if not len(train):
            return None
        fit = fit_design(design.take(train), settings)
        other = replace(correction, offsets=fit.offsets, weights=fit.weights)
        final[test] = other.scores(calibration.shortlist.take(test), decision)
    return final


def _tau_of(state: FittedState) -> float:
    """Return the τ by which an extended model takes its shortlists."""
    return float(state.account.chosen["shortlist_tau"])  # type: ignore[arg-type]


def _out_of_fold_extended(
    calibration: CalibrationSet, state: FittedState, settings: FitSettings, dial: float, rule: HeadLossRule
) -> FloatArray | None:
    """Do as `_out_of_fold`, with the cross-fitted columns of the learned terms.

    The fitted terms have seen every row's label.  Rows whose label is not on the list keep their
    base scores: no score makes them right.
    """
    from repair.extended import ExtendedProblem

    n_units = len(calibration.labels) if calibration.groups is None else len(np.unique(calibration.groups))
    if n_units < rule.folds:
        return None
    fixed = [term for term in state.correction.terms if term.name not in LEARNED_TERMS]
    names = [term.name for term in state.correction.terms if term.name in LEARNED_TERMS]
    index = next((getattr(term, "index", "exact") for term in state.correction.terms if term.name == "neighbours"), "")
    problem = ExtendedProblem.of(calibration, fixed, _tau_of(state), names, index)
    design, table = problem.design, calibration.table
    folds = group_folds(len(calibration.labels), calibration.groups, rule.folds, rule.seed)[design.rows]
    final = problem.calibration.shortlist.scores.copy()
    for fold in range(rule.folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if not len(train):
            return None
        fit = fit_design(design.take(train), settings)
        part = design.take(test)
        rarity = dial * table.log_rarity[np.maximum(part.ids, 0)] if dial else 0.0
        # The design's scores are relative to the row's best; a constant a row changes no order.
        final[design.rows[test]] = part.scores(fit.offsets, fit.weights) + rarity
    return final


def _choose_strength(rows: CalibrationSet, final: FloatArray | None, rule: HeadLossRule) -> HeadLossTest:
    """Test every strength on rows that were not fitted on, given their scores at strength 1."""
    rare = rare_classes(rows.table.counts("max_head_loss"))
    frequent: BoolArray = (rows.labels >= 0) & ~rare[rows.labels]
    limit = rule.points / 100.0
    scores = np.where(rows.shortlist.mask, rows.shortlist.scores, 0.0)
    change = np.zeros(scores.shape) if final is None else np.where(rows.shortlist.mask, final - scores, 0.0)
    losses = np.zeros((len(STRENGTHS), len(rows.labels)))
    for place, strength in enumerate(STRENGTHS):
        scaled = np.where(rows.shortlist.mask, scores + strength * change, -np.inf)
        hits = rows.covered & (scaled.argmax(axis=1) == rows.positions)
        losses[place] = (rows.positions == 0) - hits.astype(np.float64)
    margins = unit_margins(losses, frequent, rows.groups, limit)
    p_values = np.ones(len(STRENGTHS))
    if final is not None and rule.strict:
        p_values = betting_p_values(margins, limit, rule.seed)
    elif final is not None:
        p_values = student_p_values(margins, limit)
    reached = fixed_sequence(p_values, rule.level)
    strength = float(STRENGTHS[reached - 1]) if reached else 0.0
    n_units = margins.shape[1]
    weights = np.ones(len(rows.labels)) if rows.groups is None else 1.0 / np.bincount(rows.groups)[rows.groups]
    mass = float(weights[frequent].sum())
    lost = losses[:, frequent] @ weights[frequent] / mass if mass else np.full(len(STRENGTHS), np.nan)
    reason = _reason(strength, n_units, "groups" if rows.groups is not None else "rows", rule)
    return HeadLossTest(strength, STRENGTHS, lost, p_values, n_units, reason)


def _reason(strength: float, n_units: int, noun: str, rule: HeadLossRule) -> str:
    how = "fitted on 60 %, tested on the other 40 %; exact" if rule.strict else f"{rule.folds} folds; approximate"
    what = f"a loss of at most {rule.points:g} points on frequent rows ({how}, level {rule.level:g})"
    if strength == 0.0:
        return f"the order stays Base's: no strength shows {what} on {n_units} held-out {noun} with frequent rows"
    return f"the correction is applied at strength {strength:g}, the last to show {what}"


def _with_strength(state: FittedState, strength: float, notes: tuple[str, ...] = ()) -> FittedState:
    # `frozen` builds a model from what was chosen: it keeps the strength and does not test again.
    chosen = {**state.account.chosen, "strength": strength, "max_head_loss": None, "strict": False}
    account = replace(state.account, chosen=chosen, notes=(*state.account.notes, *notes))
    return replace(state, correction=replace(state.correction, strength=strength), account=account)
