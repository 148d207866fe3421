"""``mode="auto"``: choose the simplest mode with a significant gain on held-out rows, or the base order.

Every choice is made on held-out rows, and folds keep groups whole.  The reported gain comes from nested
cross-validation, in which all choices are repeated within the training rows of each outer fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray, IntArray, dot
from repair._utils.progress import progress_bar
from repair.data.calibration_set import CalibrationSet
from repair.fitting.design_matrix import Design
from repair.fitting.problem import Problem
from repair.fitting.settings import FitSettings
from repair.model.adjustments import DIALS
from repair.model.choice import Choice
from repair.model.tuning_records import AutoChoice, CandidateResult
from repair.stats.folds import group_folds, too_few_units
from repair.stats.paired_gains import PairedGain, gain_of_weighted_rows, holm, paired_gain
from repair.stats.row_weights import renumbered
from repair.terms.options import ExtendedOptions
from repair.terms.term import Term
from repair.tuning.candidates import Candidate, EvidenceCandidate, RidgeCandidate

__all__ = ["choose_mode"]

OUTER_FOLDS, INNER_FOLDS = 5, 4
LEVEL = 0.05


def choose_mode(
    calibration: CalibrationSet,
    terms: tuple[Term, ...],
    settings: FitSettings,
    *,
    options: ExtendedOptions | None = None,
    dial: float | None = None,
    random_state: int = 0,
    progress: bool = False,
) -> AutoChoice:
    """Choose a mode, its penalties and its dial, and estimate the gain by nested cross-validation.

    Parameters
    ----------
    calibration : CalibrationSet
        The rows to choose on.
    terms : tuple of Term
        The terms of the pairwise mode.
    settings : FitSettings
        Settings of the fits, such as the tolerance.  Penalties, α and τ are ignored.
    options : ExtendedOptions, optional
        Options of the extended mode.
    dial : float, optional
        The dial at which the modes are compared.  By default it is chosen too.
    random_state : int, default 0
        Seed for the folds.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    AutoChoice
    """
    base_hits = (calibration.positions == 0).astype(np.float64)
    too_few = too_few_units(int(calibration.covered.sum()), calibration.groups)
    if too_few is not None:
        base = _base(base_hits)
        reason = (
            f"Keeping the base order: {too_few.present} are too few to choose a correction "
            f"({too_few.needed} are needed)."
        )
        return AutoChoice(base, (base,), reason, None, OUTER_FOLDS)
    dials = (0.0,) if calibration.table.class_counts is None else DIALS
    chooser = _Chooser(
        calibration,
        _candidates(calibration, terms, options or ExtendedOptions()),
        base_hits,
        dials if dial is None else (dial,),
        settings,
    )
    everything = np.ones(len(base_hits), dtype=bool)
    outer = group_folds(len(base_hits), calibration.groups, OUTER_FOLDS, random_state)
    nested, picks = np.zeros(len(base_hits)), []
    with progress_bar("choosing a mode", OUTER_FOLDS + 1, show=progress) as step:
        chosen, candidates = chooser.choose(everything, outer)
        step()
        for fold in range(OUTER_FOLDS):
            train = outer != fold
            picked, _ = chooser.choose(train, _refold(train, calibration.groups, random_state + 1 + fold))
            picks.append(picked)
            nested[~train] = (chooser.held_out(picked, train, ~train) - base_hits)[~train]
            step()
    gain = paired_gain(nested, calibration.importance, calibration.groups)
    agreed = sum(picked.mode == chosen.mode for picked in picks)
    reason = _reason(chosen, gain, agreed)
    return AutoChoice(chosen, candidates, reason, gain, agreed, tuple(picks), outer)


def _candidates(
    calibration: CalibrationSet, terms: tuple[Term, ...], options: ExtendedOptions
) -> tuple[Candidate, ...]:
    """Return the modes to choose from, from the simplest to the most complex."""
    pairwise = Problem.fixed(calibration, terms)
    candidates: list[Candidate] = [RidgeCandidate("classwise", _without_terms(pairwise))]
    if terms:
        candidates.append(RidgeCandidate("pairwise", pairwise))
    extended = Problem.extended(calibration, terms, options)
    candidates.append(EvidenceCandidate("extended", extended, calibration, terms, options))
    return tuple(candidates)


def _without_terms(problem: Problem) -> Problem:
    """Return the problem with offsets only.  Its arrays are shared and not computed again."""
    design: Design = replace(problem.design, columns=problem.design.columns[:, :, :0], multiplicity=())
    return replace(problem, design=design, terms=(), widths=())


@dataclass(frozen=True, eq=False)
class _Chooser:
    """All candidates on all rows.  `choose` uses some of the rows."""

    calibration: CalibrationSet
    candidates: tuple[Candidate, ...]
    base_hits: FloatArray
    dials: Sequence[float]
    settings: FitSettings

    def choose(self, use: BoolArray, folds: IntArray) -> tuple[CandidateResult, tuple[CandidateResult, ...]]:
        """Score every candidate on held-out rows of `use`, and choose one.

        Candidates with a significant gain are accepted.  The simplest accepted one that is not
        significantly worse than the best is chosen, or the base order if none is accepted.
        """
        importance = np.where(use, self.calibration.importance, 0.0)
        base, used = _base(self.base_hits), np.where(use, folds, -1).astype(np.int32)
        tried = [self._score(candidate, use, used, importance) for candidate in self.candidates]
        adjusted = holm(np.array([result.gain.p_value() for result in tried]))
        tried = [replace(result, p_value=float(p)) for result, p in zip(tried, adjusted, strict=True)]
        accepted = [result for result in tried if result.p_value <= LEVEL]
        if not accepted:
            return base, (base, *tried)
        best = max(accepted, key=lambda result: result.gain.gain)
        for result in accepted:  # from the simplest to the most complex
            if result is best or self._gain(best.hits - result.hits, importance).p_value() > LEVEL:
                return result, (base, *tried)
        return best, (base, *tried)

    def held_out(self, picked: CandidateResult, train: BoolArray, test: BoolArray) -> FloatArray:
        """Return 1 for rows of `test` on which the chosen candidate, fitted on `train`, is right, else 0."""
        candidate = next((candidate for candidate in self.candidates if candidate.mode == picked.mode), None)
        if candidate is None:
            return np.where(test, self.base_hits, 0.0)
        return candidate.held_out(picked.choice, train, test, self.settings)

    def _score(self, candidate: Candidate, use: BoolArray, folds: IntArray, importance: FloatArray) -> CandidateResult:
        choice, scores = candidate.tune(folds, importance, self.settings)
        inside = use[candidate.problem.design.rows]
        hits = [np.where(use, candidate.hits(scores[inside], inside, dial), 0.0) for dial in self.dials]
        best = int(np.argmax([dot(importance, row_hits) for row_hits in hits]))
        gaps = [self._gain(hits[best] - row_hits, importance) for row_hits in hits]
        chosen = next(i for i, gap in enumerate(gaps) if gap.gain <= gap.error)  # the smallest dial within one error
        gain = self._gain(hits[chosen] - np.where(use, self.base_hits, 0.0), importance)
        return CandidateResult(replace(choice, dial=self.dials[chosen]), gain, 1.0, hits[chosen])

    def _gain(self, difference: FloatArray, importance: FloatArray) -> PairedGain:
        """Return the paired gain over the rows with a positive weight, of which there are some."""
        gain = gain_of_weighted_rows(difference, importance, self.calibration.groups, renumber=True)
        assert isinstance(gain, PairedGain)
        return gain


def _base(hits: FloatArray) -> CandidateResult:
    return CandidateResult(Choice("base", dial=0.0), PairedGain(0.0, 0.0, 1), 1.0, hits, keeps_base=True)


def _refold(train: BoolArray, groups: IntArray | None, random_state: int) -> IntArray:
    """Return the inner fold of each training row, −1 for the other rows."""
    codes = None if groups is None else renumbered(groups[train])
    folds = np.full(len(train), -1, dtype=np.int32)
    folds[train] = group_folds(int(train.sum()), codes, INNER_FOLDS, random_state)
    return folds


def _reason(chosen: CandidateResult, gain: PairedGain, agreed: int) -> str:
    low, high = gain.interval()
    points = f"{100 * gain.gain:+.1f} points of accuracy"
    interval = f"95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
    agreement = f"{agreed} of {OUTER_FOLDS} folds chose the same mode"
    if chosen.keeps_base:
        return (
            "Keeping the base order: no correction improved held-out accuracy significantly "
            f"(nested estimate: {points}, {interval}; {agreement})."
        )
    dial = f" with dial {chosen.dial:g}" if chosen.dial else ""
    return f"Chose {chosen.mode}{dial}: {points} over the base order ({interval}, nested; {agreement})."
