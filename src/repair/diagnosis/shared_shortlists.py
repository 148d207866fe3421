"""Shared shortlists: which pairs of classes are together on the shortlist of which row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.parallel import row_blocks
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.validation.checks import check_labels

__all__ = ["Meetings", "covered_rows", "numbers_fit", "pair_blocks"]

#: Pairs of candidates per block of rows.  This limits temporary memory.
PAIRS_PER_BLOCK = 1 << 21
#: Up to this many pair numbers are stored (1 GB).  If there are more, they are looked up whenever they are needed.
KEPT_NUMBERS = 1 << 28


@dataclass(frozen=True, eq=False)
class Meetings:
    """The unordered pairs of classes that meet on a row, sorted by (lower id, higher id).

    The pair of candidates at base positions low < high of a row has column high·(high−1)/2 + low.
    Padding is at the end of a row, so it does not change the columns of the real pairs.

    Attributes
    ----------
    shortlist : Shortlist
    keys : ndarray of int64 (P,)
        lower id · K + higher id of each pair, in ascending order.  The number of a pair is its index
        in this array.
    kept : ndarray of int32 (n, k(k−1)/2) or None
        The number of each row's pairs, −1 on padding.  None if that would need too much memory.
    """

    shortlist: Shortlist
    keys: AnyArray
    kept: IntArray | None

    @classmethod
    def of(cls, shortlist: Shortlist) -> "Meetings":
        """Assign a number to each pair of a shortlist."""
        keys = np.empty(0, dtype=np.int64)
        for rows in pair_blocks(shortlist):
            keys = _distinct(np.concatenate([keys, _pair_keys(shortlist, rows).ravel()]))
        keys = keys[np.searchsorted(keys, 0) :]  # padding has negative keys
        meetings = cls(shortlist, keys, None)
        if not numbers_fit(shortlist):
            return meetings
        kept = np.empty((len(shortlist), _pairs_per_row(shortlist)), dtype=np.int32)
        for rows in pair_blocks(shortlist):
            kept[rows] = meetings.numbers(rows)
        return cls(shortlist, keys, kept)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.keys)

    @property
    def first(self) -> IntArray:
        """Lower class id of each pair."""
        return (self.keys // self.shortlist.n_classes).astype(np.int32)

    @property
    def second(self) -> IntArray:
        """Higher class id of each pair."""
        return (self.keys % self.shortlist.n_classes).astype(np.int32)

    def numbers(self, rows: slice) -> IntArray:
        """Return the pair number in each column of these rows, −1 on padding."""
        if self.kept is not None:
            return self.kept[rows]
        wanted = _pair_keys(self.shortlist, rows)
        return np.where(wanted < 0, -1, np.searchsorted(self.keys, wanted)).astype(np.int32)

    def gaps(self, rows: slice) -> FloatArray:
        """Return t = g of the higher class id − g of the lower one in each column, 0 on padding."""
        low, high = _columns(self.shortlist.n_candidates)
        ids, scores = self.shortlist.ids[rows], self.shortlist.scores[rows]
        # Padding has score −Inf, and the gap between two of these would be NaN.
        finite = np.where(self.shortlist.mask[rows], scores, 0.0)
        gap = finite[:, high] - finite[:, low]
        signed = np.where(ids[:, high] > ids[:, low], gap, -gap)
        return np.where(self.shortlist.mask[rows][:, high], signed, 0.0)


def pair_blocks(shortlist: Shortlist) -> list[slice]:
    """Cut the rows into blocks of about `PAIRS_PER_BLOCK` pairs."""
    return row_blocks(len(shortlist), PAIRS_PER_BLOCK // max(1, _pairs_per_row(shortlist)))


def numbers_fit(shortlist: Shortlist) -> bool:
    """Return whether there is enough memory for the pair numbers of all rows."""
    return len(shortlist) * _pairs_per_row(shortlist) <= KEPT_NUMBERS


def _pairs_per_row(shortlist: Shortlist) -> int:
    return shortlist.n_candidates * (shortlist.n_candidates - 1) // 2


def covered_rows(shortlist: Shortlist, labels: ArrayLike) -> tuple[IntArray, IntArray, IntArray]:
    """Validate the labels and return them, the covered rows, and the base position of the label on each of those."""
    if not isinstance(shortlist, Shortlist):
        raise InputError(
            f"the first argument is {type(shortlist).__name__}; pass a Shortlist, such as Shortlist.from_scores(scores)"
        )
    checked, _ = check_labels(labels, len(shortlist), shortlist.n_classes)
    positions = shortlist.positions_of(checked)
    rows = np.flatnonzero(positions >= 0).astype(np.int32)
    return checked, rows, positions[rows]


def _columns(k: int) -> tuple[AnyArray, AnyArray]:
    """Return the lower and the higher base position of each column."""
    high, low = np.tril_indices(k, -1)
    return low, high


def _pair_keys(shortlist: Shortlist, rows: slice) -> AnyArray:
    """Return lower id · K + higher id for each pair of each row, negative if one of them is padding."""
    low, high = _columns(shortlist.n_candidates)
    ids = shortlist.ids[rows].astype(np.int64)
    first, second = ids[:, low], ids[:, high]
    keys: AnyArray = np.minimum(first, second) * shortlist.n_classes + np.maximum(first, second)
    return keys


def _distinct(keys: AnyArray) -> AnyArray:
    """Return the distinct values in ascending order.  Sorting is several times as fast as the hashing of np.unique."""
    ordered = np.sort(keys)
    kept = np.ones(len(ordered), dtype=bool)
    kept[1:] = ordered[1:] != ordered[:-1]
    return ordered[kept]
