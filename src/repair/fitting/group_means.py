"""The conditional logit with each offset written as group mean plus deviation, a = μ_b + z.

Only the deviations are penalised.  Optimising μ together with z and θ finds the group means
directly.  Setting them to the mean of the offsets after each fit instead would converge slowly if
deviations are small, because the offsets then hardly leave the means of the previous round.
"""

from collections.abc import Callable

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair.fitting.conditional_logit import ConditionalLogit, Penalty

__all__ = ["GroupedLogit"]

#: Adding the same number to all means does not change the loss.  This weak penalty keeps them from drifting.
MEAN_STRENGTH = 1e-9


class GroupedLogit:
    """A `ConditionalLogit` in the parameters (deviations z, weights θ, means μ).

    Parameters
    ----------
    logit : ConditionalLogit
        The logit in offsets and weights.  Its own penalty is set to zero.
    groups : ndarray of int (n_offsets,)
        Group of each offset.
    n_groups : int
    """

    def __init__(self, logit: ConditionalLogit, groups: IntArray, n_groups: int) -> None:
        self.logit, self.groups, self.n_groups = logit, groups, n_groups
        logit.penalty = Penalty(np.zeros(logit.size), np.zeros(logit.size))
        self.set_strength(np.ones(logit.n_offsets), np.ones(logit.size - logit.n_offsets))

    def set_strength(self, on_deviations: FloatArray, on_weights: FloatArray) -> None:
        """Set the penalty strengths of the deviations and of the weights."""
        strength = np.concatenate([on_deviations, on_weights, np.full(self.n_groups, MEAN_STRENGTH)])
        self.penalty = Penalty(strength, np.zeros(len(strength)))

    def parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Split a parameter vector into deviations, weights and means."""
        first, second = self.logit.n_offsets, self.logit.size
        return parameters[:first], parameters[first:second], parameters[second:]

    def units(self) -> FloatArray:
        """Return the size of each parameter's column, see `ConditionalLogit.units`."""
        return np.concatenate([self.logit.units(), np.ones(self.n_groups)])

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its gradient.  Later Hessian products refer to this point."""
        value, gradient = self.logit.value_and_gradient(self._expand(parameters))
        return value + self.penalty.value(parameters), self._collect(gradient) + self.penalty.gradient(parameters)

    def hessian_product(self, direction: FloatArray) -> FloatArray:
        """Return the Hessian times `direction`, at the point last evaluated."""
        product = self._collect(self.logit.hessian_product(self._expand(direction)))
        return product + 2.0 * self.penalty.strength * direction

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        """Return an approximate inverse of the Hessian at the point last evaluated."""
        deviations, weights, means = self.parts(2.0 * self.penalty.strength)
        inner = self.logit.preconditioner(np.concatenate([deviations, weights]))
        diagonal = self.logit.offset_curvature()
        on_means = 1.0 / (np.bincount(self.groups, diagonal, minlength=self.n_groups) + means)

        def apply(vector: FloatArray) -> FloatArray:
            return np.concatenate([inner(vector[: self.logit.size]), on_means * vector[self.logit.size :]])

        return apply

    def _expand(self, parameters: FloatArray) -> FloatArray:
        deviations, weights, means = self.parts(parameters)
        return np.concatenate([deviations + means[self.groups], weights])

    def _collect(self, gradient: FloatArray) -> FloatArray:
        on_offsets = gradient[: self.logit.n_offsets]
        return np.concatenate([gradient, np.bincount(self.groups, on_offsets, minlength=self.n_groups)])
