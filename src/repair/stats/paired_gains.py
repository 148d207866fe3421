"""Statistics of paired comparisons, by row, or by group where rows share one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair._utils.parallel import row_blocks
from repair.stats.not_applicable import NotApplicable
from repair.stats.row_weights import renumbered

__all__ = [
    "PairedGain",
    "bootstrap_ratios",
    "gain_of_weighted_rows",
    "holm",
    "paired_gain",
    "sign_test",
    "signed_points",
]

#: Bootstrap weights held in memory at once.
WEIGHTS_PER_BLOCK = 1 << 21
#: With more distinct kinds of rows than this, drawing rows is faster than drawing kinds.
FEW_KINDS = 2000


@dataclass(frozen=True)
class PairedGain:
    """A weighted mean difference with its standard error over groups.

    Attributes
    ----------
    gain : float
        Σ v·d / Σ v.
    error : float
        Standard error.  Rows of one group count as one observation.
    freedom : int
        Degrees of freedom: groups (or rows) minus one.
    """

    gain: float
    error: float
    freedom: int

    def p_value(self, null: float = 0.0) -> float:
        """Return the one-sided p-value of "the gain is at most `null`", from Student's t."""
        from scipy.stats import t as student

        if self.error == 0.0:
            return 0.0 if self.gain > null else 1.0
        return float(student.sf((self.gain - null) / self.error, self.freedom))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the two-sided interval from Student's t."""
        from scipy.stats import t as student

        half_width = float(student.ppf(0.5 + level / 2, self.freedom)) * self.error
        return self.gain - half_width, self.gain + half_width

    def in_points(self) -> str:
        """Return the gain with its 95 % interval in percentage points.

        Examples
        --------
        >>> from repair.stats.paired_gains import PairedGain
        >>> PairedGain(0.021, 0.01, 400).in_points()
        '+2.1 points (+0.1 to +4.1)'
        """
        gain, low, high = (signed_points(value) for value in (self.gain, *self.interval()))
        return f"{gain} points ({low} to {high})"

    def to_dict(self) -> dict[str, float]:
        """Return the gain with its standard error and its two-sided 95 % interval."""
        low, high = self.interval()
        return {"gain": self.gain, "error": self.error, "low": low, "high": high, "freedom": self.freedom}


def signed_points(share: float) -> str:
    """Return a difference of shares in percentage points, with its sign and without a negative zero.

    Examples
    --------
    >>> from repair.stats.paired_gains import signed_points
    >>> signed_points(0.0213), signed_points(-0.0001)
    ('+2.1', '+0.0')
    """
    return f"{round(100 * share, 1) + 0.0:+.1f}"


def paired_gain(difference: FloatArray, importance: FloatArray, groups: IntArray | None) -> PairedGain:
    """Return the weighted mean of per-row differences and its cluster-robust standard error.

    Parameters
    ----------
    difference : ndarray (n,)
        Difference between two methods on each row.
    importance : ndarray (n,)
        Row weights v.
    groups : ndarray of int (n,) or None
        Group codes of the rows.  With None, every row is one observation.

    Returns
    -------
    PairedGain
        With fewer than two groups (or rows), the standard error is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.paired_gains import paired_gain
    >>> gain = paired_gain(np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4), np.array([0, 0, 1, 2]))
    >>> gain.gain, gain.freedom
    (0.5, 2)
    """
    total = float(importance.sum())
    gain = float(importance @ difference) / total
    residual = importance * (difference - gain)
    sums = residual if groups is None else np.bincount(groups, residual)
    members = np.ones(len(sums), dtype=bool) if groups is None else np.bincount(groups) > 0
    count = int(members.sum())
    if count < 2:
        return PairedGain(gain, np.inf, 1)
    variance = count / (count - 1) * float(sums @ sums)
    return PairedGain(gain, float(np.sqrt(variance)) / total, count - 1)


def gain_of_weighted_rows(
    difference: FloatArray, weights: FloatArray, groups: IntArray | None, *, renumber: bool = False
) -> PairedGain | NotApplicable:
    """Return the paired gain over the rows with a positive weight.

    Parameters
    ----------
    difference, weights, groups
        As in `paired_gain`.  Set the weight of a row to 0 to leave it out.
    renumber : bool, default False
        Number the remaining groups without gaps before their sums are added up.  The order of the
        additions changes, so the last bit may differ.

    Returns
    -------
    PairedGain or NotApplicable
        `NotApplicable` if no row has a positive weight.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.paired_gains import gain_of_weighted_rows
    >>> gain_of_weighted_rows(np.array([1.0, 0.0, 9.0]), np.array([1.0, 1.0, 0.0]), None).gain
    0.5
    """
    kept = weights > 0
    if not kept.any():
        return NotApplicable("there are no such rows")
    codes = None if groups is None else groups[kept]
    if codes is not None and renumber:
        codes = renumbered(codes)
    return paired_gain(difference[kept], weights[kept], codes)


def holm(p_values: FloatArray) -> FloatArray:
    """Return Holm's adjusted p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.paired_gains import holm
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    steps = (len(p_values) - np.arange(len(p_values))) * p_values[order]
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def sign_test(wins: int, losses: int) -> float:
    """Return the exact one-sided p-value of at least `wins` wins if each comparison were a fair coin toss.

    Examples
    --------
    >>> from repair.stats.paired_gains import sign_test
    >>> sign_test(4, 1)
    0.1875
    """
    from scipy.stats import binomtest

    if wins + losses == 0:
        return 1.0
    return float(binomtest(wins, wins + losses, 0.5, alternative="greater").pvalue)


def bootstrap_ratios(
    numerators: FloatArray, denominators: FloatArray, groups: IntArray | None, resamples: int, seed: int
) -> FloatArray:
    """Resample rows, or whole groups if given, and return Σ numerator / Σ denominator of each resample.

    Parameters
    ----------
    numerators, denominators : ndarray (n, m)
        m quantities per row.  For a mean over some of the rows, the denominator is the indicator of
        those rows.
    groups : ndarray of int (n,) or None
    resamples : int
        Number of resamples.
    seed : int
        Seed for the random draws.

    Returns
    -------
    ndarray (resamples, m)

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.paired_gains import bootstrap_ratios
    >>> hits = np.array([[1.0], [0.0], [1.0], [1.0]])
    >>> means = bootstrap_ratios(hits, np.ones((4, 1)), None, resamples=2000, seed=0)
    >>> means.shape, bool(abs(means.mean() - 0.75) < 0.02)
    ((2000, 1), True)
    """
    m = numerators.shape[1]
    units = np.concatenate([numerators, denominators], axis=1)
    if groups is not None:
        units = np.stack([np.bincount(groups, column) for column in units.T], axis=1)
        units = units[np.bincount(groups) > 0]
    # Rows with equal entries are interchangeable, so draw how often each kind of row occurs.
    kinds, counts = np.unique(units, axis=0, return_counts=True)
    if len(kinds) > FEW_KINDS:
        kinds, counts = units, np.ones(len(units), dtype=np.int64)
    rng = np.random.default_rng(seed)
    totals = np.empty((resamples, 2 * m))
    for block in row_blocks(resamples, WEIGHTS_PER_BLOCK // len(kinds)):
        size = block.stop - block.start
        if len(kinds) <= FEW_KINDS:
            drawn = rng.multinomial(len(units), counts / len(units), size=size)
        else:
            drawn = np.stack([_draw_rows(len(units), rng) for _ in range(size)])
        totals[block] = drawn.astype(np.float64) @ kinds
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: FloatArray = totals[:, :m] / totals[:, m:]
    return ratios


def _draw_rows(n: int, rng: np.random.Generator) -> IntArray:
    """Return how often each of n rows occurs in one resample of n rows."""
    return np.bincount(rng.integers(0, n, size=n), minlength=n).astype(np.int32)
