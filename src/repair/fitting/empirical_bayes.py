"""Empirical-Bayes priors: fit, set the variances of the priors from the estimates, and fit again.

Offsets of group b have the prior N(μ_b, ν²_b).  μ is part of each fit, and ν² is updated between
fits.  With `evidence`, the priors N(0, ν²_θ) of the weights are set in the same way, so no penalty is
left to choose.  The weights of the fixed terms share one prior, and each learned term has its own, so
a term that does not help is shrunk to nothing without weakening the others.  The updates increase the
marginal likelihood in Laplace's approximation.
"""

from dataclasses import replace

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair.fitting.group_means import GroupedLogit
from repair.fitting.newton import minimize
from repair.fitting.penalised_logit import Fit, PenalisedLogit
from repair.fitting.shrinkage import LARGEST_VARIANCE, SMALLEST_VARIANCE, next_variances
from repair.fitting.variance_search import VarianceSearch
from repair.model.shrinkage import GroupPrior, Shrinkage

__all__ = ["fit_with_priors"]

#: The search ends if no parameter changes by more than the first number and no logarithm of a variance by more than the
#: second, or after this many rounds.
OFFSET_TOLERANCE, STEP_TOLERANCE = 1e-5, 0.02
MAX_PRIOR_ROUNDS = 500
#: While variances still change, fits need not be exact: the gradient norm may be this fraction of the largest change.
#: Every fit takes at least one step, so the parameters always depend on the current variances.
INEXACT = 1e-5
#: If rounding keeps the solver from its tolerance, further rounds may reach it.  The search ends after this many.
MAX_EXACT_ROUNDS = 4


def fit_with_priors(problem: PenalisedLogit) -> Fit:
    """Fit with group priors for the offsets and, with `evidence`, priors for the weights."""
    settings, groups = problem.settings, problem.groups
    n_groups = int(groups.max()) + 1 if settings.with_offsets else 0
    active, per_row = groups[problem.active], 2.0 * problem.effective_rows
    logit = GroupedLogit(problem.logit, active, n_groups)
    n_priors = int(problem.priors.max()) + 1 if len(problem.priors) else 1
    # One variance for each group, then one for each prior of the weights.
    variances = _first_variances(per_row, settings.lambda_a, settings.lambda_theta, n_groups, n_priors)
    parameters, last, converged, rounds = np.zeros(logit.logit.size + n_groups), None, False, 0
    exact_rounds, tolerance, search = 0, max(settings.tol, INEXACT), VarianceSearch(n_groups + n_priors)
    while not converged and rounds < MAX_PRIOR_ROUNDS:
        rounds += 1
        used = variances
        on_weights = used[n_groups:][problem.priors] * problem.multiplicity
        logit.set_strength(1.0 / (per_row * used[active]), 1.0 / (per_row * on_weights))
        solution = minimize(logit, parameters, settings.tol, settings.max_iter, rough=tolerance)
        parameters = solution.parameters
        deviations, weights, means = logit.parts(parameters)
        estimates = np.concatenate([deviations + means[active], weights])
        step = np.log(_updated_variances(problem, used, deviations, weights, active) / used)
        # Check the variances too: if they are very large, parameters hardly change although the search is not done.
        stationary = last is not None and bool((np.abs(estimates - last) <= OFFSET_TOLERANCE).all())
        stationary &= bool((np.abs(step) <= STEP_TOLERANCE).all())
        exact = stationary and tolerance == settings.tol
        exact_rounds += exact
        converged = exact and (solution.converged or exact_rounds >= MAX_EXACT_ROUNDS)
        tolerance = settings.tol if stationary else max(settings.tol, INEXACT * float(np.abs(step).max()))
        last = estimates
        variances = np.clip(np.exp(search.next(np.log(used), step)), SMALLEST_VARIANCE, LARGEST_VARIANCE)
    fit = replace(problem.fit_from(estimates, solution), lambda_theta=float(1.0 / (per_row * used[n_groups])))
    if not settings.with_offsets:
        return fit if converged else replace(fit, solution=replace(solution, converged=False))
    prior = GroupPrior(groups, _means_of_all_groups(means, active), used[:n_groups])
    shrinkage = Shrinkage("eb", prior, prior.factors(fit.information), rounds, converged)
    return replace(fit, offsets=np.where(fit.information > 0, fit.offsets, prior.class_means), shrinkage=shrinkage)


def _first_variances(per_row: float, lambda_a: float, lambda_theta: float, n_groups: int, n_priors: int) -> FloatArray:
    """Return the start of the search: the variances that correspond to the given penalties."""
    on_offsets = np.clip(np.full(n_groups, 1.0 / (per_row * lambda_a)), SMALLEST_VARIANCE, LARGEST_VARIANCE)
    return np.append(on_offsets, np.full(n_priors, 1.0 / (per_row * lambda_theta)))


def _updated_variances(
    problem: PenalisedLogit, used: FloatArray, deviations: FloatArray, weights: FloatArray, active: IntArray
) -> FloatArray:
    """Return the updated variances.  Those of the weights change only with `evidence`."""
    n_groups, priors = int(problem.groups.max()) + 1 if problem.settings.with_offsets else 0, problem.priors
    diagonal, block = problem.logit.curvature()
    information = problem.effective_rows * diagonal
    group_variances = next_variances(used[:n_groups], deviations, information, active)
    if not problem.settings.evidence or not len(weights):
        return np.append(group_variances, used[n_groups:])
    on_weights = used[n_groups:]
    precision = 1.0 / (on_weights[priors] * problem.multiplicity)
    covariance = _weight_covariance(problem, block, information + 1.0 / used[active], precision)
    trust = np.bincount(priors, 1.0 - precision * np.diag(covariance), minlength=len(on_weights))
    spread = np.bincount(priors, weights**2 / problem.multiplicity, minlength=len(on_weights))
    size = np.bincount(priors, minlength=len(on_weights))
    updated = np.where(size > 0, spread / np.maximum(trust, 1e-6 * np.maximum(size, 1)), on_weights)
    return np.append(group_variances, np.clip(updated, SMALLEST_VARIANCE, LARGEST_VARIANCE))


def _weight_covariance(
    problem: PenalisedLogit, block: FloatArray, offset_precision: FloatArray, precision: FloatArray
) -> FloatArray:
    """Return the posterior covariance of the weights, with offsets that are independent given the weights."""
    schur = problem.effective_rows * block + np.diag(precision)
    if problem.logit.n_offsets:
        cross = problem.effective_rows * problem.logit.cross_curvature()
        schur = schur - np.einsum("ad,ae->de", cross / offset_precision[:, None], cross)
    # The approximation can overshoot, but the posterior is never wider than the prior, so the eigenvalues are clipped.
    scale = np.sqrt(precision)
    values, vectors = np.linalg.eigh(schur / np.outer(scale, scale))
    inverse: FloatArray = (vectors / np.maximum(values, 1.0)) @ vectors.T / np.outer(scale, scale)
    return inverse


def _means_of_all_groups(means: FloatArray, active: IntArray) -> FloatArray:
    """Return the means, with the mean over all classes that occur for groups without such a class."""
    occurs = np.bincount(active, minlength=len(means)) > 0
    return np.where(occurs, means, means[active].mean())
