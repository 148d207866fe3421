"""Fitting a problem and building the state of the fitted model.  Every fit goes through this module."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from repair.data.calibration_set import CalibrationSet
from repair.errors import ConvergenceWarning, warn_user
from repair.fitting.design_matrix import Design
from repair.fitting.empirical_bayes import fit_with_priors
from repair.fitting.penalised_logit import Fit, PenalisedLogit
from repair.fitting.problem import Problem
from repair.fitting.settings import FitSettings
from repair.fitting.shrinkage import paper_shrinkage
from repair.model.choice import Choice
from repair.model.correction import Correction
from repair.model.state import FitSummary, FittedState
from repair.terms.term_checks import check_finite

__all__ = ["FittedProblem", "fit_design", "fit_problem", "summary_of"]


@dataclass(frozen=True, eq=False)
class FittedProblem:
    """A fitted state with its problem and its settings.

    Attributes
    ----------
    state : FittedState
    problem : Problem
    settings : FitSettings
    dial : float or "macro", default 0.0
        The dial that the model will be used with.
    """

    state: FittedState
    problem: Problem
    settings: FitSettings
    dial: float | str = 0.0


def fit_design(design: Design, settings: FitSettings, start: Fit | None = None) -> Fit:
    """Fit a design, which already includes the pre-adjustment.

    Parameters
    ----------
    design : Design
    settings : FitSettings
    start : Fit, optional
        Where the solver starts.  It does not affect the solution of a fit without priors, which is
        convex, and is not used by fits with priors.

    Returns
    -------
    Fit
    """
    logit = PenalisedLogit(design, settings)
    if settings.evidence or (settings.with_offsets and settings.shrinkage == "eb"):
        return fit_with_priors(logit)
    fit = logit.solve(logit.ridge, start)
    if settings.with_offsets and settings.shrinkage == "paper":
        return _shrink_afterwards(fit, logit)
    return fit


def fit_problem(
    problem: Problem,
    settings: FitSettings,
    *,
    mode: str,
    notes: tuple[str, ...] = (),
    choice: Choice | None = None,
    scale: float = 1.0,
) -> FittedState:
    """Fit offsets and weights jointly, and warn if the fit did not converge.

    Parameters
    ----------
    problem : Problem
    settings : FitSettings
    mode : str
        Name of the fitted mode, for the summary.
    notes : tuple of str, default ()
        Notes for the summary.
    choice : Choice, optional
        What was chosen before the fit.  By default, a fit that chooses the penalties from the data
        records these.
    scale : float, default 1
        Factor by which the base scores are multiplied.

    Returns
    -------
    FittedState
    """
    fit = fit_design((problem if scale == 1.0 else problem.scaled(scale)).design, settings)
    if not fit.solution.converged:
        check_finite(problem.terms, problem.widths, problem.design.columns)
    _warn_if_not_converged(fit, settings)
    calibration, (terms, weights) = problem.calibration, problem.collapsed(fit.weights)
    if choice is None:
        choice = Choice(lambda_theta=fit.lambda_theta, shrinkage="eb") if settings.evidence else Choice()
    return FittedState(
        correction=Correction(calibration.table, settings.tau, fit.offsets, terms, weights, np.array([scale])),
        n_candidates=problem.n_candidates or calibration.shortlist.n_candidates,
        n_ranked=calibration.shortlist.n_candidates,
        labels_are_names=calibration.labels_are_names,
        label_counts=calibration.label_counts(),
        label_shares=calibration.label_shares(settings.alpha),
        summary=replace(
            summary_of(calibration, mode, (*notes, *problem.notes)),
            effective_rows=fit.effective_rows,
            objective=fit.solution.value,
            gradient_norm=fit.solution.gradient_norm,
            iterations=fit.solution.iterations,
            converged=fit.solution.converged and (fit.shrinkage is None or fit.shrinkage.converged),
        ),
        choice=choice,
        information=fit.information if settings.with_offsets else None,
        shrinkage=fit.shrinkage,
        shortlist_tau=problem.shortlist_tau,
    )


def summary_of(calibration: CalibrationSet, mode: str, notes: tuple[str, ...] = ()) -> FitSummary:
    """Return the summary of a model before, or without, any optimisation."""
    return FitSummary(
        mode=mode,
        n_rows=len(calibration.labels),
        n_covered=int(calibration.covered.sum()),
        n_unknown=int((calibration.labels < 0).sum()),
        effective_rows=calibration.effective_rows(),
        notes=notes,
    )


def _shrink_afterwards(fit: Fit, logit: PenalisedLogit) -> Fit:
    ridge_precision = 2.0 * fit.effective_rows * logit.settings.lambda_a
    offsets, shrinkage = paper_shrinkage(fit.offsets, fit.information, ridge_precision, logit.groups)
    return replace(fit, offsets=offsets, shrinkage=shrinkage)


def _warn_if_not_converged(fit: Fit, settings: FitSettings) -> None:
    """Warn if the search for the priors or the solver did not converge."""
    if fit.shrinkage is not None and not fit.shrinkage.converged:
        warn_user(
            f"the search for the shrinkage prior did not converge in {fit.shrinkage.iterations} rounds; "
            "use fewer groups, or shrinkage='paper'",
            ConvergenceWarning,
        )
    if not fit.solution.converged:
        warn_user(
            f"the fit stopped after {fit.solution.iterations} iterations with a gradient norm of "
            f"{fit.solution.gradient_norm:.2e} (tolerance {settings.tol:.0e}); "
            "raise max_iter, raise the penalties, or check the scale of the scores",
            ConvergenceWarning,
        )
