"""The rows on which a report evaluates a model.  Each is ranked by a model that was not fitted on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import PAD_ID, PAD_SCORE, BoolArray, FloatArray, IntArray, softmax
from repair._utils.lazy import lazy
from repair.data.calibration_set import CalibrationSet
from repair.data.ranking import Ranking
from repair.data.shortlist import Shortlist
from repair.diagnosis.measured_rows import Basis, MeasuredRows
from repair.evaluation.cross_fitting import CrossFit, HeldOutPart
from repair.evaluation.head_tail_frontier import Frontier, frontier_of_hits, stratum_weights
from repair.evaluation.metrics import hit_rate
from repair.report.changes import Changes
from repair.rerankers.base import ShortlistReranker
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain
from repair.stats.row_weights import describe_weights, equal_group_weights, number_of_units

__all__ = ["Evidence", "on_held_out_rows", "on_test_rows"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labelled rows, and the models that rank them.

    Attributes
    ----------
    shortlist : Shortlist
    labels : ndarray of int32 (n,)
        Class ids, −1 if the label is not a known class.
    weights : ndarray (n,)
        Weight of each row.
    groups : ndarray of int32 (n,) or None
    counts : ndarray (K,)
        Counts by which classes are divided into rare and frequent.
    parts : tuple of HeldOutPart
        Parts of the rows, each with its model.  Every row is in exactly one part.
    basis : str
        Sentences that say which rows these are and how they were held out.
    noun : str
        Name of these rows in a sentence: "test rows" or "held-out calibration rows".
    dial : float, "macro" or None
        Dial to rank with.  None means the dial of each model.
    calibration : CalibrationSet or None
        The calibration rows if these are such rows, or None if they are test rows.
    """

    shortlist: Shortlist
    labels: IntArray
    weights: FloatArray
    groups: IntArray | None
    counts: FloatArray
    parts: tuple[HeldOutPart, ...]
    basis: str
    noun: str
    dial: float | str | None = None
    calibration: CalibrationSet | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.labels)

    def final_scores(self, dial: float | str | None) -> FloatArray:
        """Return every candidate's final score at a dial.  None means the dial of each model."""
        scores = np.full(self.shortlist.scores.shape, PAD_SCORE)
        for part in self.parts:
            width = part.shortlist.n_candidates
            scores[part.rows, :width] = part.model.final_scores(part.shortlist, dial=dial)
        return scores

    @lazy
    def before(self) -> Ranking:
        """Return the base order."""
        return Ranking.from_corrected(self.shortlist, self.shortlist.scores)

    @lazy
    def after(self) -> Ranking:
        """Return the order by the models."""
        return Ranking.from_corrected(self.shortlist, self.final_scores(self.dial))

    @lazy
    def changes(self) -> Changes:
        """Which rows the base order and the models have right."""
        before, after = (hit_rate(order, self.labels) for order in (self.before, self.after))
        return Changes(self.labels, self.weights, self.groups, self.counts, before, after, self.basis, self.noun)

    @property
    def hits_before(self) -> FloatArray:
        """1 on rows where the base order puts the true class first, else 0."""
        return self.changes.hits_before

    @property
    def hits_after(self) -> FloatArray:
        """1 on rows where the models put the true class first, else 0."""
        return self.changes.hits_after

    @property
    def folds(self) -> int | None:
        """Number of folds in which the rows were held out, or None for test rows."""
        return None if self.calibration is None else len(self.parts)

    @lazy
    def measured_rows(self) -> MeasuredRows:
        """Return what a verdict on these rows needs."""
        groups, n_rows = self.groups, len(self)
        covered = int((self.before.positions(self.labels) >= 0).sum())
        n_groups = None if groups is None else number_of_units(n_rows, groups)
        basis = Basis(n_rows, covered, n_groups, self.folds)
        of_rows = (self.hits_before, self.hits_after, self.labels, self.weights, groups)
        return MeasuredRows(*of_rows, self.counts, basis, calibration=self.calibration)

    @property
    def rare(self) -> BoolArray:
        """Mask of the rows of rare classes."""
        return self.changes.rare

    @property
    def frequent(self) -> BoolArray:
        """Mask of the rows of frequent classes."""
        return self.changes.frequent

    def gain(self, which: BoolArray) -> PairedGain | NotApplicable:
        """Return the accuracy of the models minus that of the base order, over some rows."""
        return self.changes.gain(which)

    def mean(self, values: FloatArray, which: BoolArray) -> float:
        """Return the weighted mean over some rows, NaN if there are none."""
        return self.changes.mean(values, which)

    @property
    def keeps_base(self) -> bool:
        """Whether the models leave the base order's first choice on every row."""
        return bool((self.after.order[:, 0] == 0).all())

    def beliefs(self) -> tuple[FloatArray, FloatArray]:
        """Return the probability of the first choice before and after, conditional on coverage."""
        first = softmax(self.shortlist.scores).max(axis=1)
        second = np.empty(len(self))
        for part in self.parts:
            second[part.rows] = part.model.whole_ranking(part.shortlist, dial=self.dial).probabilities[:, 0]
        return first, second

    def frontier(self, dials: FloatArray) -> Frontier:
        """Return the accuracy on rows of rare and of frequent classes at each dial."""
        hits = np.stack([self._hits_at(float(dial)) for dial in dials])
        weights = stratum_weights(self.labels, self.counts, self.weights)
        return frontier_of_hits(dials, hits, self._hits_at(0.0), weights, self.groups)

    def _hits_at(self, dial: float) -> FloatArray:
        return hit_rate(Ranking.from_corrected(self.shortlist, self.final_scores(dial)), self.labels)


def on_test_rows(
    model: ShortlistReranker, shortlist: Shortlist, labels: IntArray, groups: IntArray | None, dial: float | str | None
) -> Evidence:
    """Return the evidence from test rows.  Every group counts once."""
    grouped = "" if groups is None else f" in {number_of_units(len(labels), groups):,} groups"
    weights = equal_group_weights(len(labels), groups)
    return Evidence(
        shortlist,
        labels,
        weights,
        groups,
        model.class_counts_,
        (HeldOutPart(np.arange(len(labels), dtype=np.int32), model, shortlist),),
        f"{len(labels):,} test rows{grouped}. The model was not fitted on them.{describe_weights(weights, groups)}",
        "test rows",
        dial,
    )


def on_held_out_rows(
    model: ShortlistReranker, calibration: CalibrationSet, copies: CrossFit, dial: float | str | None
) -> Evidence:
    """Return the evidence from calibration rows, each ranked by a copy that was fitted on the other folds."""
    n_rows, groups = len(calibration.labels), calibration.groups
    grouped = "" if groups is None else f" in {number_of_units(n_rows, groups):,} groups"
    folds = "folds" if groups is None else "folds of whole groups"
    return Evidence(
        _together(calibration.shortlist, copies),
        calibration.labels,
        calibration.importance,
        groups,
        model.class_counts_,
        copies.parts,
        f"{n_rows:,} calibration rows{grouped}. Each is ranked by a copy of the model that was fitted without it "
        f"({len(copies.parts)} {folds}; every choice is repeated in each)."
        f"{describe_weights(calibration.importance, groups)}",
        "held-out calibration rows",
        dial,
        calibration,
    )


def _together(given: Shortlist, copies: CrossFit) -> Shortlist:
    """Return the shortlists of the copies, in the order of the rows."""
    shape = len(given), max(part.shortlist.n_candidates for part in copies.parts)
    ids, scores = np.full(shape, PAD_ID, dtype=np.int32), np.full(shape, PAD_SCORE)
    for part in copies.parts:
        width = part.shortlist.n_candidates
        ids[part.rows, :width], scores[part.rows, :width] = part.shortlist.ids, part.shortlist.scores
    return Shortlist.from_candidates(ids, scores, given.n_classes)
