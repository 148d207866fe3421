"""Truncated Newton for the convex conditional logit.

Each step solves the Newton equation approximately by preconditioned conjugate gradients and then
searches along the direction.  How it ended is part of the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from repair.arrays import FloatArray, dot

__all__ = ["Objective", "Solution", "minimize"]

#: A step must gain at least this share of what the slope promises.
SUFFICIENT_DECREASE = 1e-4
#: Objective changes below the first share of its value are rounding: then the gradient must fall instead.  Below the
#: second they may be, where scores are large: then it is enough if the gradient falls.
ROUNDING, PERHAPS_ROUNDING = 1e-13, 1e-11
WORTHWHILE = 0.9
#: After a step that gains no more than this and took no more products, the preconditioner serves the next one too.
LITTLE_GAIN, FEW_PRODUCTS = 0.1, 4
SMALLEST_STEP = 2.0**-80


class Objective(Protocol):
    """What the solver needs of a convex function: it looks at nothing else."""

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Evaluate; products and preconditioner then refer to this point."""
        ...

    def hessian_product(self, direction: FloatArray) -> FloatArray:
        """Multiply the Hessian by a direction."""
        ...

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        """Return an approximate inverse of the Hessian."""
        ...

    def units(self) -> FloatArray:
        """Return the size of each parameter's column, at least 1."""
        ...


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


def minimize(
    objective: Objective, start: FloatArray, tolerance: float, max_iterations: int, rough: float = 0.0
) -> Solution:
    """Minimise until the largest gradient entry is at most `tolerance`; after one step, `rough` is enough if larger.

    Entries are measured in units of their column where that is larger than 1: with scores in the
    millions, a gradient of 1e-8 in plain units is below what rounding allows.
    """
    units = objective.units()
    parameters = start.copy()
    value, gradient = objective.value_and_gradient(parameters)
    evaluations, products = 1, 0
    precondition, wanted = None, max(tolerance, rough)
    for iteration in range(max_iterations + 1):
        norm = _largest(gradient, units)
        if norm <= (wanted if iteration else tolerance) or iteration == max_iterations or not np.isfinite(value):
            break
        forcing = min(0.1, norm**0.5)
        if precondition is None:
            precondition = objective.preconditioner()
        direction, used = _newton_direction(objective, precondition, gradient, forcing)
        products += used
        slope = dot(gradient, direction)
        step = 1.0
        while True:
            trial = parameters + step * direction
            trial_value, trial_gradient = objective.value_and_gradient(trial)
            evaluations += 1
            if _improves(value, trial_value, step * slope, norm, _largest(trial_gradient, units)):
                break
            step /= 2.0
            if step < SMALLEST_STEP:
                objective.value_and_gradient(parameters)  # leave the probabilities at the point returned
                return Solution(parameters, value, norm, iteration, evaluations + 1, products, False)
        if value - trial_value > LITTLE_GAIN or used > FEW_PRODUCTS:
            precondition = None
        parameters, value, gradient = trial, trial_value, trial_gradient
    norm = _largest(gradient, units)
    return Solution(parameters, value, norm, iteration, evaluations, products, bool(norm <= wanted))


def _largest(gradient: FloatArray, units: FloatArray) -> float:
    return float(np.abs(gradient / units).max(initial=0.0))


def _improves(old: float, new: float, promised: float, old_norm: float, new_norm: float) -> bool:
    change = abs(new - old) / max(1.0, abs(old))
    if change <= PERHAPS_ROUNDING and new_norm <= WORTHWHILE * old_norm:
        return True
    return change > ROUNDING and new <= old + SUFFICIENT_DECREASE * promised


def _newton_direction(
    objective: Objective, precondition: Callable[[FloatArray], FloatArray], gradient: FloatArray, forcing: float
) -> tuple[FloatArray, int]:
    """Solve H·d = −g to a residual of `forcing` times the gradient, in the preconditioner's norm."""
    direction = np.zeros_like(gradient)
    residual = -gradient
    conjugate = precondition(residual)
    size = dot(residual, conjugate)
    target = forcing**2 * size
    products, limit = 0, 2 * len(gradient) + 10
    while True:
        products += 1
        image = objective.hessian_product(conjugate)
        bend = dot(conjugate, image)
        if not 0.0 < bend < np.inf:  # rounding has eaten the curvature; what has been gained must do
            return (direction if direction.any() else conjugate), products
        length = size / bend
        direction += length * conjugate
        residual -= length * image
        scaled = precondition(residual)
        new_size = dot(residual, scaled)
        if not new_size > target or products == limit:
            return direction, products
        conjugate = scaled + (new_size / size) * conjugate
        size = new_size
