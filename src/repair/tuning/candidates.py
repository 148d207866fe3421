"""The corrections that ``auto`` chooses from: how each is fitted without some rows and scored on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import PAD_SCORE, BoolArray, FloatArray
from repair.data.adjusted_shortlist import with_adjusted_list
from repair.data.calibration_set import CalibrationSet
from repair.fitting.fit import fit_design, fit_problem
from repair.fitting.problem import Problem
from repair.fitting.settings import FitSettings
from repair.model.adjustments import Adjustments
from repair.model.choice import Choice
from repair.terms.options import ExtendedOptions
from repair.terms.term import Term
from repair.tuning.grid import SEARCH_TOLERANCE
from repair.tuning.temperature import base_scores, best_scale, log_probability

__all__ = ["Candidate", "ExtendedCandidate", "FixedCandidate", "HeldOut"]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a correction does on rows that it was not fitted on.

    Attributes
    ----------
    hits : ndarray (n,)
        1 for rows whose label is first, else 0.
    improvement : ndarray (n,)
        Log-probability of the label, minus that under the base scores with the best temperature for
        the rows of the fit.  It is 0 for rows whose label is not on the shortlist.
    """

    hits: FloatArray
    improvement: FloatArray


@dataclass(frozen=True, eq=False)
class Candidate(ABC):
    """A correction that ``auto`` can try.

    Attributes
    ----------
    choice : Choice
        What a user would pass to fit the same correction.
    terms : tuple of Term
        The fixed terms.
    settings : FitSettings
    """

    choice: Choice
    terms: tuple[Term, ...]
    settings: FitSettings

    @abstractmethod
    def held_out(self, calibration: CalibrationSet, train: BoolArray, dial: float) -> HeldOut:
        """Fit on the rows of `train`, and score all other rows."""


@dataclass(frozen=True, eq=False)
class FixedCandidate(Candidate):
    """Offsets and fixed terms on the classifier's own shortlists, with penalties from marginal likelihood."""

    def held_out(self, calibration: CalibrationSet, train: BoolArray, dial: float) -> HeldOut:
        """Fit on the rows of `train`, and score all other rows."""
        design = Problem.fixed(calibration, self.terms).design
        fit = fit_design(design.take(train[design.rows]), _evidence(self.settings))
        rows = np.flatnonzero(~train)
        test = calibration.take(rows)
        final = np.full(test.shortlist.ids.shape, PAD_SCORE)
        final[test.covered] = design.take(~train[design.rows]).scores(fit.offsets, fit.weights)
        return _scored(calibration.take(np.flatnonzero(train)), test, final, dial)


@dataclass(frozen=True, eq=False)
class ExtendedCandidate(Candidate):
    """The extended mode with some of its terms.

    Attributes
    ----------
    options : ExtendedOptions
    learned : tuple of str or None
        Names of the learned terms.  None means the default ones.
    """

    options: ExtendedOptions
    learned: tuple[str, ...] | None

    def held_out(self, calibration: CalibrationSet, train: BoolArray, dial: float) -> HeldOut:
        """Learn the terms and fit on the rows of `train`, and score all other rows."""
        fitted_on, rows = calibration.take(np.flatnonzero(train)), np.flatnonzero(~train)
        problem = Problem.extended(fitted_on, self.terms, self.options, self.learned)
        state = fit_problem(problem, _evidence(self.settings), mode=str(self.choice.mode))
        test = with_adjusted_list(calibration.take(rows), problem.shortlist_tau, state.width)
        lists = state.correction.prepared(test.shortlist, test.all_scores)
        return _scored(problem.calibration, test, state.correction.scores(lists, Adjustments(0.0)), dial)


def _evidence(settings: FitSettings) -> FitSettings:
    return replace(
        settings,
        with_offsets=True,
        tau=0.0,
        alpha=0.0,
        shrinkage="eb",
        evidence=True,
        tol=max(settings.tol, SEARCH_TOLERANCE),
    )


def _scored(fitted_on: CalibrationSet, test: CalibrationSet, final: FloatArray, dial: float) -> HeldOut:
    """Return hits and improvements of the rows of `test` with these final scores."""
    base = best_scale(fitted_on) * base_scores(test)
    improvement = log_probability(final, test) - log_probability(base, test)
    if dial:
        final = final + dial * test.table.log_rarity[np.maximum(test.shortlist.ids, 0)]
    hits = test.covered & (final.argmax(axis=1) == test.positions)
    return HeldOut(hits.astype(np.float64), improvement)
