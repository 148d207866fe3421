"""Class shares estimated from counts, when most classes have few rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import FloatArray
from repair._utils.lazy import lazy

__all__ = ["LabelShares", "smoothed_shares"]

#: Range of the number of pseudo-rows, searched on a logarithmic scale.
FEWEST_ROWS, MOST_ROWS = 1e-2, 1e8


@dataclass(frozen=True, eq=False)
class LabelShares:
    """Class shares of the labels that a fit has seen.  They are smoothed on first use, as most users never need them.

    Attributes
    ----------
    counts : ndarray (K,)
        Rows per class under the weights of the fit.  Without `guesses`, shares that are already
        smoothed.
    guesses : tuple of ndarray (K,), default ()
        Shares to smooth towards, see `smoothed_shares`.
    """

    counts: FloatArray
    guesses: tuple[FloatArray, ...] = ()

    @lazy
    def smoothed(self) -> FloatArray:
        """Return the shares.  They sum to 1 and none is 0."""
        return smoothed_shares(self.counts, self.guesses) if self.guesses else self.counts


def smoothed_shares(counts: FloatArray, guesses: Sequence[FloatArray]) -> FloatArray:
    """Return class shares from counts, smoothed by pseudo-rows that follow the best of several guesses.

    The shares are the mean of a Dirichlet posterior, (count + m·guess)/(n + m).  The guess and the
    number of pseudo-rows m are those that maximise the marginal likelihood of the counts: counts
    that follow the guess are smoothed strongly, counts that contradict it only a little.

    Parameters
    ----------
    counts : ndarray (K,)
        Rows per class.  They may be fractional because of weights.
    guesses : sequence of ndarray (K,)
        Possible shares.  Each sums to 1 and has no zeros.

    Returns
    -------
    ndarray (K,)
        Positive shares that sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.label_shares import smoothed_shares
    >>> smoothed_shares(np.array([90.0, 8.0, 2.0, 0.0]), [np.full(4, 0.25)]).round(2).tolist()
    [0.89, 0.08, 0.02, 0.0]
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    total = counts.sum()

    def cost(log_rows: float, count: FloatArray, share: FloatArray, classes: FloatArray) -> float:
        rows = np.exp(log_rows)
        class_parts = classes * (gammaln(count + rows * share) - gammaln(rows * share))
        return -float(gammaln(rows) - gammaln(rows + total) + class_parts.sum())

    bounds = (np.log(FEWEST_ROWS), np.log(MOST_ROWS))
    results = [
        minimize_scalar(cost, bounds=bounds, args=_distinct_pairs(counts, guess), method="bounded") for guess in guesses
    ]
    best = int(np.argmin([result.fun for result in results]))
    rows = float(np.exp(results[best].x))
    shares: FloatArray = (counts + rows * guesses[best]) / (total + rows)
    return shares


def _distinct_pairs(counts: FloatArray, guess: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct pairs of count and guess, and how many classes have each.  Most classes share a pair."""
    pairs, classes = np.unique(counts + 1j * guess, return_counts=True)
    return pairs.real, pairs.imag, classes.astype(np.float64)
