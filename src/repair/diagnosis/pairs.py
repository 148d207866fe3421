"""Contradictory pairs, counted from labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray, BoolArray, FloatArray, IntArray, read_only
from repair.diagnosis.meetings import covered_rows
from repair.inputs import check_choice, check_class_names, check_count
from repair.shortlist import Shortlist
from repair.tables import text_table

__all__ = ["PairCounts", "WorstPair", "contradictory_pairs"]


@dataclass(frozen=True)
class WorstPair:
    """A contradictory pair by name, with its rows and by how much its thresholds cross."""

    first: str
    second: str
    rows_first: int
    rows_second: int
    overlap: float


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The two-way pairs {u, v}: both are on the shortlist of rows of either label.

    With t = g_v − g_u, offsets rank u first where t < a_u − a_v.  A pair is contradictory if some
    row labelled u has a t at or above that of some row labelled v: no cut serves both.

    Attributes
    ----------
    first, second : ndarray of int32 (P,)
        Class ids u < v.
    rows_first, rows_second : ndarray of int32 (P,)
        Rows labelled u and rows labelled v whose shortlist holds both.
    max_t : ndarray (P,)
        Largest t among rows labelled u.
    min_t : ndarray (P,)
        Smallest t among rows labelled v.
    n_one_way : int
        Pairs that have rows of one label only, and can tell nothing.
    n_covered : int
        Rows whose label is on the shortlist; no others are looked at.
    n_classes : int
        K.
    """

    first: IntArray
    second: IntArray
    rows_first: IntArray
    rows_second: IntArray
    max_t: FloatArray
    min_t: FloatArray
    n_one_way: int
    n_covered: int
    n_classes: int

    @property
    def contradictory(self) -> BoolArray:
        """Whether thresholds cross: max_t ≥ min_t."""
        return self.max_t >= self.min_t

    @property
    def overlap(self) -> FloatArray:
        """By how much thresholds cross, max_t − min_t; negative where one cut serves all rows."""
        return self.max_t - self.min_t

    @property
    def n_two_way(self) -> int:
        """Pairs with rows of both labels."""
        return len(self.first)

    @property
    def n_contradictory(self) -> int:
        """Pairs whose thresholds cross."""
        return int(self.contradictory.sum())

    def worst(
        self, count: int = 10, *, class_names: Sequence[str] | None = None, by: str = "overlap"
    ) -> tuple[WorstPair, ...]:
        """Return the worst contradictory pairs, worst first.

        Parameters
        ----------
        count : int, default 10
        class_names : sequence of str (K,), optional
            Without them pairs are named by class id.
        by : {"overlap", "rows"}, default "overlap"
            By how far thresholds cross, or by the rows of the label that has fewer; the other one
            decides between equals.  One odd row can make a large overlap, but not many rows.
        """
        check_choice(by, "by", ("overlap", "rows"))
        names = None if class_names is None else check_class_names(class_names, self.n_classes)
        which = np.flatnonzero(self.contradictory)
        rows, overlap = np.minimum(self.rows_first, self.rows_second)[which], self.overlap[which]
        order = np.lexsort((-rows, -overlap) if by == "overlap" else (-overlap, -rows))
        return tuple(self._named(int(pair), names) for pair in which[order[: check_count(count, "count")]])

    def _named(self, pair: int, names: tuple[str, ...] | None) -> WorstPair:
        first, second = int(self.first[pair]), int(self.second[pair])
        return WorstPair(
            str(first) if names is None else names[first],
            str(second) if names is None else names[second],
            int(self.rows_first[pair]),
            int(self.rows_second[pair]),
            float(self.overlap[pair]),
        )

    def __str__(self) -> str:
        """Return the counts and the ten worst pairs."""
        header = f"{self.n_contradictory} of {self.n_two_way} two-way pairs are contradictory"
        lines = [
            [one.first, one.second, str(one.rows_first), str(one.rows_second), f"{one.overlap:.3f}"]
            for one in self.worst()
        ]
        table = text_table(["u", "v", "rows of u", "rows of v", "overlap"], lines, text_columns=(0, 1))
        return f"{header}\n{table}" if lines else header


def contradictory_pairs(shortlist: Shortlist, labels: ArrayLike) -> PairCounts:
    """Count the pairs of classes that no fixed offsets can order as their rows are labelled.

    The theorem is about the true order; labels are drawn from it.  Where both labels are possible,
    thresholds cross by chance too, so the count alone proves nothing: see
    `expected_contradictions`.

    Parameters
    ----------
    shortlist : Shortlist
        Raw base scores g.
    labels : array_like of int (n,)
        Class ids; rows whose label is not on their shortlist (or −1) are not looked at.

    Returns
    -------
    PairCounts

    Examples
    --------
    >>> from repair import Shortlist
    >>> from repair.diagnosis import contradictory_pairs
    >>> shortlist = Shortlist.from_scores([[2.0, 1.0, 0.0], [3.0, 0.0, 1.0], [0.0, 2.0, 3.0]], n_candidates=3)
    >>> pairs = contradictory_pairs(shortlist, [1, 0, 2])
    >>> pairs.n_two_way, pairs.n_contradictory
    (3, 0)
    >>> contradictory_pairs(shortlist, [1, 2, 0]).worst(1)
    (WorstPair(first='0', second='2', rows_first=1, rows_second=1, overlap=5.0),)
    """
    known, rows, positions = covered_rows(shortlist, labels)
    keys, leads = _label_against_rivals(shortlist, known, rows, positions)
    kinds, starts, counts = _runs(keys)
    largest = np.maximum.reduceat(leads, starts) if len(starts) else np.empty(0)
    label, rival = kinds // shortlist.n_classes, kinds % shortlist.n_classes
    turned = rival * shortlist.n_classes + label
    back = np.minimum(np.searchsorted(kinds, turned), max(len(kinds) - 1, 0))
    both = kinds[back] == turned
    one = np.flatnonzero(both & (label < rival))
    other = back[one]
    return PairCounts(
        read_only(label[one].astype(np.int32)),
        read_only(rival[one].astype(np.int32)),
        read_only(counts[one].astype(np.int32)),
        read_only(counts[other].astype(np.int32)),
        read_only(largest[one]),
        # The lead of u over label v is −t, so its largest is minus the smallest t.
        read_only(-largest[other]),
        n_one_way=int((~both).sum()),
        n_covered=len(rows),
        n_classes=shortlist.n_classes,
    )


def _label_against_rivals(
    shortlist: Shortlist, labels: IntArray, rows: IntArray, positions: IntArray
) -> tuple[AnyArray, FloatArray]:
    """Return (label · K + rival, g of the rival − g of the label), sorted by the first, for every rival."""
    ids, scores = shortlist.ids[rows].astype(np.int64), shortlist.scores[rows]
    rivals = shortlist.mask[rows] & (np.arange(shortlist.n_candidates) != positions[:, None])
    own = scores[np.arange(len(rows)), positions]
    keys = (labels[rows].astype(np.int64)[:, None] * shortlist.n_classes + ids)[rivals]
    leads = (scores - own[:, None])[rivals]
    order = np.argsort(keys)
    return keys[order], leads[order]


def _runs(keys: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the distinct values of a sorted array, where each starts, and how often it occurs."""
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[starts], starts, np.diff(starts, append=len(keys))
