"""Where to look next for the variances of the priors: the update's own step, lengthened.

The update (`repair.shrinkage.next_variances`) never overshoots, but it creeps where data say little.
"""

import numpy as np

from repair.arrays import FloatArray

__all__ = ["VarianceSearch", "leap_from"]

#: A leap goes no farther than this, in logarithms, and multiplies a step by no less and no more than these.
LONGEST_LEAP = 3.0
SHORTEST_FACTOR, LONGEST_FACTOR = 0.5, 200.0
#: Steps are taken for linear in the variance over no more than this, in logarithms: a leap from farther passes roots.
NEAR = 1.0


class VarianceSearch:
    """Remember where we were, and propose where to go; all in logarithms, each variance by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.variance_search import VarianceSearch
    >>> search, place = VarianceSearch(1), np.array([2.0])
    >>> for _ in range(6):  # the update covers a tenth of the way to -1
    ...     place = search.next(place, 0.1 * (-1.0 - place))
    >>> place.round(3)
    array([-1.])
    """

    def __init__(self, count: int) -> None:
        self.last: tuple[FloatArray, FloatArray] | None = None
        self.low, self.high = np.full(count, -np.inf), np.full(count, np.inf)

    def next(self, place: FloatArray, step: FloatArray) -> FloatArray:
        """Return the next place, given the update's own step from this one."""
        leap = step.copy() if self.last is None else leap_from(step, self.last[1], place - self.last[0])
        self.last = place, step
        self.low = np.where(step > 0, place, self.low)
        self.high = np.where(step < 0, place, self.high)
        # A bound that even the update's own step passes is out of date: another variance has moved since.
        self.low[place + step <= self.low] = -np.inf
        self.high[place + step >= self.high] = np.inf
        target = place + leap
        target = np.where(target >= self.high, (place + self.high) / 2, target)
        return np.where(target <= self.low, (place + self.low) / 2, target)


def leap_from(step: FloatArray, last_step: FloatArray, moved: FloatArray) -> FloatArray:
    """Return how far to move, given the update's own step here and where we were.

    Each step is lengthened as if steps went on shrinking as fast as they did since the last point,
    `moved` away (a secant).  Upwards that is a secant in logarithms; downwards, where a prior is
    already narrower than what is known of each offset, steps are as good as linear in the variance
    itself, near by.  Where steps do not shrink at all, because they are tiny or another variance has moved
    too, twice the last move is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.variance_search import leap_from
    >>> leap_from(np.array([0.5]), np.array([1.0]), np.array([1.0]))  # 1, ½, ¼, … is 1 from here on
    array([1.])
    """
    shrunk = last_step - step
    shrinking = moved * shrunk > 0
    down = shrinking & (step < 0) & (moved > -NEAR)
    distance = np.where(down, -np.expm1(-moved), moved)
    factor = np.where(shrinking, distance / np.where(shrunk == 0, 1.0, shrunk), 1.0)
    leap: FloatArray = step * np.clip(factor, SHORTEST_FACTOR, LONGEST_FACTOR)
    leap[down] = np.log1p(np.maximum(leap[down], np.expm1(-LONGEST_LEAP)))
    onwards = ~shrinking & (step * moved > 0)
    leap[onwards] = np.sign(step[onwards]) * np.maximum(2.0 * np.abs(moved), np.abs(step))[onwards]
    return np.clip(leap, -LONGEST_LEAP, LONGEST_LEAP)
