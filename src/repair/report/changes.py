"""Which rows were right before and after a correction, with their weights: what every number of a report rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray, IntArray
from repair._utils.lazy import lazy
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain, gain_of_weighted_rows
from repair.stats.strata import strata_of

__all__ = ["Changes"]


@dataclass(frozen=True, eq=False)
class Changes:
    """Labelled rows with the result of the base order and of a correction.

    Attributes
    ----------
    labels : ndarray of int32 (n,)
        Class ids, −1 if the label is not a known class.
    weights : ndarray (n,)
        Weight of each row.
    groups : ndarray of int32 (n,) or None
    counts : ndarray (K,)
        Counts by which classes are divided into rare and frequent.
    hits_before, hits_after : ndarray (n,)
        1 on rows where the base order, or the correction, puts the true class first, else 0.
    basis : str
        Sentences that say which rows these are and how they were held out.
    noun : str
        Name of these rows in a sentence: "test rows" or "held-out calibration rows".
    """

    labels: IntArray
    weights: FloatArray
    groups: IntArray | None
    counts: FloatArray
    hits_before: FloatArray
    hits_after: FloatArray
    basis: str
    noun: str

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.labels)

    @lazy
    def rare(self) -> BoolArray:
        """Mask of the rows of rare classes."""
        return strata_of(self.labels, self.counts).rare

    @lazy
    def frequent(self) -> BoolArray:
        """Mask of the rows of frequent classes."""
        return strata_of(self.labels, self.counts).frequent

    @lazy
    def strata(self) -> dict[str, BoolArray]:
        """Masks of all rows and of the rows of rare and of frequent classes, by title, without empty ones."""
        masks = {
            "All rows": np.ones(len(self), dtype=bool),
            "Rare classes": self.rare,
            "Frequent classes": self.frequent,
        }
        return {title: which for title, which in masks.items() if which.any()}

    @property
    def fixed(self) -> int:
        """Number of rows that only the correction has right."""
        return int(((self.hits_before == 0) & (self.hits_after > 0)).sum())

    @property
    def broken(self) -> int:
        """Number of rows that only the base order has right."""
        return int(((self.hits_before > 0) & (self.hits_after == 0)).sum())

    def gain(self, which: BoolArray) -> PairedGain | NotApplicable:
        """Return the accuracy of the correction minus that of the base order, over some rows."""
        weights = np.where(which, self.weights, 0.0)
        return gain_of_weighted_rows(self.hits_after - self.hits_before, weights, self.groups)

    def mean(self, values: FloatArray, which: BoolArray) -> float:
        """Return the weighted mean over some rows, NaN if there are none."""
        mass = float(self.weights[which].sum())
        return float(self.weights[which] @ values[which]) / mass if mass > 0 else float("nan")
