"""The rows on which a correction was measured: where it was right, and what the numbers rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray, IntArray
from repair.data.calibration_set import CalibrationSet
from repair.data.duplicates import copied_rows
from repair.evaluation.head_tail_frontier import stratum_weights
from repair.stats.folds import FOLDS
from repair.stats.paired_gains import PairedGain, paired_gain
from repair.stats.row_weights import number_of_units
from repair.stats.strata import ClassStrata, class_strata

__all__ = ["Basis", "MeasuredRows", "StratumGain"]

TITLES = {
    "all": "All rows",
    "macro": "Mean over classes",
    "rare": "Rare classes",
    "frequent": "Frequent classes",
    "few": "Few examples",
    "medium": "Medium",
    "many": "Many examples",
}


@dataclass(frozen=True)
class Basis:
    """What a verdict rests on.

    Attributes
    ----------
    rows, covered : int
        Number of rows, and of those with their true class on the shortlist.
    groups : int or None
        Number of groups, or None if no groups were given.
    folds : int or None
        Number of folds if these are calibration rows that were held out, or None if they are test rows.
    """

    rows: int
    covered: int
    groups: int | None
    folds: int | None

    @property
    def unit(self) -> str:
        """What counts as one observation: ``"rows"`` or ``"groups"``."""
        return "rows" if self.groups is None else "groups"

    @property
    def units(self) -> int:
        """Number of observations."""
        return self.rows if self.groups is None else self.groups

    @property
    def noun(self) -> str:
        """Name of these rows in a sentence."""
        return "test rows" if self.folds is None else "held-out calibration rows"

    def __str__(self) -> str:
        """Return what the numbers rest on, in one sentence."""
        groups = "" if self.groups is None else f" in {self.groups:,} groups"
        kind = "test" if self.folds is None else "calibration"
        sizes = f"Based on {self.rows:,} {kind} rows{groups}, {self.covered:,} of them covered"
        if self.folds is None:
            return f"{sizes}."
        whole = "" if self.groups is None else " of whole groups"
        return f"{sizes}. Each is ranked by a copy that was fitted without it ({self.folds} folds{whole})."


@dataclass(frozen=True)
class StratumGain:
    """The accuracy on some of the rows, before and after.

    Attributes
    ----------
    name : str
        ``"all"``, ``"macro"`` (accuracy averaged over classes), or a stratum of `repair.class_strata`.
    gain : PairedGain
    before : float
        Accuracy of the base order on these rows.
    rows : int
    """

    name: str
    gain: PairedGain
    before: float
    rows: int

    @property
    def title(self) -> str:
        """Name of these rows in a table or at the start of a sentence."""
        return TITLES[self.name]

    @property
    def after(self) -> float:
        """Accuracy of the correction on these rows."""
        return self.before + self.gain.gain

    @property
    def direction(self) -> int:
        """1 or −1 if the 95 % interval lies above or below zero, else 0."""
        low, high = self.gain.interval()
        return int(low > 0) - int(high < 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {
            "name": self.name,
            "rows": self.rows,
            "before": self.before,
            "after": self.after,
            **self.gain.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class MeasuredRows:
    """Whether each row was right with the base order, and with a correction that was not fitted on it.

    Attributes
    ----------
    before, after : ndarray (n,)
        1 for rows whose true class is first, else 0.
    labels : ndarray of int (n,)
        Class ids, −1 if the label is not a known class.
    weights : ndarray (n,)
        Weight of each row in the accuracy.
    groups : ndarray of int (n,) or None
    class_counts : ndarray (K,)
        Counts by which classes are divided into strata.
    basis : Basis
    strata : str or None
        The rule of `repair.class_strata`.
    calibration : CalibrationSet or None
        The calibration rows if these are such rows, in which copies are looked for.
    """

    before: FloatArray
    after: FloatArray
    labels: IntArray
    weights: FloatArray
    groups: IntArray | None
    class_counts: FloatArray
    basis: Basis
    strata: str | None = None
    calibration: CalibrationSet | None = None

    @classmethod
    def held_out(cls, calibration: CalibrationSet, after: FloatArray, strata: str | None = None) -> MeasuredRows:
        """Return calibration rows, with the hits of copies of a correction that were fitted on the other folds."""
        n_rows, groups = len(calibration.labels), calibration.groups
        n_groups = None if groups is None else number_of_units(n_rows, groups)
        return cls(
            (calibration.positions == 0).astype(np.float64),
            after,
            calibration.labels,
            calibration.importance,
            groups,
            calibration.class_counts,
            Basis(n_rows, int(calibration.covered.sum()), n_groups, FOLDS),
            strata,
            calibration,
        )

    @property
    def class_strata(self) -> ClassStrata:
        """How the classes are divided."""
        return class_strata(self.class_counts, self.strata)

    def overall(self) -> StratumGain:
        """Return the gain in accuracy over all rows."""
        return self._over("all", np.ones(len(self.labels), dtype=bool), self.weights)

    def macro(self) -> StratumGain:
        """Return the gain of the accuracy averaged over classes."""
        weights = stratum_weights(self.labels, self.class_counts, self.weights)["macro"]
        return self._over("macro", weights > 0, weights)

    def by_stratum(self) -> tuple[StratumGain, ...]:
        """Return the gain on the rows of each stratum.  A stratum without rows is left out."""
        rows = self.class_strata.rows(self.labels)
        if sum(which.any() for which in rows.values()) < 2:  # it would repeat the numbers over all rows
            return ()
        return tuple(self._over(name, which, self.weights) for name, which in rows.items() if which.any())

    def over(self, hits: FloatArray) -> PairedGain:
        """Return the gain in accuracy over another correction, given its hits on the same rows."""
        return paired_gain(self.after - hits, self.weights, self.groups)

    def share_of_copies(self) -> float:
        """Return the share of rows that are copies of a row of another group.  0 for test rows."""
        if self.calibration is None:
            return 0.0
        return float(self.weights @ copied_rows(self.calibration)) / float(self.weights.sum())

    def _over(self, name: str, which: BoolArray, weights: FloatArray) -> StratumGain:
        groups = None if self.groups is None else self.groups[which]
        gain = paired_gain((self.after - self.before)[which], weights[which], groups)
        before = float(weights[which] @ self.before[which]) / float(weights[which].sum())
        return StratumGain(name, gain, before, int(which.sum()))
