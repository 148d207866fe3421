"""``mode="extended"``: further terms in the paper's convex model, and shortlists with more rare classes.

The shortlists are chosen with scores adjusted in favour of rare classes
(`repair.data.adjusted_shortlist`).  The further terms are learned from the labelled rows before the
fit (`repair.terms.learned`).  All penalties are set by marginal likelihood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from repair.data.calibration_set import CalibrationSet
from repair.model.choice import Choice
from repair.rerankers.modes.mode import FitPlan, Mode
from repair.terms.registry import choose_learned_terms

if TYPE_CHECKING:
    from repair.fitting.fit import FittedProblem

__all__ = ["ExtendedMode"]


class ExtendedMode(Mode):
    """Offsets, the paper's terms, and terms that are learned from the labelled rows."""

    name = "extended"
    needs_terms: ClassVar[bool] = False
    takes_learned_terms: ClassVar[bool] = True
    uses_all_scores: ClassVar[bool] = True
    by_evidence: ClassVar[bool] = True
    chooses: ClassVar[tuple[str, ...]] = ("tuning", "lambda_a", "lambda_theta", "shrinkage")
    ignores: ClassVar[tuple[str, ...]] = ("alpha", "tau")

    def announce(self, calibration: CalibrationSet, plan: FitPlan) -> None:
        """Warn about the model size and check that optional libraries are installed."""
        for kind in choose_learned_terms(plan.learned, calibration, fast=plan.extended.fast):
            kind.announce(calibration, plan.extended)

    def fit(self, calibration: CalibrationSet, plan: FitPlan, *, progress: bool = False) -> FittedProblem:
        """Build the shortlists, learn the terms, and fit."""
        from repair._utils.blas import one_blas_thread
        from repair.fitting.fit import FittedProblem, fit_problem
        from repair.fitting.problem import Problem

        with one_blas_thread():
            problem = Problem.extended(calibration, plan.terms, plan.extended, plan.learned)
            choice = Choice(shortlist_tau=problem.shortlist_tau)
            state = fit_problem(problem, plan.settings, mode=self.name, notes=plan.notes, choice=choice)
        return FittedProblem(state, problem, plan.settings, plan.dial or 0.0)
