"""Priors from the data: fit, see how far offsets and weights spread, set the priors so, fit again.

Offsets of group b have the prior N(μ_b, ν²_b); μ is part of each fit, ν² is updated in between.
With `evidence`, the weights' prior N(0, ν²_θ) is set in the same way, so that no penalty is left
to choose: both updates climb the marginal likelihood in Laplace's approximation.
"""

from dataclasses import replace

import numpy as np

from repair.arrays import FloatArray, IntArray
from repair.fit_problem import Fit, FitProblem
from repair.grouped import GroupedLogit
from repair.shrinkage import (
    LARGEST_VARIANCE,
    SMALLEST_VARIANCE,
    GroupPrior,
    Shrinkage,
    next_variances,
)
from repair.solver import minimize
from repair.variance_search import VarianceSearch

__all__ = ["fit_with_priors"]

#: The search ends when no offset moves by more than this and no variance by more than this share, or after so many
#: rounds.
OFFSET_TOLERANCE, STEP_TOLERANCE = 1e-5, 0.02
MAX_PRIOR_ROUNDS = 500
#: While variances still move, fits need not be exact: the gradient may be this share of the largest move.  They take a
#: step at least, or the next variances would be those of parameters that know nothing of these.
INEXACT = 1e-5
#: A solver that fell short for rounding's sake may get there from where it stands, but not for ever.
SETTLED_ENOUGH = 4


def fit_with_priors(problem: FitProblem) -> Fit:
    """Fit under group priors for the offsets and, with `evidence`, a prior for the weights."""
    settings, groups = problem.settings, problem.groups
    n_groups = int(groups.max()) + 1 if settings.with_offsets else 0
    active, per_row = groups[problem.active], 2.0 * problem.effective_rows
    logit = GroupedLogit(problem.logit, active, n_groups)
    # One variance for each group, and a last one for the weights.
    variances = _first_variances(per_row, settings.lambda_a, settings.lambda_theta, n_groups)
    parameters, last, converged, rounds = np.zeros(logit.logit.size + n_groups), None, False, 0
    settled, tolerance, search = 0, max(settings.tol, INEXACT), VarianceSearch(n_groups + 1)
    while not converged and rounds < MAX_PRIOR_ROUNDS:
        rounds += 1
        used = variances
        logit.set_strength(1.0 / (per_row * used[active]), 1.0 / (per_row * used[-1] * problem.copies))
        solution = minimize(logit, parameters, settings.tol, settings.max_iterations, rough=tolerance)
        parameters = solution.parameters
        deviations, weights, means = logit.parts(parameters)
        found = np.concatenate([deviations + means[active], weights])
        step = np.log(_next(problem, used, deviations, weights, active) / used)
        # Parameters hardly move either where variances are so large that they do not matter: not the end.
        stands = last is not None and bool((np.abs(found - last) <= OFFSET_TOLERANCE).all())
        stands &= bool((np.abs(step) <= STEP_TOLERANCE).all())
        exact = stands and tolerance == settings.tol
        settled += exact
        converged = exact and (solution.converged or settled >= SETTLED_ENOUGH)
        tolerance = settings.tol if stands else max(settings.tol, INEXACT * float(np.abs(step).max()))
        last = found
        variances = np.clip(np.exp(search.next(np.log(used), step)), SMALLEST_VARIANCE, LARGEST_VARIANCE)
    fit = replace(problem.fit_from(found, solution), lambda_theta=float(1.0 / (per_row * used[-1])))
    if not settings.with_offsets:
        return fit if converged else replace(fit, solution=replace(solution, converged=False))
    prior = GroupPrior(groups, _means_of_all_groups(means, active), used[:-1])
    account = Shrinkage("eb", prior, prior.factors(fit.information), rounds, converged)
    return replace(fit, offsets=np.where(fit.information > 0, fit.offsets, prior.class_means), shrinkage=account)


def _first_variances(per_row: float, lambda_a: float, lambda_theta: float, n_groups: int) -> FloatArray:
    """Start from the variances that the given penalties stand for."""
    start = np.append(np.full(n_groups, 1.0 / (per_row * lambda_a)), 1.0 / (per_row * lambda_theta))
    return np.append(np.clip(start[:-1], SMALLEST_VARIANCE, LARGEST_VARIANCE), start[-1])


def _next(
    problem: FitProblem, used: FloatArray, deviations: FloatArray, weights: FloatArray, active: IntArray
) -> FloatArray:
    """Return the next variances; that of the weights only moves with `evidence`."""
    diagonal, block = problem.logit.curvature()
    information = problem.effective_rows * diagonal
    of_groups = next_variances(used[:-1], deviations, information, active)
    if not problem.settings.evidence or not len(weights):
        return np.append(of_groups, used[-1])
    precision = 1.0 / (used[-1] * problem.copies)
    covariance = _weight_covariance(problem, block, information + 1.0 / used[active], precision)
    trust = float((1.0 - precision * np.diag(covariance)).sum())
    spread = float((weights**2 / problem.copies).sum())
    updated = spread / max(trust, 1e-6 * len(weights))
    return np.append(of_groups, np.clip(updated, SMALLEST_VARIANCE, LARGEST_VARIANCE))


def _weight_covariance(
    problem: FitProblem, block: FloatArray, of_offsets: FloatArray, precision: FloatArray
) -> FloatArray:
    """Return the weights' posterior covariance, the offsets taken as independent given them."""
    schur = problem.effective_rows * block + np.diag(precision)
    if problem.logit.n_offsets:
        mixed = problem.effective_rows * problem.logit.cross_curvature()
        schur = schur - np.einsum("ad,ae->de", mixed / of_offsets[:, None], mixed)
    # The approximation may overshoot: no direction is known less well than its prior says.
    scale = np.sqrt(precision)
    values, vectors = np.linalg.eigh(schur / np.outer(scale, scale))
    inverse: FloatArray = (vectors / np.maximum(values, 1.0)) @ vectors.T / np.outer(scale, scale)
    return inverse


def _means_of_all_groups(means: FloatArray, active: IntArray) -> FloatArray:
    """Give groups of which no class occurs the mean over the classes that do."""
    occurs = np.bincount(active, minlength=len(means)) > 0
    return np.where(occurs, means, means[active].mean())
