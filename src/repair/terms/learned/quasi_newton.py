"""A short L-BFGS for the logistic regressions of the learned terms.

scipy's L-BFGS-B also treats bounds.  With many thousand parameters, it spends more time on them than the loss takes.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

from repair._utils.arrays import AnyArray

__all__ = ["minimized"]

#: Number of steps from which the curvature is estimated.
STEPS_KEPT = 8
#: A step must reach this share of the decrease that its slope promises, or it is halved, at most so many times.
SUFFICIENT, MOST_HALVINGS = 1e-4, 20

Loss = Callable[[AnyArray], tuple[float, AnyArray]]
Step = tuple[AnyArray, AnyArray, float]


def minimized(
    loss: Loss,
    start: AnyArray,
    penalty: float,
    max_iterations: int,
    tolerance: float,
    curvature: AnyArray | None = None,
) -> AnyArray:
    """Minimise a convex loss plus penalty/2·‖W‖², roughly.

    Parameters
    ----------
    loss : callable
        Takes a float32 array, and returns the loss and its gradient as a new array.
    start : ndarray of float32
    penalty : float
    max_iterations : int
    tolerance : float
        Relative decrease at which the iterations end.
    curvature : ndarray of float32, optional
        Estimated second derivatives of the loss by each parameter.  They affect only how many iterations are needed.
        By default they are taken to be equal.

    Returns
    -------
    ndarray of float32

    Examples
    --------
    >>> import numpy as np
    >>> from repair.terms.learned.quasi_newton import minimized
    >>> def loss(matrix):
    ...     return 0.5 * float(((matrix - 3.0) ** 2).sum()), matrix - 3.0
    >>> minimized(loss, np.zeros((1, 2), dtype=np.float32), 1.0, 20, 1e-9).round(3)
    array([[1.5, 1.5]], dtype=float32)
    """

    def penalised(point: AnyArray) -> tuple[float, AnyArray]:
        value, gradient = loss(point)
        gradient += np.float32(penalty) * point
        return value + 0.5 * penalty * _dot(point, point), gradient

    inverse = np.ones(1, dtype=np.float32) if curvature is None else 1.0 / (curvature + np.float32(penalty))
    point, steps = start, deque[Step](maxlen=STEPS_KEPT)
    value, gradient = penalised(point)
    for _ in range(max_iterations):
        direction = _direction(gradient, steps, inverse)
        slope, length = _dot(gradient, direction), 1.0
        if slope >= 0.0:  # at the minimum, up to rounding
            break
        for _ in range(MOST_HALVINGS):
            new = point + np.float32(length) * direction
            new_value, new_gradient = penalised(new)
            if new_value <= value + SUFFICIENT * length * slope:
                break
            length /= 2.0
        else:
            break  # rounding hides any further decrease
        change, bend = new - point, new_gradient - gradient
        if (product := _dot(change, bend)) > 0.0:
            steps.append((change, bend, product))
        decrease = value - new_value
        point, value, gradient = new, new_value, new_gradient
        if decrease <= tolerance * max(abs(value), 1.0):
            break
    return point


def _direction(gradient: AnyArray, steps: deque[Step], inverse: AnyArray) -> AnyArray:
    """Return the direction of the next step, by the two loops of L-BFGS.  `inverse` estimates 1/curvature."""
    if not steps:  # a short step, as the scale of the curvature is not known yet
        direction = -inverse * gradient
        return direction * np.float32(min(1.0, 1.0 / max(np.sqrt(-_dot(direction, gradient)), 1e-30)))
    rest, shares = -gradient, []
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
