"""The rows that a report judges a model on: none of them was fitted on by the model that ranks it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair.arrays import BoolArray, FloatArray, IntArray
from repair.auto import AutoChoice
from repair.calibration import CalibrationSet
from repair.class_table import rare_classes
from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.separability import FOLDS, too_little
from repair.estimator import ShortlistReranker, softmax
from repair.folds import group_folds
from repair.frontier import Frontier, frontier_of_hits
from repair.lazy import lazy
from repair.metrics import hit_rate
from repair.progress import progress_bar
from repair.ranking import Ranking
from repair.reranker import Reranker
from repair.shortlist import Shortlist
from repair.statistics import PairedGain, paired_gain
from repair.terms import LEARNED_TERMS

__all__ = ["Evidence", "Part", "cross_fitted", "on_test_rows"]


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows, and a model that was fitted without them."""

    rows: IntArray
    model: ShortlistReranker


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labelled rows with the models that may judge them.

    Attributes
    ----------
    shortlist : Shortlist
    labels : ndarray of int32 (n,)
        Class ids, −1 where the label is no class.
    weights : ndarray (n,)
        What each row counts for.
    groups : ndarray of int32 (n,) or None
    counts : ndarray (K,)
        Tells rare from frequent classes.
    parts : tuple of Part
        Every row is in one of them.
    basis : str
        One sentence: which rows these are, and why the numbers on them are honest.
    noun : str
        What to call them: "test rows" or "held-out calibration rows".
    dial : float or None
        The dial to rank with; None takes each model's own.
    """

    shortlist: Shortlist
    labels: IntArray
    weights: FloatArray
    groups: IntArray | None
    counts: FloatArray
    parts: tuple[Part, ...]
    basis: str
    noun: str
    dial: float | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.labels)

    def final_scores(self, dial: float | None) -> FloatArray:
        """Return every candidate's final score at a dial (None: each model's own)."""
        scores = np.empty(self.shortlist.scores.shape)
        for part in self.parts:
            wanted = part.model._decision(dial, None, None)
            scores[part.rows] = part.model._fitted().correction.scores(self.shortlist.take(part.rows), wanted)
        return scores

    @lazy
    def before(self) -> Ranking:
        """Return the base order."""
        return Ranking.from_corrected(self.shortlist, self.shortlist.scores)

    @lazy
    def after(self) -> Ranking:
        """Return the order of the models."""
        return Ranking.from_corrected(self.shortlist, self.final_scores(self.dial))

    @lazy
    def hits_before(self) -> FloatArray:
        """1 where the base order is right, else 0."""
        return hit_rate(self.before, self.labels)

    @lazy
    def hits_after(self) -> FloatArray:
        """1 where the models are right, else 0."""
        return hit_rate(self.after, self.labels)

    @lazy
    def rare(self) -> BoolArray:
        """Rows of rare classes."""
        mask: BoolArray = (self.labels >= 0) & rare_classes(self.counts)[self.labels]
        return mask

    @lazy
    def frequent(self) -> BoolArray:
        """Rows of frequent classes."""
        mask: BoolArray = (self.labels >= 0) & ~rare_classes(self.counts)[self.labels]
        return mask

    def gain(self, which: BoolArray) -> PairedGain | NotApplicable:
        """Return accuracy after less before over some rows."""
        used = which & (self.weights > 0)
        if not used.any():
            return NotApplicable("there are no such rows")
        groups = None if self.groups is None else self.groups[used]
        return paired_gain((self.hits_after - self.hits_before)[used], self.weights[used], groups)

    def mean(self, values: FloatArray, which: BoolArray) -> float:
        """Return the weighted mean over some rows; NaN if there is none."""
        mass = float(self.weights[which].sum())
        return float(self.weights[which] @ values[which]) / mass if mass > 0 else float("nan")

    def beliefs(self) -> tuple[FloatArray, FloatArray]:
        """Return the probability of the first choice before and after, given that the truth is on the shortlist."""
        first = softmax(self.shortlist.scores).max(axis=1)
        second = np.empty(len(self))
        for part in self.parts:
            second[part.rows] = part.model.predict_proba(self.shortlist.take(part.rows), dial=self.dial)[:, 0]
        return first, second

    def frontier(self, dials: FloatArray) -> Frontier:
        """Return what each dial gains rare rows and costs frequent ones."""
        hits = np.stack([self._hits_at(float(dial)) for dial in dials])
        known = self.labels >= 0
        mass = np.bincount(self.labels[known], self.weights[known], minlength=len(self.counts))
        share = np.where(known, self.weights / np.where(mass > 0, mass, 1.0)[self.labels], 0.0)
        weights = {
            "rare": np.where(self.rare, self.weights, 0.0),
            "frequent": np.where(self.frequent, self.weights, 0.0),
            "accuracy": self.weights,
            "macro": share,
        }
        return frontier_of_hits(dials, hits, self._hits_at(0.0), weights, self.groups)

    def _hits_at(self, dial: float) -> FloatArray:
        return hit_rate(Ranking.from_corrected(self.shortlist, self.final_scores(dial)), self.labels)


def on_test_rows(
    model: ShortlistReranker, shortlist: Shortlist, labels: IntArray, groups: IntArray | None, dial: float | None
) -> Evidence:
    """Judge a model on rows that it was not fitted on; every group counts once."""
    weights = np.ones(len(labels)) if groups is None else 1.0 / np.bincount(groups)[groups]
    grouped = "" if groups is None else f" in {int(groups.max()) + 1:,} groups, each of which counts once"
    return Evidence(
        shortlist,
        labels,
        weights,
        groups,
        model.class_counts_,
        (Part(np.arange(len(labels), dtype=np.int32), model),),
        f"{len(labels):,} test rows{grouped}; the model was not fitted on them.",
        "test rows",
        dial,
    )


def cross_fitted(
    model: ShortlistReranker, calibration: CalibrationSet, dial: float | None, *, seed: int = 0, progress: bool = False
) -> Evidence | NotApplicable:
    """Judge a method on calibration rows, each by a copy that was fitted on the other four fifths.

    Everything that ``fit`` chooses is chosen anew without the rows it is judged on.  What ``auto`` chose
    for each of its outer folds is used again, so that the gain is the nested one that it reports.
    """
    refusal = too_little(calibration)
    if refusal is not None:
        return refusal
    auto = model.auto_ if model.head_loss_ is None else None
    known = auto is not None and auto.folds is not None and len(auto.folds) == len(calibration.labels)
    folds = auto.folds if auto is not None and known else None
    if folds is None:
        folds = group_folds(len(calibration.labels), calibration.groups, FOLDS, seed)
    parts, lists = [], []
    with progress_bar("fitting for held-out rows", FOLDS, show=progress) as step:
        for fold in range(FOLDS):
            train, rows = calibration.take(folds != fold), np.flatnonzero(folds == fold).astype(np.int32)
            if len(np.unique(train.labels[train.covered])) < 2:
                return NotApplicable(f"without fold {fold + 1} of {FOLDS} the covered rows have one label at most")
            copy = _as_picked(model, auto, fold, train) if auto is not None and known else _quiet_copy(model)
            parts.append(Part(rows, copy.fit_checked(train)))
            lists.append(copy.lists_of(calibration.take(rows)))
            step()
    n_rows, groups = len(calibration.labels), calibration.groups
    grouped = "" if groups is None else f" in {int(groups.max()) + 1:,} groups, which folds keep whole"
    return Evidence(
        _together(calibration.shortlist, parts, lists),
        calibration.labels,
        calibration.importance,
        groups,
        model.class_counts_,
        tuple(parts),
        f"{n_rows:,} calibration rows{grouped}, each ranked by a copy of the model that was fitted without it "
        f"({FOLDS} folds, everything chosen anew).",
        "held-out calibration rows",
        dial,
    )


def _together(given: Shortlist, parts: list[Part], lists: list[Shortlist]) -> Shortlist:
    """Return the shortlists that the copies took, in the order of the rows."""
    ids, scores = given.ids.copy(), given.scores.copy()
    for part, own in zip(parts, lists, strict=True):
        ids[part.rows], scores[part.rows] = own.ids, own.scores
    profiles = None
    if any(own.profiles is not None for own in lists):
        width = next(own.profiles.shape[1] for own in lists if own.profiles is not None)
        profiles = np.zeros((len(given), width), dtype=np.float32)
        for part, own in zip(parts, lists, strict=True):
            if own.profiles is not None:  # a copy may have settled for less
                profiles[part.rows] = own.profiles
    return Shortlist._of_checked(ids, scores, given.n_classes, given.embeddings, profiles)


def _quiet_copy(model: ShortlistReranker) -> ShortlistReranker:
    return model.clone(**({"progress": False} if "progress" in model.parameters else {}))


def _as_picked(model: ShortlistReranker, auto: AutoChoice, fold: int, rows: CalibrationSet) -> ShortlistReranker:
    """Return an unfitted model with what ``auto`` picked without one outer fold."""
    assert isinstance(model, Reranker)
    picked = auto.outer[fold]
    if picked.rung == "extended":
        learned = ("context",) if rows.shortlist.embeddings is None else LEARNED_TERMS
        own = None if model.terms is None else [*model.terms, *learned]
        wanted = {"dial": picked.dial, "shortlist_tau": auto.shortlist_tau}
        return model.clone(mode="extended", terms=own, progress=False, **wanted)
    if picked.rung == "base":
        return model.clone(mode="base", terms=None, shortlist_tau=None, progress=False)
    penalties = {"lambda_a": picked.lambda_a, "lambda_theta": picked.lambda_theta, "dial": picked.dial}
    terms = model.terms if picked.rung == "pairwise" else None
    return model.clone(mode=picked.rung, terms=terms, shortlist_tau=None, progress=False, **penalties)
