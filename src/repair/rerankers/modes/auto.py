"""``mode="auto"``: the extended mode, in one of two sizes, or the base order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from repair.data.calibration_set import CalibrationSet
from repair.rerankers.modes.mode import FitPlan, Mode
from repair.terms.registry import choose_learned_terms

if TYPE_CHECKING:
    from repair.fitting.fit import FittedProblem
    from repair.model.tuning_records import CandidateResult

__all__ = ["AutoMode"]


class AutoMode(Mode):
    """Chooses between the base order and two sizes of the extended mode."""

    name = "auto"
    uses_all_scores: ClassVar[bool] = True
    chooses: ClassVar[tuple[str, ...]] = ("tuning", "lambda_a", "lambda_theta", "shrinkage")
    ignores: ClassVar[tuple[str, ...]] = ("alpha", "tau")

    def can_leave(self, mode: str) -> bool:
        """Return whether a fit in this mode can result in a model of that mode."""
        return mode != self.name

    def announce(self, calibration: CalibrationSet, plan: FitPlan) -> None:
        """Warn about the model size and check that optional libraries are installed."""
        for kind in choose_learned_terms(None, calibration, fast=plan.extended.fast):
            kind.announce(calibration, plan.extended)

    def fit(self, calibration: CalibrationSet, plan: FitPlan, *, progress: bool = False) -> FittedProblem:
        """Choose a mode and its settings, and fit them as if the user had selected them."""
        from repair.tuning.auto import choose_mode

        result = choose_mode(
            calibration,
            plan.terms,
            plan.settings,
            options=plan.extended,
            named=plan.term_names,
            dial=plan.dial,
            random_state=plan.random_state,
            progress=progress,
        )
        result = replace(
            result,
            chosen=_with_terms(result.chosen, calibration, plan),
            outer=tuple(_with_terms(candidate, calibration, plan) for candidate in result.outer),
        )
        choice = result.chosen.choice
        assert plan.replan is not None
        mode, chosen_plan = plan.replan(choice)
        fitted = mode.fit(calibration, replace(chosen_plan, notes=(result.reason, *chosen_plan.notes)))
        chosen = replace(choice, shortlist_tau=fitted.state.choice.shortlist_tau)
        state = replace(fitted.state, auto=result, choice=chosen)
        return replace(fitted, state=state)


def _with_terms(result: CandidateResult, calibration: CalibrationSet, plan: FitPlan) -> CandidateResult:
    """Add the learned terms to the terms that the user named, because the extended mode uses only named terms."""
    if plan.term_names is None or result.keeps_base or result.few_terms:
        return result
    learned = tuple(kind.name for kind in choose_learned_terms(None, calibration, fast=plan.extended.fast))
    return replace(result, choice=replace(result.choice, terms=(*plan.term_names, *learned)))
