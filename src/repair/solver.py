"""Truncated Newton for the convex conditional logit.

Each step solves the Newton equation approximately by preconditioned conjugate gradients and then
searches along the direction.  The preconditioner is the offsets' diagonal and the weights' full
block.  How it ended is part of the result.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repair.arrays import FloatArray
from repair.objective import ConditionalLogit

__all__ = ["Solution", "minimize"]

#: A step must gain at least this share of what the slope promises.
SUFFICIENT_DECREASE = 1e-4
#: Objective changes below this share of its value are rounding; then the gradient decides.
ROUNDING = 1e-13
SMALLEST_STEP = 2.0**-40


@dataclass(frozen=True, eq=False)
class Solution:
    """Where the solver stopped, and how."""

    parameters: FloatArray
    value: float
    gradient_norm: float
    iterations: int
    evaluations: int
    hessian_products: int
    converged: bool


def minimize(objective: ConditionalLogit, start: FloatArray, tolerance: float, max_iterations: int) -> Solution:
    """Minimise until the largest gradient entry is at most `tolerance`."""
    parameters = start.copy()
    value, gradient = objective.value_and_gradient(parameters)
    evaluations, products = 1, 0
    for iteration in range(max_iterations + 1):
        norm = _largest(gradient)
        if norm <= tolerance or iteration == max_iterations or not np.isfinite(value):
            break
        forcing = min(0.1, norm**0.5)
        direction, used = _newton_direction(objective, gradient, forcing)
        products += used
        step = 1.0
        while True:
            trial = parameters + step * direction
            trial_value, trial_gradient = objective.value_and_gradient(trial)
            evaluations += 1
            if _improves(value, trial_value, step * float(gradient @ direction), gradient, trial_gradient):
                break
            step /= 2.0
            if step < SMALLEST_STEP:
                objective.value_and_gradient(parameters)  # leave the probabilities at the point returned
                return Solution(parameters, value, norm, iteration, evaluations + 1, products, False)
        parameters, value, gradient = trial, trial_value, trial_gradient
    norm = _largest(gradient)
    return Solution(parameters, value, norm, iteration, evaluations, products, bool(norm <= tolerance))


def _largest(gradient: FloatArray) -> float:
    return float(np.abs(gradient).max(initial=0.0))


def _improves(old: float, new: float, promised: float, old_gradient: FloatArray, new_gradient: FloatArray) -> bool:
    if new <= old + SUFFICIENT_DECREASE * promised:
        return True
    within_rounding = abs(new - old) <= ROUNDING * max(1.0, abs(old))
    return within_rounding and _largest(new_gradient) < _largest(old_gradient)


def _newton_direction(objective: ConditionalLogit, gradient: FloatArray, forcing: float) -> tuple[FloatArray, int]:
    """Solve H·d = −g to a residual of `forcing` times the gradient, in the preconditioner's norm."""
    precondition = _preconditioner(objective)
    direction = np.zeros_like(gradient)
    residual = -gradient
    conjugate = precondition(residual)
    size = float(residual @ conjugate)
    target = forcing**2 * size
    products, limit = 0, 2 * len(gradient) + 10
    while True:
        products += 1
        image = objective.hessian_product(conjugate)
        length = size / float(conjugate @ image)
        direction += length * conjugate
        residual -= length * image
        scaled = precondition(residual)
        new_size = float(residual @ scaled)
        if new_size <= target or products == limit:
            return direction, products
        conjugate = scaled + (new_size / size) * conjugate
        size = new_size


def _preconditioner(objective: ConditionalLogit) -> Callable[[FloatArray], FloatArray]:
    n_offsets = objective.n_offsets
    diagonal, block = objective.curvature()
    ridge = 2.0 * objective.penalty.strength
    inverse_diagonal = 1.0 / (diagonal + ridge[:n_offsets])
    inverse_block = np.linalg.inv(block + np.diag(ridge[n_offsets:]))

    def apply(vector: FloatArray) -> FloatArray:
        return np.concatenate([inverse_diagonal * vector[:n_offsets], inverse_block @ vector[n_offsets:]])

    return apply
