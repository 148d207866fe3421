"""From a calibration set to fitted offsets and weights: the one path every fit takes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair.arrays import PAD_ID, FloatArray, IntArray
from repair.calibration import CalibrationSet, effective_number
from repair.design import Design
from repair.errors import ConvergenceWarning, warn_user
from repair.grouped import GroupedLogit
from repair.objective import ConditionalLogit, Penalty
from repair.shrinkage import (
    LARGEST_VARIANCE,
    SMALLEST_VARIANCE,
    GroupPrior,
    Shrinkage,
    extrapolate,
    next_variances,
    paper_shrinkage,
)
from repair.solver import Solution, minimize
from repair.terms import Term

__all__ = ["Fit", "FitSettings", "fit_correction", "fit_design"]

#: The search for the group prior ends when no offset moves by more than this, or after so many rounds.
OFFSET_TOLERANCE = 1e-5
MAX_PRIOR_ROUNDS = 500


@dataclass(frozen=True, eq=False)
class FitSettings:
    """Everything about a fit that is chosen rather than learned (meanings as in `Reranker`)."""

    with_offsets: bool
    lambda_a: float
    lambda_theta: float
    alpha: float = 0.0
    tau: float = 0.0
    shrinkage: str | bool = False
    shrinkage_groups: IntArray | None = None
    tol: float = 1e-8
    max_iterations: int = 100


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted offsets (K,) and weights (d,), with the account of how they were found."""

    offsets: FloatArray
    weights: FloatArray
    information: FloatArray
    solution: Solution
    effective_rows: float
    shrinkage: Shrinkage | None = None


def fit_correction(
    calibration: CalibrationSet, terms: Sequence[Term], settings: FitSettings, scale: float = 1.0
) -> Fit:
    """Fit offsets and term weights jointly on the covered rows; warn if the solver fell short.

    `scale` multiplies the scores the model starts from.
    """
    design = Design.of(calibration, terms, settings.tau)
    fit = fit_design(design if scale == 1.0 else replace(design, base=scale * design.base), settings)
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
    problem = _Problem(design, settings)
    if settings.with_offsets and settings.shrinkage == "eb":
        return _fit_with_group_prior(problem, settings)
    fit = problem.solve(problem.ridge, start)
    if settings.with_offsets and settings.shrinkage == "paper":
        return _shrink_afterwards(fit, settings)
    return fit


class _Problem:
    """A design with row weights, and with offsets only for the classes that occur in it."""

    def __init__(self, design: Design, settings: FitSettings) -> None:
        self.n_classes = design.table.n_classes
        row_weights = design.row_weights(settings.alpha)
        self.effective_rows = effective_number(row_weights, design.groups)
        self.settings = settings
        self.active, index = _active_classes(design, settings.with_offsets)
        strength = [settings.lambda_theta / copies for copies in design.copies]
        self.ridge = self.penalty(np.full(self.n_classes, settings.lambda_a), np.zeros(self.n_classes), strength)
        self.logit = ConditionalLogit(
            design.base,
            index,
            design.columns,
            design.lengths,
            design.target,
            row_weights,
            len(self.active),
            self.ridge,
        )

    def penalty(self, strength: FloatArray, centre: FloatArray, on_weights: Sequence[float]) -> Penalty:
        """Penalty from class vectors and the strengths on the weights."""
        return Penalty(
            np.concatenate([strength[self.active], np.asarray(on_weights, dtype=np.float64)]),
            np.concatenate([centre[self.active], np.zeros(len(on_weights))]),
        )

    def solve(self, penalty: Penalty, start: Fit | None) -> Fit:
        """Minimise under `penalty`, from `start` if given; classes that do not occur keep the centre's 0."""
        self.logit.penalty = penalty
        first = penalty.centre if start is None else np.concatenate([start.offsets[self.active], start.weights])
        solution = minimize(self.logit, first, self.settings.tol, self.settings.max_iterations)
        return self.fit_from(solution.parameters, solution)

    def fit_from(self, parameters: FloatArray, solution: Solution) -> Fit:
        """Spread offsets over all classes; the logit must have been evaluated at `parameters` last."""
        n_active = len(self.active)
        offsets, information = np.zeros(self.n_classes), np.zeros(self.n_classes)
        offsets[self.active] = parameters[:n_active]
        information[self.active] = self.effective_rows * self.logit.curvature()[0]
        return Fit(offsets, parameters[n_active:].copy(), information, solution, self.effective_rows)


def _active_classes(design: Design, with_offsets: bool) -> tuple[IntArray, IntArray]:
    """Return the classes on any row, and each candidate's place among them (0 on padding)."""
    if not with_offsets:
        return np.zeros(0, dtype=np.int32), np.zeros(design.ids.shape, dtype=np.int32)
    real = design.ids != PAD_ID
    seen = np.zeros(design.table.n_classes, dtype=bool)
    seen[design.ids[real]] = True
    place = np.maximum(np.cumsum(seen) - 1, 0).astype(np.int32)
    return np.flatnonzero(seen).astype(np.int32), np.where(real, place[design.ids], 0).astype(np.int32)


def _groups(settings: FitSettings, n_classes: int) -> IntArray:
    return np.zeros(n_classes, dtype=np.int32) if settings.shrinkage_groups is None else settings.shrinkage_groups


def _fit_with_group_prior(problem: _Problem, settings: FitSettings) -> Fit:
    """Fit under N(μ_b, ν²_b) priors: μ as part of each fit, ν² updated in between."""
    groups = _groups(settings, problem.n_classes)
    n_groups, active = int(groups.max()) + 1, groups[problem.active]
    per_row, n_active = 2.0 * problem.effective_rows, len(problem.active)
    logit = GroupedLogit(problem.logit, active, n_groups, problem.ridge.strength[n_active:])
    start = np.clip(1.0 / (per_row * settings.lambda_a), SMALLEST_VARIANCE, LARGEST_VARIANCE)
    variances = np.full(n_groups, float(start))
    parameters, offsets, converged, rounds = np.zeros(logit.logit.size + n_groups), None, False, 0
    history = [variances]
    while not converged and rounds < MAX_PRIOR_ROUNDS:
        rounds += 1
        used = variances
        logit.set_strength(1.0 / (per_row * used[active]))
        solution = minimize(logit, parameters, settings.tol, settings.max_iterations)
        parameters = solution.parameters
        deviations, weights, means = logit.parts(parameters)
        information = problem.effective_rows * problem.logit.curvature()[0]
        last, offsets = offsets, deviations + means[active]
        converged = last is not None and bool((np.abs(offsets - last) <= OFFSET_TOLERANCE).all())
        history.append(next_variances(variances, deviations, information, active))
        variances = history[-1]
        if rounds % 3 == 0 and not converged:
            variances = extrapolate(history)
            history = [variances]
            offsets = None  # a leap says nothing about how near the end is
    prior = GroupPrior(groups, _means_of_all_groups(means, active), used)
    fit = problem.fit_from(np.concatenate([deviations + means[active], weights]), solution)
    account = Shrinkage("eb", prior, prior.factors(fit.information), rounds, converged)
    return replace(fit, offsets=np.where(fit.information > 0, fit.offsets, prior.class_means), shrinkage=account)


def _means_of_all_groups(means: FloatArray, active: IntArray) -> FloatArray:
    """Give groups of which no class occurs the mean over the classes that do."""
    occurs = np.bincount(active, minlength=len(means)) > 0
    return np.where(occurs, means, means[active].mean())


def _shrink_afterwards(fit: Fit, settings: FitSettings) -> Fit:
    ridge_precision = 2.0 * fit.effective_rows * settings.lambda_a
    groups = _groups(settings, len(fit.offsets))
    offsets, account = paper_shrinkage(fit.offsets, fit.information, ridge_precision, groups)
    return replace(fit, offsets=offsets, shrinkage=account)
