"""Threshold dispersion: how much the score gap of a class and a rival varies between rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray, FloatArray, IntArray, read_only
from repair.diagnosis.meetings import Meetings, covered_rows, pair_blocks
from repair.inputs import check_count
from repair.shortlist import Shortlist

__all__ = ["Dispersion", "threshold_dispersion"]


@dataclass(frozen=True, eq=False)
class Dispersion:
    """The paper's D_y(S), from pairs to rows to classes.

    Attributes
    ----------
    first, second : ndarray of int32 (P,)
        Class ids of the pairs that meet on a covered row, first < second.
    meetings : ndarray of int32 (P,)
        Covered rows whose shortlist holds both, whatever their label.
    deviations : ndarray (P,)
        Standard deviation of t = g_second − g_first over those rows, with divisor n (ddof = 0).
        It is the same for either order of the pair.
    rows : ndarray (n,)
        D of each covered row: the largest deviation between its label and a rival on its
        shortlist.  NaN on uncovered rows, and where no pair has enough meetings.
    classes : ndarray (K,)
        Mean of D over the class's covered rows that have one, NaN if none has.
    labels : ndarray of int32 (n,)
        The label of covered rows, −1 elsewhere.
    min_meetings : int
        Pairs that meet less often are not used: their deviation says little.
    """

    first: IntArray
    second: IntArray
    meetings: IntArray
    deviations: FloatArray
    rows: FloatArray
    classes: FloatArray
    labels: IntArray
    min_meetings: int

    @property
    def n_used(self) -> int:
        """Pairs with enough meetings."""
        return int((self.meetings >= self.min_meetings).sum())

    def __str__(self) -> str:
        """Return what was measured, on how much."""
        known = self.classes[~np.isnan(self.classes)]
        middle = f", median {np.median(known):.3f}" if len(known) else ""
        return (
            f"threshold dispersion of {len(known)} classes{middle} "
            f"({self.n_used} of {len(self.first)} pairs meet at least {self.min_meetings} times)"
        )


def threshold_dispersion(shortlist: Shortlist, labels: ArrayLike, *, min_meetings: int = 5) -> Dispersion:
    """Measure how much score gaps vary, as the paper defines it.

    A large value is a hint, not more.  Gaps may vary widely and one cut still serve all rows; and
    thresholds cross without any dispersion where equal gaps come with both labels.

    Parameters
    ----------
    shortlist : Shortlist
        Raw base scores g.
    labels : array_like of int (n,)
        Class ids; rows whose label is not on their shortlist (or −1) are not looked at.
    min_meetings : int, default 5
        Fewest covered rows on which a pair must meet for its deviation to be used.

    Returns
    -------
    Dispersion

    Examples
    --------
    >>> from repair import Shortlist
    >>> from repair.diagnosis import threshold_dispersion
    >>> shortlist = Shortlist.from_scores([[1.0, 0.0], [4.0, 0.0], [0.0, 2.0]], n_candidates=2)
    >>> result = threshold_dispersion(shortlist, [0, 0, 1], min_meetings=3)
    >>> result.deviations.round(3).tolist()  # of the gaps −1, −4 and 2
    [2.449]
    >>> result.classes.round(3).tolist(), result.min_meetings
    ([2.449, 2.449], 3)
    """
    fewest = check_count(min_meetings, "min_meetings")
    known, rows, positions = covered_rows(shortlist, labels)
    meetings = Meetings.of(shortlist.take(rows))
    counts, deviations = _deviations(meetings)
    by_row = np.full(len(shortlist), np.nan)
    by_row[rows] = _largest_per_row(meetings, positions, np.where(counts >= fewest, deviations, -np.inf))
    inside = np.full(len(shortlist), -1, dtype=np.int32)
    inside[rows] = known[rows]
    return Dispersion(
        read_only(meetings.first),
        read_only(meetings.second),
        read_only(counts.astype(np.int32)),
        read_only(deviations),
        read_only(by_row),
        read_only(_class_means(by_row, inside, shortlist.n_classes)),
        read_only(inside),
        fewest,
    )


def _deviations(meetings: Meetings) -> tuple[AnyArray, FloatArray]:
    """Return how often each pair meets, and the standard deviation of its gaps.

    Two passes, the second around the mean of the first: squares of gaps around zero would lose
    the deviation where it is small beside the mean.
    """
    counts = np.zeros(len(meetings), dtype=np.int64)
    sums, squares, rest = np.zeros(len(meetings)), np.zeros(len(meetings)), np.zeros(len(meetings))
    blocks = pair_blocks(meetings.shortlist)
    for block in blocks:
        pairs, gaps = _items(meetings, block)
        np.add.at(counts, pairs, 1)
        np.add.at(sums, pairs, gaps)
    means = sums / np.maximum(counts, 1)
    for block in blocks:
        pairs, gaps = _items(meetings, block)
        gaps = gaps - means[pairs]
        np.add.at(squares, pairs, gaps * gaps)
        np.add.at(rest, pairs, gaps)
    # `rest` would be 0 if the mean were exact; it takes out what rounding left in it.
    variances = (squares - rest * rest / np.maximum(counts, 1)) / np.maximum(counts, 1)
    return counts, np.sqrt(np.maximum(variances, 0.0))


def _items(meetings: Meetings, rows: slice) -> tuple[IntArray, FloatArray]:
    """Return the pairs of these rows and their gaps, without padding."""
    pairs = meetings.numbers(rows)
    real = pairs >= 0
    return pairs[real], meetings.gaps(rows)[real]


def _largest_per_row(meetings: Meetings, positions: IntArray, deviations: FloatArray) -> FloatArray:
    """Return each row's largest usable deviation between the label and a rival, NaN if there is none."""
    k = meetings.shortlist.n_candidates
    largest = np.full(len(positions), -np.inf)
    if len(deviations) == 0:
        return np.full(len(positions), np.nan)
    rival = np.arange(k)
    for block in pair_blocks(meetings.shortlist):
        own = positions[block, None]
        low, high = np.minimum(own, rival), np.maximum(own, rival)
        # The label's own place is no pair; any column will do there, since it is masked.
        column = np.where(low == high, 0, high * (high - 1) // 2 + low)
        pairs = np.take_along_axis(meetings.numbers(block), column, axis=1)
        usable = (pairs >= 0) & (low != high)
        largest[block] = np.where(usable, deviations[pairs], -np.inf).max(axis=1)
    return np.where(np.isneginf(largest), np.nan, largest)


def _class_means(by_row: FloatArray, labels: IntArray, n_classes: int) -> FloatArray:
    """Return the mean over each class's rows that have a value, NaN for a class without any."""
    have = ~np.isnan(by_row)
    rows = np.bincount(labels[have], minlength=n_classes)
    sums = np.bincount(labels[have], by_row[have], minlength=n_classes)
    return np.where(rows > 0, sums / np.maximum(rows, 1), np.nan)
