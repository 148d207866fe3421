"""The interface of a mode: which parameters it accepts, how it fits, and which models can result.

Modes import the code of the fit when they fit, so loading a model does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from repair.data.calibration_set import CalibrationSet
from repair.fitting.settings import FitSettings
from repair.model.choice import Choice
from repair.terms.options import ExtendedOptions
from repair.terms.term import Term
from repair.tuning.options import GridSearch

if TYPE_CHECKING:
    from repair.fitting.fit import FittedProblem

__all__ = ["FitPlan", "Mode"]


@dataclass(frozen=True, eq=False)
class FitPlan:
    """Validated parameters in the form that modes need.

    Attributes
    ----------
    terms : tuple of Term
        The fixed terms.
    learned : tuple of str or None
        Names of the learned terms.  None means the default ones.
    settings : FitSettings
        Settings of the convex fit.
    search : GridSearch or None
        How to choose τ, penalties and α.  None if there is no grid to search.
    extended : ExtendedOptions
        Options of the extended mode.
    dial : float, "macro" or None
        The user's dial.  None if the user did not set one.
    random_state : int
        Seed for folds and samples.
    notes : tuple of str
        Sentences about the inputs that users should know.
    term_names : tuple of str or None
        The terms that the user named, or None.
    replan : callable
        Takes a `Choice` and returns its mode and plan, as if the user had passed these values.
    """

    terms: tuple[Term, ...]
    learned: tuple[str, ...] | None
    settings: FitSettings
    search: GridSearch | None
    extended: ExtendedOptions
    dial: float | str | None
    random_state: int
    notes: tuple[str, ...]
    term_names: tuple[str, ...] | None = None
    replan: Callable[[Choice], tuple[Mode, FitPlan]] | None = None


class Mode:
    """One kind of correction.  Each mode has its own small file, and `repair.rerankers.modes` lists them.

    The `fit` of this class follows the paper: ridge or empirical-Bayes penalties, on the classifier's
    own shortlists.  Other modes override it.
    """

    name: ClassVar[str]
    #: Whether the model has class offsets.
    with_offsets: ClassVar[bool] = True
    #: Whether the model has pairwise terms, and whether there must be at least one.
    takes_terms: ClassVar[bool] = True
    needs_terms: ClassVar[bool] = True
    #: Whether users may name learned terms.  `auto` does not accept names and tries the default ones.
    takes_learned_terms: ClassVar[bool] = False
    #: Whether all K scores are used if they are known, instead of the classifier's own shortlists, and whether users
    #: may pass `ExtendedOptions`.
    uses_all_scores: ClassVar[bool] = False
    #: Whether the penalties are always set by marginal likelihood.
    by_evidence: ClassVar[bool] = False
    #: Parameters that the mode chooses itself.  Setting one of them is an error.  A mode that chooses any must set the
    #: penalties itself too, or have `by_evidence`.
    chooses: ClassVar[tuple[str, ...]] = ()
    #: Parameters that the mode does not use.  Setting one of them to anything but 0 is an error.
    ignores: ClassVar[tuple[str, ...]] = ()

    def can_leave(self, mode: str) -> bool:
        """Return whether a fit in this mode can result in a model of that mode."""
        return mode == self.name

    def announce(self, calibration: CalibrationSet, plan: FitPlan) -> None:
        """Warn about the cost of the fit, or raise an error if something it needs is missing, before fitting."""

    def fit(self, calibration: CalibrationSet, plan: FitPlan, *, progress: bool = False) -> FittedProblem:
        """Choose hyperparameters if there is a grid to search, and fit the correction."""
        if plan.search is None:
            return self._fit(calibration, plan)
        from repair.tuning.grid_search import search_grid

        search = search_grid(
            plan.search, calibration, plan.terms, plan.settings, random_state=plan.random_state, progress=progress
        )
        choice = Choice(**vars(search.chosen))
        assert plan.replan is not None
        _, chosen_plan = plan.replan(choice)
        fitted = self._fit(calibration, chosen_plan, choice)
        return replace(fitted, state=replace(fitted.state, search=search))

    def _fit(self, calibration: CalibrationSet, plan: FitPlan, choice: Choice | None = None) -> FittedProblem:
        from repair.fitting.fit import FittedProblem, fit_problem
        from repair.fitting.problem import Problem

        problem = Problem.fixed(calibration, plan.terms, plan.settings.tau)
        state = fit_problem(problem, plan.settings, mode=self.name, notes=plan.notes, choice=choice)
        return FittedProblem(state, problem, plan.settings, plan.dial or 0.0)
