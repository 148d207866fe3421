"""The search for the variances of the priors, by bracketed secant steps.

The fixed-point update (`repair.fitting.shrinkage.next_variances`) never overshoots, but it converges
slowly if the data are uninformative.  So each variance takes a longer, secant step, which is kept
inside a bracket of points that are known to be too small or too large.
"""

import numpy as np

from repair._utils.arrays import FloatArray

__all__ = ["VarianceSearch", "secant_step"]

#: Longest secant step, in logarithms.
LONGEST_STEP = 3.0
#: Smallest and largest factor by which a secant step may differ from the step of the update.
SHORTEST_FACTOR, LONGEST_FACTOR = 0.5, 200.0
#: Steps are treated as linear in the variance over at most this distance, in logarithms.  From farther away, a secant
#: step would pass the root.
NEAR = 1.0


class VarianceSearch:
    """The state of the search: the last point, and a bracket around each root.

    All variances are given by their logarithms, and each is searched independently.

    Parameters
    ----------
    count : int
        Number of variances.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.fitting.variance_search import VarianceSearch
    >>> search, point = VarianceSearch(1), np.array([2.0])
    >>> for _ in range(6):  # the update covers a tenth of the way to -1
    ...     point = search.next(point, 0.1 * (-1.0 - point))
    >>> point.round(3)
    array([-1.])
    """

    def __init__(self, count: int) -> None:
        self.last: tuple[FloatArray, FloatArray] | None = None
        self.low, self.high = np.full(count, -np.inf), np.full(count, np.inf)

    def next(self, point: FloatArray, step: FloatArray) -> FloatArray:
        """Return the next point, given the current point and the step of the update from it."""
        longer = step.copy() if self.last is None else secant_step(step, self.last[1], point - self.last[0])
        self.last = point, step
        self.low = np.where(step > 0, point, self.low)
        self.high = np.where(step < 0, point, self.high)
        # If even the step of the update passes a bound, the bound is out of date, because another variance has changed.
        self.low[point + step <= self.low] = -np.inf
        self.high[point + step >= self.high] = np.inf
        target = point + longer
        target = np.where(target >= self.high, (point + self.high) / 2, target)
        return np.where(target <= self.low, (point + self.low) / 2, target)


def secant_step(step: FloatArray, last_step: FloatArray, moved: FloatArray) -> FloatArray:
    """Return the secant step at a point, without the bracket.

    The step of the update is extrapolated as if steps kept shrinking at the rate observed since the
    last point.  Upwards this is a secant in logarithms.  Downwards, where the prior is already
    narrower than the uncertainty of each offset, steps are nearly linear in the variance itself over
    short distances, so the secant is taken in the variance.  If steps do not shrink, because they
    are tiny or another variance has changed too, the last move is doubled.

    Parameters
    ----------
    step, last_step : ndarray
        Step of the update from the current point and from the last one.
    moved : ndarray
        Distance from the last point to the current one.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from repair.fitting.variance_search import secant_step
    >>> secant_step(np.array([0.5]), np.array([1.0]), np.array([1.0]))  # ½ + ¼ + ⅛ + … = 1
    array([1.])
    """
    shrunk = last_step - step
    shrinking = moved * shrunk > 0
    down = shrinking & (step < 0) & (moved > -NEAR)
    distance = np.where(down, -np.expm1(-moved), moved)
    factor = np.where(shrinking, distance / np.where(shrunk == 0, 1.0, shrunk), 1.0)
    longer: FloatArray = step * np.clip(factor, SHORTEST_FACTOR, LONGEST_FACTOR)
    longer[down] = np.log1p(np.maximum(longer[down], np.expm1(-LONGEST_STEP)))
    doubled = ~shrinking & (step * moved > 0)
    longer[doubled] = np.sign(step[doubled]) * np.maximum(2.0 * np.abs(moved), np.abs(step))[doubled]
    return np.clip(longer, -LONGEST_STEP, LONGEST_STEP)
