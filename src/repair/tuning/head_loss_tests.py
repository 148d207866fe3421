"""Tests of whether a correction loses more than ε of the accuracy on rows of frequent classes.

The functions take plain arrays.  They compute the loss of each group, p-values of "the loss is larger
than ε", and how many tests in a fixed order are rejected.  `repair.tuning.head_loss_limit` applies
them to a model.
"""

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray, IntArray
from repair.stats.row_weights import equal_group_weights, renumbered

__all__ = ["betting_p_values", "fixed_sequence", "student_p_values", "unit_margins"]

#: Largest share of the capital that a bet may risk.
LARGEST_STAKE = 0.9


def unit_margins(losses: FloatArray, frequent: BoolArray, groups: IntArray | None, limit: float) -> FloatArray:
    """Return the margin of each group for each tested strength: how far it stays below the allowed loss.

    A row weighs 1/(group size), so the margin of a group is the sum of (ε − loss) over its frequent
    rows, divided by its size.  The mean margin is positive exactly if the weighted loss on frequent
    rows is less than ε.

    Parameters
    ----------
    losses : ndarray (s, n)
        Base hit − corrected hit of each row for s strengths: −1, 0 or 1.
    frequent : ndarray of bool (n,)
        Whether each row has a label of a frequent class.
    groups : ndarray of int (n,) or None
        Group codes of the rows.  With None, every row is a group.
    limit : float
        ε as a share, not in points.

    Returns
    -------
    ndarray (s, m)
        Margins of the m groups that have a frequent row.  None is below ε − 1.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.tuning.head_loss_tests import unit_margins
    >>> groups = np.array([0, 0, 1, 2])
    >>> frequent = np.array([True, True, True, False])
    >>> unit_margins(np.array([[1.0, 0.0, 0.0, 1.0]]), frequent, groups, 0.25).tolist()
    [[-0.25, 0.25]]
    """
    margins: FloatArray = limit - losses[:, frequent]
    if groups is None:
        return margins
    codes, shares = renumbered(groups[frequent]), equal_group_weights(len(groups), groups)[frequent]
    n_units = int(codes.max()) + 1 if len(codes) else 0
    sums = [np.bincount(codes, row * shares, minlength=n_units) for row in margins]
    return np.array(sums, dtype=np.float64).reshape(len(margins), n_units)


def student_p_values(margins: FloatArray, limit: float) -> FloatArray:
    """Return one-sided p-values of "the mean margin is at most 0", from Student's t over groups.

    One group that lost everything is added.  If no row of the sample changed, the spread is 0, and a
    plain t-test would report p = 0 after two rows.  With the added group, m unchanged groups give
    nearly the p-value of the exact test, (1 − ε)^m.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.tuning.head_loss_tests import student_p_values
    >>> unchanged = np.full((1, 230), 0.01)
    >>> round(float(student_p_values(unchanged, 0.01)[0]), 2), round(0.99**230, 2)
    (0.1, 0.1)
    """
    from scipy.stats import t as student

    n_units = margins.shape[1]
    if n_units < 2:
        return np.ones(len(margins))
    padded = np.column_stack([margins, np.full(len(margins), limit - 1.0)])
    error = padded.std(axis=1, ddof=1) / np.sqrt(n_units + 1)
    # The spread is 0 only if every group lost everything.
    ratio = np.where(error > 0, padded.mean(axis=1) / np.where(error > 0, error, 1.0), -np.inf)
    return np.asarray(student.sf(ratio, n_units), dtype=np.float64)


def betting_p_values(margins: FloatArray, limit: float, seed: int) -> FloatArray:
    """Return p-values of "the mean margin is at most 0" that are valid for any sample size.

    The test bets on the margin of each group in turn, with a stake that depends only on the groups
    before it.  If the mean is 0 or less, no such game gains on average, and the probability that the
    capital ever grows by a factor of 1/p is at most p (Ville's inequality).  So p is 1/(largest
    capital).  The stakes are those of Waudby-Smith and Ramdas (2024), mean/(mean square) of the
    groups so far.

    Parameters
    ----------
    margins : ndarray (s, m)
        Margins of m groups for s strengths, none below `limit` − 1.
    limit : float
        ε as a share.
    seed : int
        Seed for the random order of the groups.

    Returns
    -------
    ndarray (s,)

    Examples
    --------
    >>> import numpy as np
    >>> from repair.tuning.head_loss_tests import betting_p_values
    >>> unchanged, halved = np.full(400, 0.01), np.where(np.arange(400) % 2, 0.01, -0.99)
    >>> betting_p_values(np.array([unchanged, halved]), 0.01, seed=0).round(2).tolist()
    [0.03, 0.99]
    """
    order = np.random.default_rng(seed).permutation(margins.shape[1])
    drawn = margins[:, order]
    # The prior guess counts as one group.  It assumes a margin of ε, and that one row in 1/ε changes.
    before = np.arange(drawn.shape[1]) + 1.0
    mean = (limit + np.cumsum(drawn, axis=1) - drawn) / before
    square = (limit + limit**2 + np.cumsum(drawn**2, axis=1) - drawn**2) / before
    best = np.where(square > 0, mean / np.where(square > 0, square, 1.0), 0.0)
    stake = np.clip(best, 0.0, LARGEST_STAKE / (1.0 - limit))
    growth = np.cumsum(np.log1p(stake * drawn), axis=1)
    largest: FloatArray = np.maximum(growth, 0.0).max(axis=1, initial=0.0)
    return np.exp(-largest)


def fixed_sequence(p_values: FloatArray, level: float) -> int:
    """Return how many tests, in the given order, are rejected before the first one that is not.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.tuning.head_loss_tests import fixed_sequence
    >>> fixed_sequence(np.array([0.01, 0.1, 0.2, 0.01]), level=0.1)
    2
    """
    rejected = np.append(p_values <= level, False)
    return int(np.argmin(rejected))
