"""A short L-BFGS for the logistic regressions of the learned terms.

scipy's L-BFGS-B also treats bounds.  With many thousand parameters, it spends more time on them than the loss takes.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray

__all__ = ["minimized"]

#: Number of steps from which the curvature is estimated.
STEPS_KEPT = 8
#: Largest length of the first step, measured by the estimated curvature.
FIRST_LENGTH = 10.0
#: Steps along which the curvature times the squared length is not larger than this are forgotten.  Products of float32
#: numbers as small as this soon round to 0, by which nothing can be divided.
SMALLEST_PRODUCT = 1e-30
#: A step must reach this share of the decrease that its slope promises, or it is halved, at most so many times.
SUFFICIENT, MOST_HALVINGS = 1e-4, 20

Loss = Callable[[AnyArray], tuple[float, AnyArray]]
Step = tuple[AnyArray, AnyArray, float]


def minimized(
    loss: Loss,
    start: AnyArray,
    penalties: Sequence[float],
    max_iterations: int,
    tolerance: float,
    curvature: AnyArray | None = None,
) -> AnyArray:
    """Minimise a convex loss plus penalty/2·‖W‖² for several penalties, roughly.

    Each penalty starts from the solution for the one before, and keeps what is known about the curvature.

    Parameters
    ----------
    loss : callable
        Takes a float32 array, and returns the loss and its gradient as a new array.
    start : ndarray of float32
    penalties : sequence of float
        The penalties, from the strongest.
    max_iterations : int
        Largest number of iterations per penalty.
    tolerance : float
        Relative decrease at which the iterations for a penalty end.
    curvature : ndarray of float32, optional
        Estimated second derivatives of the loss by each parameter.  They affect only how many iterations are needed.
        By default they are taken to be equal.

    Returns
    -------
    ndarray of float32 (number of penalties, …)

    Examples
    --------
    >>> import numpy as np
    >>> from repair.terms.learned.quasi_newton import minimized
    >>> def loss(matrix):
    ...     return 0.5 * float(((matrix - 3.0) ** 2).sum()), matrix - 3.0
    >>> minimized(loss, np.zeros(2, dtype=np.float32), (2.0, 1.0), 20, 1e-9).round(3)
    array([[1. , 1. ],
           [1.5, 1.5]], dtype=float32)
    """
    point, steps, solutions = _Point(start, *loss(start)), deque[Step](maxlen=STEPS_KEPT), []
    for number, penalty in enumerate(penalties):
        if number:
            steps = _with_penalty(steps, penalty - penalties[number - 1])
        inverse = None if curvature is None else 1.0 / (curvature + np.float32(penalty))
        for _ in range(max_iterations):
            new = _step(loss, point, penalty, steps, inverse)
            if new is None:  # at the minimum, up to rounding
                break
            change, bend = new.place - point.place, new.slopes(penalty) - point.slopes(penalty)
            if (product := _dot(change, bend)) > SMALLEST_PRODUCT:
                steps.append((change, bend, product))
            before, after = point.value(penalty), new.value(penalty)
            point = new
            if before - after <= tolerance * max(abs(after), 1.0):
                break
        solutions.append(point.place)
    return np.stack(solutions)


@dataclass(frozen=True, eq=False)
class _Point:
    """A point with the loss and its gradient, without the penalty."""

    place: AnyArray
    loss: float
    gradient: AnyArray

    def value(self, penalty: float) -> float:
        return self.loss + 0.5 * penalty * _dot(self.place, self.place)

    def slopes(self, penalty: float) -> AnyArray:
        slopes: AnyArray = self.gradient + np.float32(penalty) * self.place
        return slopes


def _step(loss: Loss, point: _Point, penalty: float, steps: deque[Step], inverse: AnyArray | None) -> _Point | None:
    """Return the next point, or None if no step decreases the loss."""
    slopes, value, length = point.slopes(penalty), point.value(penalty), 1.0
    direction = _direction(slopes, steps, inverse)
    slope = _dot(slopes, direction)
    if slope >= 0.0:
        return None
    for _ in range(MOST_HALVINGS):
        place = point.place + np.float32(length) * direction
        new = _Point(place, *loss(place))
        if new.value(penalty) <= value + SUFFICIENT * length * slope:
            return new
        length /= 2.0
    return None


def _with_penalty(steps: deque[Step], added: float) -> deque[Step]:
    """Return the steps as they would have been with another penalty, without those that rounding has spoilt."""
    changed = deque[Step](maxlen=STEPS_KEPT)
    for change, bend, product in steps:
        new_bend, new_product = bend + np.float32(added) * change, product + added * _dot(change, change)
        if new_product > SMALLEST_PRODUCT:
            changed.append((change, new_bend, new_product))
    return changed


def _direction(slopes: AnyArray, steps: deque[Step], inverse: AnyArray | None) -> AnyArray:
    """Return the direction of the next step, by the two loops of L-BFGS.  `inverse` estimates 1/curvature."""
    if inverse is None:
        inverse = np.ones(1, dtype=np.float32)
    if not steps:  # a short step, as the scale of the curvature is not known yet
        direction = -inverse * slopes
        return direction * np.float32(min(1.0, FIRST_LENGTH / max(np.sqrt(-_dot(direction, slopes)), 1e-30)))
    rest, shares = -slopes, []
    for change, bend, product in reversed(steps):
        shares.append(_dot(change, rest) / product)
        rest -= np.float32(shares[-1]) * bend
    _, bend, product = steps[-1]
    rest *= np.float32(product / _dot(bend, inverse * bend)) * inverse
    for (change, bend, product), share in zip(steps, reversed(shares), strict=True):
        rest += np.float32(share - _dot(bend, rest) / product) * change
    return rest


def _dot(first: AnyArray, second: AnyArray) -> float:
    return float(np.dot(first.ravel(), second.ravel()))
