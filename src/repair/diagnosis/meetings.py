"""Which two classes meet on which row: every pair of a shortlist, numbered."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.errors import InputError
from repair.inputs import check_labels
from repair.parallel import row_blocks
from repair.shortlist import Shortlist

__all__ = ["Meetings", "covered_rows", "numbers_fit", "pair_blocks"]

#: Pairs of candidates looked at per block of rows: bounds temporary memory.
PAIRS_PER_BLOCK = 1 << 21
#: Up to this many pair numbers are kept (1 GB); beyond, they are looked up anew whenever needed.
KEPT_NUMBERS = 1 << 28


@dataclass(frozen=True, eq=False)
class Meetings:
    """The unordered pairs of classes that share a row, in order of (lower id, higher id).

    The candidates at base positions low < high of a row meet in column high·(high−1)/2 + low, so
    a row's padding, which is at its end, leaves the columns of its real pairs where they are.

    Attributes
    ----------
    shortlist : Shortlist
    keys : ndarray of int64 (P,)
        lower id · K + higher id of each pair, rising; a pair's number is its place here.
    kept : ndarray of int32 (n, k(k−1)/2) or None
        The number of every row's pairs, −1 on padding; None if that would need too much memory.
    """

    shortlist: Shortlist
    keys: AnyArray
    kept: IntArray | None

    @classmethod
    def of(cls, shortlist: Shortlist) -> "Meetings":
        """Give a number to each pair that meets on a shortlist."""
        keys = np.empty(0, dtype=np.int64)
        for rows in pair_blocks(shortlist):
            keys = _distinct(np.concatenate([keys, _pair_keys(shortlist, rows).ravel()]))
        keys = keys[np.searchsorted(keys, 0) :]  # padding has negative keys
        found = cls(shortlist, keys, None)
        if not numbers_fit(shortlist):
            return found
        kept = np.empty((len(shortlist), _pairs_per_row(shortlist)), dtype=np.int32)
        for rows in pair_blocks(shortlist):
            kept[rows] = found.numbers(rows)
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
        """Return t = g of the higher class id − g of the lower in each column; 0 on padding."""
        low, high = _columns(self.shortlist.n_candidates)
        ids, scores = self.shortlist.ids[rows], self.shortlist.scores[rows]
        # Padding is −Inf; its gap would be NaN where both ends are padding.
        finite = np.where(self.shortlist.mask[rows], scores, 0.0)
        gap = finite[:, high] - finite[:, low]
        signed = np.where(ids[:, high] > ids[:, low], gap, -gap)
        return np.where(self.shortlist.mask[rows][:, high], signed, 0.0)


def pair_blocks(shortlist: Shortlist) -> list[slice]:
    """Cut the rows into blocks of about `PAIRS_PER_BLOCK` pairs."""
    return row_blocks(len(shortlist), PAIRS_PER_BLOCK // max(1, _pairs_per_row(shortlist)))


def numbers_fit(shortlist: Shortlist) -> bool:
    """Say whether the numbers of all pairs of all rows may be kept in memory."""
    return len(shortlist) * _pairs_per_row(shortlist) <= KEPT_NUMBERS


def _pairs_per_row(shortlist: Shortlist) -> int:
    return shortlist.n_candidates * (shortlist.n_candidates - 1) // 2


def covered_rows(shortlist: Shortlist, labels: ArrayLike) -> tuple[IntArray, IntArray, IntArray]:
    """Check labels and return (labels, the covered rows, the label's base position on each of those)."""
    if not isinstance(shortlist, Shortlist):
        raise InputError(
            f"the first argument is {type(shortlist).__name__}; pass a Shortlist, such as Shortlist.from_scores(scores)"
        )
    checked, _ = check_labels(labels, len(shortlist), shortlist.n_classes)
    positions = shortlist.positions_of(checked)
    rows = np.flatnonzero(positions >= 0).astype(np.int32)
    return checked, rows, positions[rows]


def _columns(k: int) -> tuple[AnyArray, AnyArray]:
    """Return the lower and the higher base position that meet in each column."""
    high, low = np.tril_indices(k, -1)
    return low, high


def _pair_keys(shortlist: Shortlist, rows: slice) -> AnyArray:
    """Return lower id · K + higher id for each pair of each row; negative where one is padding."""
    low, high = _columns(shortlist.n_candidates)
    ids = shortlist.ids[rows].astype(np.int64)
    one, other = ids[:, low], ids[:, high]
    keys: AnyArray = np.minimum(one, other) * shortlist.n_classes + np.maximum(one, other)
    return keys


def _distinct(keys: AnyArray) -> AnyArray:
    """Return the distinct values, rising, by a sort: several times as quick as the hashing of np.unique."""
    ordered = np.sort(keys)
    kept = np.ones(len(ordered), dtype=bool)
    kept[1:] = ordered[1:] != ordered[:-1]
    return ordered[kept]
