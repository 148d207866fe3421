"""The modes that ``auto`` chooses from: how each is tuned and scored on held-out rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray, dot
from repair.data.adjusted_shortlist import with_adjusted_list
from repair.data.calibration_set import CalibrationSet
from repair.fitting.fit import fit_design, fit_problem
from repair.fitting.penalised_logit import Fit
from repair.fitting.problem import Problem
from repair.fitting.settings import FitSettings
from repair.model.adjustments import Adjustments
from repair.model.choice import Choice
from repair.terms.options import ExtendedOptions
from repair.terms.term import Term
from repair.tuning.grid import PAPER_GRID, SEARCH_TOLERANCE

__all__ = ["Candidate", "EvidenceCandidate", "RidgeCandidate"]

#: Penalties to choose from.  Some are weaker than the paper's, which is safe because they are judged on held-out rows.
OFFSET_PENALTIES = (2e-5, 5e-5, 1e-4, 2e-4, *PAPER_GRID.lambda_a)
WEIGHT_PENALTIES = (1e-6, 1e-5, *PAPER_GRID.lambda_theta)


@dataclass(frozen=True, eq=False)
class Candidate(ABC):
    """A mode that ``auto`` can choose, on one calibration set.

    Attributes
    ----------
    mode : str
        Name of the mode.
    problem : Problem
        The problem on all rows.  Each fit uses some of them.
    """

    mode: str
    problem: Problem

    @abstractmethod
    def tune(self, folds: IntArray, weights: FloatArray, settings: FitSettings) -> tuple[Choice, FloatArray]:
        """Choose the penalties, and return them and the held-out scores of the covered rows.

        `folds` has the fold of each row.  Rows of fold −1 are ignored.
        """

    @abstractmethod
    def held_out(self, choice: Choice, train: BoolArray, test: BoolArray, settings: FitSettings) -> FloatArray:
        """Fit the choice on `train`, and return 1 for rows of `test` on which it is right, else 0."""

    def hits(self, scores: FloatArray, which: AnyArray, dial: float) -> FloatArray:
        """Return 1 for rows whose label is first, else 0.

        `scores` are those of the covered rows that the mask `which` selects.  All other rows have 0.
        """
        calibration, design = self.problem.calibration, self.problem.design
        if dial:
            scores = scores + dial * calibration.table.log_rarity[np.maximum(design.ids[which], 0)]
        result = np.zeros(len(calibration.labels))
        result[design.rows[which]] = scores.argmax(axis=1) == design.target[which]
        return result


@dataclass(frozen=True, eq=False)
class RidgeCandidate(Candidate):
    """A mode with ridge penalties, which are chosen by the likelihood of held-out rows."""

    def tune(self, folds: IntArray, weights: FloatArray, settings: FitSettings) -> tuple[Choice, FloatArray]:
        """Return the penalties with the smallest weighted loss on held-out rows, and the held-out scores."""
        design = self.problem.design
        parts = [part for part in design.in_folds(folds) if len(part[0]) and len(part[1])]
        least, chosen, best = np.inf, (1.0, 1.0), np.zeros(design.base.shape)
        for lambda_theta in WEIGHT_PENALTIES if design.multiplicity else (1.0,):
            starts: list[Fit | None] = [None] * len(parts)
            for lambda_a in sorted(OFFSET_PENALTIES, reverse=True):
                wanted = replace(self._settings(settings, lambda_a, lambda_theta), tol=SEARCH_TOLERANCE)
                scores, loss = np.zeros(design.base.shape), 0.0
                for number, (train, test, held_out) in enumerate(parts):
                    starts[number] = fit = fit_design(train, wanted, starts[number])
                    scores[held_out] = test.scores(fit.offsets, fit.weights)
                    loss -= dot(weights[design.rows[held_out]], test.log_likelihood(scores[held_out]))
                if loss < least:
                    least, chosen, best = loss, (lambda_a, lambda_theta), scores
        return Choice(self.mode, lambda_a=chosen[0], lambda_theta=chosen[1]), best

    def held_out(self, choice: Choice, train: BoolArray, test: BoolArray, settings: FitSettings) -> FloatArray:
        """Fit with the chosen penalties on `train`, and return 1 for rows of `test` on which it is right, else 0."""
        assert choice.lambda_a is not None
        assert choice.lambda_theta is not None
        design = self.problem.design
        wanted = self._settings(settings, choice.lambda_a, choice.lambda_theta)
        fit = fit_design(design.take(train[design.rows]), wanted)
        which = test[design.rows]
        return self.hits(design.take(which).scores(fit.offsets, fit.weights), which, choice.dial or 0.0)

    @staticmethod
    def _settings(settings: FitSettings, lambda_a: float, lambda_theta: float) -> FitSettings:
        return replace(
            settings,
            with_offsets=True,
            lambda_a=lambda_a,
            lambda_theta=lambda_theta,
            tau=0.0,
            alpha=0.0,
            shrinkage=False,
            evidence=False,
        )


@dataclass(frozen=True, eq=False)
class EvidenceCandidate(Candidate):
    """The extended mode, whose penalties are set by the marginal likelihood of each fit.

    Attributes
    ----------
    calibration : CalibrationSet
        The rows as they were given, before shortlists were adjusted.
    terms : tuple of Term
        The fixed terms.
    options : ExtendedOptions
    """

    calibration: CalibrationSet
    terms: tuple[Term, ...]
    options: ExtendedOptions

    def tune(self, folds: IntArray, weights: FloatArray, settings: FitSettings) -> tuple[Choice, FloatArray]:
        """Return the τ of the shortlists, and the held-out scores.  Each fit sets its own penalties."""
        design = self.problem.design
        scores = np.zeros(design.base.shape)
        wanted = replace(self._settings(settings), tol=SEARCH_TOLERANCE)
        for train, test, held_out in design.in_folds(folds):
            if len(train) and len(test):
                fit = fit_design(train, wanted)
                scores[held_out] = test.scores(fit.offsets, fit.weights)
        return Choice(self.mode, shortlist_tau=self.problem.shortlist_tau), scores

    def held_out(self, choice: Choice, train: BoolArray, test: BoolArray, settings: FitSettings) -> FloatArray:
        """Learn the terms and fit on `train` only, and return 1 for rows of `test` on which the fit is right, else 0.

        The terms of `problem` cannot be used here, because they were learned with the test rows.
        """
        learned, rows = self.calibration.take(np.flatnonzero(train)), np.flatnonzero(test)
        options = replace(self.options, shortlist_tau=choice.shortlist_tau)
        problem = Problem.extended(learned, self.terms, options)
        correction = fit_problem(problem, self._settings(settings), mode=self.mode).correction
        held_out = with_adjusted_list(self.calibration.take(rows), problem.shortlist_tau)
        lists = correction.prepared(held_out.shortlist, held_out.all_scores)
        best = correction.scores(lists, Adjustments(choice.dial or 0.0)).argmax(axis=1)
        result = np.zeros(len(test))
        result[rows] = held_out.covered & (best == held_out.positions)
        return result

    @staticmethod
    def _settings(settings: FitSettings) -> FitSettings:
        return replace(settings, with_offsets=True, tau=0.0, alpha=0.0, shrinkage="eb", evidence=True)
