"""From a calibration set to a fitted model's state: the one path every fit takes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from repair.calibration import CalibrationSet
from repair.correction import Correction
from repair.design import Design
from repair.empirical_bayes import fit_with_priors
from repair.errors import ConvergenceWarning, warn_user
from repair.fit_problem import Fit, FitProblem, FitSettings
from repair.fitted_state import FitAccount, FittedState
from repair.shrinkage import paper_shrinkage
from repair.terms import Term

__all__ = ["Fit", "FitSettings", "fit_correction", "fit_design", "fitted_state", "warn_if_unsettled"]


def fit_correction(
    calibration: CalibrationSet, terms: Sequence[Term], settings: FitSettings, scale: float = 1.0
) -> Fit:
    """Fit offsets and term weights jointly on the covered rows; warn if the solver fell short.

    `scale` multiplies the scores the model starts from.
    """
    design = Design.of(calibration, terms, settings.tau)
    fit = fit_design(design if scale == 1.0 else replace(design, base=scale * design.base), settings)
    return warn_if_unsettled(fit, settings)


def warn_if_unsettled(fit: Fit, settings: FitSettings) -> Fit:
    """Return the fit, after a warning if a search or the solver fell short."""
    if fit.shrinkage is not None and not fit.shrinkage.converged:
        warn_user(
            f"the search for the shrinkage prior had not settled after {fit.shrinkage.iterations} rounds; "
            "use fewer groups, or shrinkage='paper'",
            ConvergenceWarning,
        )
    if not fit.solution.converged:
        warn_user(
            f"the fit stopped after {fit.solution.iterations} iterations with a gradient norm of "
            f"{fit.solution.gradient_norm:.2e} (asked for {settings.tol:.0e}); "
            "raise max_iterations, raise the penalties, or check the scale of the scores",
            ConvergenceWarning,
        )
    return fit


def fit_design(design: Design, settings: FitSettings, start: Fit | None = None) -> Fit:
    """Fit on these rows, whose columns already carry the pre-adjustment, from `start` if given."""
    problem = FitProblem(design, settings)
    if settings.evidence or (settings.with_offsets and settings.shrinkage == "eb"):
        return fit_with_priors(problem)
    fit = problem.solve(problem.ridge, start)
    if settings.with_offsets and settings.shrinkage == "paper":
        return _shrink_afterwards(fit, problem)
    return fit


def _shrink_afterwards(fit: Fit, problem: FitProblem) -> Fit:
    ridge_precision = 2.0 * fit.effective_rows * problem.settings.lambda_a
    offsets, account = paper_shrinkage(fit.offsets, fit.information, ridge_precision, problem.groups)
    return replace(fit, offsets=offsets, shrinkage=account)


def fitted_state(
    calibration: CalibrationSet,
    terms: tuple[Term, ...],
    settings: FitSettings,
    *,
    mode: str,
    notes: tuple[str, ...] = (),
    scale: float = 1.0,
    fit: Fit | None = None,
) -> FittedState:
    """Fit a conditional logit with these terms, unless `fit` is given, and put it into a model's state."""
    if fit is None:
        fit = fit_correction(calibration, terms, settings, scale)
    account = FitAccount(
        mode=mode,
        n_rows=len(calibration.labels),
        n_covered=int(calibration.covered.sum()),
        n_unknown=int((calibration.labels < 0).sum()),
        effective_rows=fit.effective_rows,
        objective=fit.solution.value,
        gradient_norm=fit.solution.gradient_norm,
        iterations=fit.solution.iterations,
        converged=fit.solution.converged and (fit.shrinkage is None or fit.shrinkage.converged),
        notes=notes,
    )
    if settings.evidence:
        chosen: dict[str, object] = {"lambda_theta": fit.lambda_theta, "selection": None}
        account = replace(account, chosen={**chosen, "shrinkage": settings.shrinkage})
    return FittedState(
        correction=Correction(calibration.table, settings.tau, fit.offsets, terms, fit.weights, np.array([scale])),
        n_candidates=calibration.shortlist.n_candidates,
        labels_are_names=calibration.labels_are_names,
        label_counts=calibration.label_counts(),
        label_shares=calibration.label_shares(settings.alpha),
        account=account,
        information=fit.information if settings.with_offsets else None,
        shrinkage=fit.shrinkage,
    )
