"""Contradictory pairs: pairs of classes that no offsets can order correctly on all labelled rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray, read_only
from repair._utils.text_tables import text_table
from repair.data.shortlist import Shortlist
from repair.diagnosis.shared_shortlists import covered_rows
from repair.validation.checks import check_choice, check_class_names, check_count

__all__ = ["PAIR_HEADER", "PairCounts", "WorstPair", "contradictory_pairs"]

#: Header of a table of pairs.
PAIR_HEADER = ["class u", "class v", "rows labelled u", "rows labelled v", "overlap of score gaps"]


@dataclass(frozen=True)
class WorstPair:
    """A contradictory pair by name, with the rows of each class and the overlap of the thresholds."""

    first: str
    second: str
    rows_first: int
    rows_second: int
    overlap: float


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The two-way pairs {u, v}, for which there are rows of either label with both on the shortlist.

    With t = g_v − g_u, offsets rank u above v if t < a_u − a_v.  A pair is contradictory if some row
    labelled u has a t at or above that of some row labelled v, because no threshold is then right for
    both.

    Attributes
    ----------
    first, second : ndarray of int32 (P,)
        Class ids u < v.
    rows_first, rows_second : ndarray of int32 (P,)
        Number of rows labelled u and of rows labelled v whose shortlist has both.
    max_t : ndarray (P,)
        Largest t among rows labelled u.
    min_t : ndarray (P,)
        Smallest t among rows labelled v.
    n_one_way : int
        Number of pairs with rows of one label only, which cannot be contradictory.
    n_covered : int
        Number of covered rows.  Other rows are ignored.
    n_classes : int
        Number of classes K.
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
        """Whether each pair is contradictory: max_t ≥ min_t."""
        return self.max_t >= self.min_t

    @property
    def overlap(self) -> FloatArray:
        """The overlap max_t − min_t of each pair.  It is negative if one threshold is right for all rows."""
        return self.max_t - self.min_t

    @property
    def n_two_way(self) -> int:
        """Number of pairs with rows of both labels."""
        return len(self.first)

    @property
    def n_contradictory(self) -> int:
        """Number of contradictory pairs."""
        return int(self.contradictory.sum())

    def worst(
        self, count: int = 10, *, class_names: Sequence[str] | None = None, by: str = "overlap"
    ) -> tuple[WorstPair, ...]:
        """Return the worst contradictory pairs, worst first.

        Parameters
        ----------
        count : int, default 10
            Largest number of pairs to return.
        class_names : sequence of str (K,), optional
            Names of the classes.  Without them, pairs are named by class id.
        by : {"overlap", "rows"}, default "overlap"
            Whether to sort by the overlap, or by the number of rows of the label with fewer rows.
            Ties are sorted by the other one.  Use ``"rows"`` if there are unusual rows, because one
            of them is enough for a large overlap.

        Returns
        -------
        tuple of WorstPair
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
            [pair.first, pair.second, str(pair.rows_first), str(pair.rows_second), f"{pair.overlap:.3f}"]
            for pair in self.worst()
        ]
        table = text_table(PAIR_HEADER, lines, text_columns=(0, 1))
        return f"{header}\n{table}" if lines else header


def contradictory_pairs(shortlist: Shortlist, labels: ArrayLike) -> PairCounts:
    """Count the pairs of classes that no fixed offsets can order correctly on all rows.

    The theorem is about the Bayes order, of which labels are random draws.  If both labels are
    possible, some pairs are contradictory by chance, so the count alone proves nothing.  See
    `expected_contradictions`.

    Parameters
    ----------
    shortlist : Shortlist
        Candidates with the base scores g.
    labels : array_like of int (n,)
        Class ids.  Uncovered rows, whose label is −1 or not on the shortlist, are ignored.

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
    ids, rows, positions = covered_rows(shortlist, labels)
    keys, leads = _label_against_rivals(shortlist, ids, rows, positions)
    kinds, starts, counts = _runs(keys)
    largest = np.maximum.reduceat(leads, starts) if len(starts) else np.empty(0)
    label, rival = kinds // shortlist.n_classes, kinds % shortlist.n_classes
    swapped = rival * shortlist.n_classes + label
    back = np.minimum(np.searchsorted(kinds, swapped), max(len(kinds) - 1, 0))
    both = kinds[back] == swapped
    first = np.flatnonzero(both & (label < rival))
    second = back[first]
    return PairCounts(
        read_only(label[first].astype(np.int32)),
        read_only(rival[first].astype(np.int32)),
        read_only(counts[first].astype(np.int32)),
        read_only(counts[second].astype(np.int32)),
        read_only(largest[first]),
        # On rows labelled v the lead of u is −t, so its maximum is minus the smallest t.
        read_only(-largest[second]),
        n_one_way=int((~both).sum()),
        n_covered=len(rows),
        n_classes=shortlist.n_classes,
    )


def _label_against_rivals(
    shortlist: Shortlist, labels: IntArray, rows: IntArray, positions: IntArray
) -> tuple[AnyArray, FloatArray]:
    """Return label · K + rival, and g of the rival − g of the label, for every rival, sorted by the first."""
    ids, scores = shortlist.ids[rows].astype(np.int64), shortlist.scores[rows]
    rivals = shortlist.mask[rows] & (np.arange(shortlist.n_candidates) != positions[:, None])
    label_scores = scores[np.arange(len(rows)), positions]
    keys = (labels[rows].astype(np.int64)[:, None] * shortlist.n_classes + ids)[rivals]
    leads = (scores - label_scores[:, None])[rivals]
    order = np.argsort(keys)
    return keys[order], leads[order]


def _runs(keys: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the distinct values of a sorted array, where each starts, and how often it occurs."""
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[starts], starts, np.diff(starts, append=len(keys))
