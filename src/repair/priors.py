"""Class shares from counts, when most classes have few."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repair.arrays import FloatArray
from repair.lazy import lazy

__all__ = ["LabelShares", "smoothed_shares"]

#: Pseudo-rows are searched between these, on a logarithmic scale.
FEWEST_ROWS, MOST_ROWS = 1e-2, 1e8


@dataclass(frozen=True, eq=False)
class LabelShares:
    """Class shares of the labels a fit has seen, smoothed when first asked for: most users never ask.

    Attributes
    ----------
    counts : ndarray (K,)
        Rows per class as the fit weighs them; or, without guesses, shares that are smooth already.
    guesses : tuple of ndarray (K,)
        What the shares may be like, see `smoothed_shares`.
    """

    counts: FloatArray
    guesses: tuple[FloatArray, ...] = ()

    @lazy
    def smoothed(self) -> FloatArray:
        """Return the shares; they add up to 1 and none is 0."""
        return smoothed_shares(self.counts, self.guesses) if self.guesses else self.counts


def smoothed_shares(counts: FloatArray, guesses: Sequence[FloatArray]) -> FloatArray:
    """Return class shares from counts, smoothed by pseudo-rows spread like the best of some guesses.

    The shares are the mean of a Dirichlet posterior, (count + m·guess)/(n + m).  Which guess, and
    how many pseudo-rows m, is decided by the likelihood the counts then have: counts that follow
    the guess are smoothed a lot, counts that contradict it little.

    Parameters
    ----------
    counts : ndarray (K,)
        Rows per class; weights may make them fractional.
    guesses : sequence of ndarray (K,)
        Possible shares, each adding up to 1 and nowhere 0.

    Returns
    -------
    ndarray (K,)
        Adds up to 1 and is nowhere 0.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.priors import smoothed_shares
    >>> smoothed_shares(np.array([90.0, 8.0, 2.0, 0.0]), [np.full(4, 0.25)]).round(2).tolist()
    [0.89, 0.08, 0.02, 0.0]
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    total = counts.sum()

    def cost(log_rows: float, count: FloatArray, share: FloatArray, classes: FloatArray) -> float:
        rows = np.exp(log_rows)
        of_classes = classes * (gammaln(count + rows * share) - gammaln(rows * share))
        return -float(gammaln(rows) - gammaln(rows + total) + of_classes.sum())

    bounds = (np.log(FEWEST_ROWS), np.log(MOST_ROWS))
    found = [minimize_scalar(cost, bounds=bounds, args=_alike(counts, guess), method="bounded") for guess in guesses]
    best = int(np.argmin([result.fun for result in found]))
    rows = float(np.exp(found[best].x))
    shares: FloatArray = (counts + rows * guesses[best]) / (total + rows)
    return shares


def _alike(counts: FloatArray, guess: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the different pairs of count and guess, and how many classes have each: most classes are like others."""
    pairs, classes = np.unique(counts + 1j * guess, return_counts=True)
    return pairs.real, pairs.imag, classes.astype(np.float64)
