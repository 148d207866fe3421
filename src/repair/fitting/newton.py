"""Truncated Newton method for the convex conditional logit.

Each iteration solves the Newton equation approximately by preconditioned conjugate gradients, and
then searches along the direction.  The result says whether the method converged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from repair._utils.arrays import FloatArray, dot

__all__ = ["Objective", "Solution", "minimize"]

#: A step must decrease the objective by at least this fraction of what the slope predicts.
SUFFICIENT_DECREASE = 1e-4
#: Relative changes of the objective up to the first number are rounding errors, so the gradient must decrease instead.
#: Up to the second they may be, if scores are large, so it is enough that the gradient decreases.
ROUNDING, PERHAPS_ROUNDING = 1e-13, 1e-11
#: The gradient norm must decrease at least to this fraction.
WORTHWHILE = 0.9
#: After a step that gained at most this much and needed at most this many products, the preconditioner is used again.
LITTLE_GAIN, FEW_PRODUCTS = 0.1, 4
SMALLEST_STEP = 2.0**-80


class Objective(Protocol):
    """The interface of a convex function that the solver can minimise."""

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient.  Later products and preconditioners refer to this point."""
        ...

    def hessian_product(self, direction: FloatArray) -> FloatArray:
        """Return the Hessian times a direction."""
        ...

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        """Return an approximate inverse of the Hessian."""
        ...

    def units(self) -> FloatArray:
        """Return the size of each parameter's column, at least 1."""
        ...


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of the solver.

    Attributes
    ----------
    parameters : ndarray
        The point at which the solver stopped.
    value, gradient_norm : float
        Objective and largest gradient entry at this point.
    iterations, evaluations, hessian_products : int
        Number of Newton steps, of evaluations of the objective, and of Hessian products.
    converged : bool
        Whether the gradient norm reached the tolerance.
    """

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
    """Minimise an objective until its largest gradient entry is at most `tolerance`.

    Gradient entries are divided by the size of their column if that is larger than 1.  With scores
    in the millions, an undivided gradient of 1e-8 is below what rounding allows.

    Parameters
    ----------
    objective : Objective
    start : ndarray
    tolerance : float
    max_iterations : int
    rough : float, default 0.0
        If this is larger than `tolerance`, it is the tolerance after the first step.

    Returns
    -------
    Solution
    """
    units = objective.units()
    parameters = start.copy()
    value, gradient = objective.value_and_gradient(parameters)
    evaluations, products = 1, 0
    precondition, sufficient = None, max(tolerance, rough)
    for iteration in range(max_iterations + 1):
        norm = _largest(gradient, units)
        if norm <= (sufficient if iteration else tolerance) or iteration == max_iterations or not np.isfinite(value):
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
                objective.value_and_gradient(parameters)  # leave the objective at the point that is returned
                return Solution(parameters, value, norm, iteration, evaluations + 1, products, False)
        if value - trial_value > LITTLE_GAIN or used > FEW_PRODUCTS:
            precondition = None
        parameters, value, gradient = trial, trial_value, trial_gradient
    norm = _largest(gradient, units)
    return Solution(parameters, value, norm, iteration, evaluations, products, bool(norm <= sufficient))


def _largest(gradient: FloatArray, units: FloatArray) -> float:
    return float(np.abs(gradient / units).max(initial=0.0))


def _improves(old: float, new: float, predicted: float, old_norm: float, new_norm: float) -> bool:
    change = abs(new - old) / max(1.0, abs(old))
    if change <= PERHAPS_ROUNDING and new_norm <= WORTHWHILE * old_norm:
        return True
    return change > ROUNDING and new <= old + SUFFICIENT_DECREASE * predicted


def _newton_direction(
    objective: Objective, precondition: Callable[[FloatArray], FloatArray], gradient: FloatArray, forcing: float
) -> tuple[FloatArray, int]:
    """Solve H·d = −g until the residual is `forcing` times the gradient, in the norm of the preconditioner.

    Returns the direction and the number of Hessian products.
    """
    direction = np.zeros_like(gradient)
    residual = -gradient
    conjugate = precondition(residual)
    size = dot(residual, conjugate)
    target = forcing**2 * size
    products, limit = 0, 2 * len(gradient) + 10
    while True:
        products += 1
        image = objective.hessian_product(conjugate)
        curvature = dot(conjugate, image)
        if not 0.0 < curvature < np.inf:  # rounding makes the curvature unusable, so return the direction so far
            return (direction if direction.any() else conjugate), products
        length = size / curvature
        direction += length * conjugate
        residual -= length * image
        scaled = precondition(residual)
        new_size = dot(residual, scaled)
        if not new_size > target or products == limit:
            return direction, products
        conjugate = scaled + (new_size / size) * conjugate
        size = new_size
