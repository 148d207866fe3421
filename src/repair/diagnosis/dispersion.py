"""Threshold dispersion: how much the score gap between a class and a rival varies between rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray, IntArray, read_only
from repair.data.shortlist import Shortlist
from repair.diagnosis.shared_shortlists import Meetings, covered_rows, pair_blocks
from repair.validation.checks import check_count

__all__ = ["Dispersion", "threshold_dispersion"]


@dataclass(frozen=True, eq=False)
class Dispersion:
    """The paper's threshold dispersion D_y(S), for pairs, rows and classes.

    Attributes
    ----------
    first, second : ndarray of int32 (P,)
        Class ids of the pairs that are on the shortlist of a covered row, first < second.
    meetings : ndarray of int32 (P,)
        Number of covered rows, with any label, whose shortlist has both classes.
    deviations : ndarray (P,)
        Standard deviation of t = g_second − g_first over those rows, with divisor n (ddof = 0).
        It is the same for either order of the pair.
    rows : ndarray (n,)
        D of each covered row: the largest deviation of the pairs of its label and a rival.  NaN for
        uncovered rows, and for rows on which no such pair has enough meetings.
    classes : ndarray (K,)
        Mean of D over the rows of the class for which it is defined, NaN if there are none.
    labels : ndarray of int32 (n,)
        The label of covered rows, −1 elsewhere.
    min_meetings : int
        Fewest meetings of a pair.  Pairs with fewer are not used, because their deviation is unreliable.
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
        """Number of pairs with enough meetings."""
        return int((self.meetings >= self.min_meetings).sum())

    def __str__(self) -> str:
        """Return the number of classes, their median dispersion, and the number of pairs used."""
        defined = self.classes[~np.isnan(self.classes)]
        median = f", median {np.median(defined):.3f}" if len(defined) else ""
        return (
            f"threshold dispersion of {len(defined)} classes{median} "
            f"({self.n_used} of {len(self.first)} pairs are on the same shortlist at least {self.min_meetings} times)"
        )


def threshold_dispersion(shortlist: Shortlist, labels: ArrayLike, *, min_meetings: int = 5) -> Dispersion:
    """Measure how much score gaps vary between rows, as the paper defines it.

    A large value is only a hint.  Gaps can vary widely although a single threshold is right for all
    rows.  Conversely, a pair can be contradictory without any dispersion, if rows with equal gaps have
    different labels.

    Parameters
    ----------
    shortlist : Shortlist
        Candidates with the base scores g.
    labels : array_like of int (n,)
        Class ids.  Uncovered rows, whose label is −1 or not on the shortlist, are ignored.
    min_meetings : int, default 5
        Fewest covered rows whose shortlist must have both classes of a pair for the pair to be used.
        Raise it for more reliable deviations of fewer pairs.

    Returns
    -------
    Dispersion

    Examples
    --------
    >>> from repair import Shortlist
    >>> from repair.diagnosis import threshold_dispersion
    >>> shortlist = Shortlist.from_scores([[1.0, 0.0], [4.0, 0.0], [0.0, 2.0]], n_candidates=2)
    >>> result = threshold_dispersion(shortlist, [0, 0, 1], min_meetings=3)
    >>> result.deviations.round(3).tolist()  # standard deviation of the gaps −1, −4 and 2
    [2.449]
    >>> result.classes.round(3).tolist(), result.min_meetings
    ([2.449, 2.449], 3)
    """
    fewest = check_count(min_meetings, "min_meetings")
    ids, rows, positions = covered_rows(shortlist, labels)
    meetings = Meetings.of(shortlist.take(rows))
    counts, deviations = _deviations(meetings)
    by_row = np.full(len(shortlist), np.nan)
    by_row[rows] = _largest_per_row(meetings, positions, np.where(counts >= fewest, deviations, -np.inf))
    inside = np.full(len(shortlist), -1, dtype=np.int32)
    inside[rows] = ids[rows]
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

    The first pass computes the means, and the second the squares around them.  Squares around zero
    would lose precision if the deviation is small compared with the mean.
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
    # `rest` would be 0 if the mean were exact.  Subtracting it corrects the rounding error of the mean.
    variances = (squares - rest * rest / np.maximum(counts, 1)) / np.maximum(counts, 1)
    return counts, np.sqrt(np.maximum(variances, 0.0))


def _items(meetings: Meetings, rows: slice) -> tuple[IntArray, FloatArray]:
    """Return the numbers of these rows' pairs and their gaps, without padding."""
    pairs = meetings.numbers(rows)
    real = pairs >= 0
    return pairs[real], meetings.gaps(rows)[real]


def _largest_per_row(meetings: Meetings, positions: IntArray, deviations: FloatArray) -> FloatArray:
    """Return the largest usable deviation of each row's label with a rival, NaN if there is none."""
    k = meetings.shortlist.n_candidates
    largest = np.full(len(positions), -np.inf)
    if len(deviations) == 0:
        return np.full(len(positions), np.nan)
    rival = np.arange(k)
    for block in pair_blocks(meetings.shortlist):
        label = positions[block, None]
        low, high = np.minimum(label, rival), np.maximum(label, rival)
        # The label does not form a pair with itself.  Its column is arbitrary, because it is masked below.
        column = np.where(low == high, 0, high * (high - 1) // 2 + low)
        pairs = np.take_along_axis(meetings.numbers(block), column, axis=1)
        usable = (pairs >= 0) & (low != high)
        largest[block] = np.where(usable, deviations[pairs], -np.inf).max(axis=1)
    return np.where(np.isneginf(largest), np.nan, largest)


def _class_means(by_row: FloatArray, labels: IntArray, n_classes: int) -> FloatArray:
    """Return the mean over the rows of each class that have a value, NaN for classes without such rows."""
    have = ~np.isnan(by_row)
    rows = np.bincount(labels[have], minlength=n_classes)
    sums = np.bincount(labels[have], by_row[have], minlength=n_classes)
    return np.where(rows > 0, sums / np.maximum(rows, 1), np.nan)
