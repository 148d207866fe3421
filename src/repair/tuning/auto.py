"""``mode="auto"``: fit the extended mode if held-out rows show that a correction helps, or keep the base order.

Corrections are compared on held-out rows by the log-probability of the labels, which shows a gain with
far fewer rows than accuracy does, because it uses every row and not only those whose first candidate
changes.  A score test of logit adjustment (`repair.tuning.frequency_test`) adds power where there are
about a hundred rows.  Folds keep groups whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair._utils.blas import one_blas_thread
from repair._utils.progress import progress_bar
from repair.data.calibration_set import CalibrationSet
from repair.fitting.settings import FitSettings
from repair.model.adjustments import MACRO, dial_text
from repair.model.choice import Choice
from repair.model.tuning_records import AutoChoice, CandidateResult
from repair.stats.folds import group_folds, too_few_units
from repair.stats.paired_gains import PairedGain, paired_gain
from repair.terms.options import ExtendedOptions
from repair.terms.term import Term
from repair.tuning.candidates import Candidate, ExtendedCandidate, FixedCandidate, HeldOut
from repair.tuning.frequency_test import frequency_p_value

__all__ = ["LEVEL", "NAMES", "SMALL", "choose_mode"]

FOLDS = 5
LEVEL = 0.05
#: Factor of the standard error of a held-out likelihood.  If the base scores are right, the improvement of fold j is a
#: product of what fold j and the other folds say, so each pair of folds enters twice, and the variance is up to twice
#: that of independent rows.  Without the factor, 14 % of useless corrections passed a test at 5 %.
SHARED_ROWS = 2.0**0.5
#: The fixed terms of the small correction, which needs few rows: a temperature and logit adjustment.
SMALL_TERMS = ("score_gap", "log_freq_ratio")
#: The names of the corrections, in the order in which they are tried.  The last two can be chosen.
NAMES = ("classwise", "separable", "pairwise", "few_terms", "extended")
SMALL = NAMES.index("few_terms")


def choose_mode(
    calibration: CalibrationSet,
    terms: tuple[Term, ...],
    settings: FitSettings,
    *,
    options: ExtendedOptions | None = None,
    named: tuple[str, ...] | None = None,
    dial: float | str | None = None,
    random_state: int = 0,
    progress: bool = False,
) -> AutoChoice:
    """Choose between the base order and two sizes of the extended mode, and estimate the gain on held-out rows.

    The small correction has a temperature, logit adjustment and shrunken class offsets.  The large
    one is the whole extended mode.  Class offsets, offsets with a temperature and a count slope, and
    Pairwise are scored as well, for comparison, but never chosen.

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
    named : tuple of str, optional
        The fixed terms that the user named.
    dial : float or "macro", optional
        The dial at which accuracy is measured, by default 0.  With ``"macro"``, which gives up accuracy
        on purpose, accuracy is measured at 0.
    random_state : int, default 0
        Seed for the folds.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    AutoChoice
    """
    base_hits = (calibration.positions == 0).astype(np.float64)
    base = CandidateResult(
        Choice("base", dial=MACRO if dial == MACRO else 0.0),
        PairedGain(0.0, 0.0, max(1, len(base_hits) - 1)),
        1.0,
        base_hits,
        keeps_base=True,
    )
    too_few = too_few_units(int(calibration.covered.sum()), calibration.groups)
    if too_few is not None:
        reason = (
            f"Keeping the base order: {too_few.present} are too few to choose a correction "
            f"({too_few.needed} are needed)."
        )
        return AutoChoice(base, (base,), reason, None, FOLDS)
    candidates = _candidates(terms, settings, options or ExtendedOptions(), named, dial)
    measured_at = 0.0 if dial is None or isinstance(dial, str) else dial
    folds = group_folds(len(base_hits), calibration.groups, FOLDS, random_state)
    with one_blas_thread(), progress_bar("choosing a mode", len(candidates) * FOLDS, show=progress) as step:
        tried = [_over_folds(candidate, calibration, folds, measured_at, step) for candidate in candidates]
    results = _results(candidates, tried, calibration, base_hits)
    return _chosen(base, results, tried, calibration, folds)


def _candidates(
    terms: tuple[Term, ...],
    settings: FitSettings,
    options: ExtendedOptions,
    named: tuple[str, ...] | None,
    dial: float | str | None,
) -> tuple[Candidate, ...]:
    """Return the corrections in the order of `NAMES`."""
    dial = dial or 0.0
    small = tuple(term for term in terms if named is not None or term.name in SMALL_TERMS)
    names = tuple(term.name for term in small)
    separable = tuple(term for term in terms if term.name in SMALL_TERMS)
    choice = Choice("pairwise", dial=dial, terms=tuple(term.name for term in separable))
    return (
        FixedCandidate(Choice("classwise", dial=dial), (), settings),
        FixedCandidate(choice, separable, settings),
        FixedCandidate(Choice("pairwise", dial=dial), terms, settings),
        ExtendedCandidate(Choice("extended", dial=dial, terms=names), small, settings, options, ()),
        ExtendedCandidate(Choice("extended", dial=dial), terms, settings, options, None),
    )


def _over_folds(
    candidate: Candidate, calibration: CalibrationSet, folds: IntArray, dial: float, step: object
) -> HeldOut:
    """Return hits and improvements of all rows, each from a fit without the row's fold."""
    hits, improvement = np.zeros(len(folds)), np.zeros(len(folds))
    for fold in range(FOLDS):
        train = folds != fold
        part = candidate.held_out(calibration, train, dial)
        hits[~train], improvement[~train] = part.hits, part.improvement
        step()  # type: ignore[operator]
    return HeldOut(hits, improvement)


def _results(
    candidates: Sequence[Candidate], tried: Sequence[HeldOut], calibration: CalibrationSet, base_hits: FloatArray
) -> list[CandidateResult]:
    """Return what is reported about each candidate.  Only the last two are part of the test."""
    better = [paired_gain(one.improvement, calibration.importance, calibration.groups) for one in tried]
    p_values = [replace(gain, error=SHARED_ROWS * gain.error).p_value() for gain in better]
    tests = len(p_values) - SMALL
    if calibration.table.class_counts is not None:  # the small correction contains logit adjustment
        p_values[SMALL], tests = min(p_values[SMALL], frequency_p_value(calibration)), tests + 1
    p_values[SMALL:] = [min(1.0, tests * p_value) for p_value in p_values[SMALL:]]
    return [
        CandidateResult(
            candidate.choice,
            paired_gain(one.hits - base_hits, calibration.importance, calibration.groups),
            p_value,
            one.hits,
            log_likelihood=gain,
            improvement=one.improvement,
            name=name,
        )
        for name, candidate, one, p_value, gain in zip(NAMES, candidates, tried, p_values, better, strict=True)
    ]


def _chosen(
    base: CandidateResult,
    results: Sequence[CandidateResult],
    tried: Sequence[HeldOut],
    calibration: CalibrationSet,
    folds: IntArray,
) -> AutoChoice:
    """Return the correction with the better held-out likelihood if any test is significant, or the base order.

    The null hypothesis of all tests is that the base order is right.  Once one of them rejects it, the
    corrections only compete with each other.  One that costs accuracy by more than its standard error is
    left out.
    """
    significant = min(result.p_value for result in results[SMALL:]) <= LEVEL
    accepted = [result for result in results[SMALL:] if significant and result.gain.gain >= -result.gain.error]
    everything = (base, *results)
    if not accepted:
        best = max(results[SMALL:], key=_likelihood)
        reason = (
            "Keeping the base order: no correction makes the labels significantly more likely without costing "
            f"accuracy (best: {best.gain.in_points()})."
        )
        return AutoChoice(base, everything, reason, base.gain, FOLDS, (base,) * FOLDS, folds)
    chosen = max(accepted, key=_likelihood)
    improvement = tried[list(results).index(chosen)].improvement * calibration.importance
    agreed = int((np.bincount(folds, improvement, minlength=FOLDS) > 0).sum())
    size = " with few terms" if chosen.few_terms else ""
    dial = f" and dial {dial_text(chosen.dial)}" if chosen.dial else ""
    before = " before the dial" if chosen.dial == MACRO else ""
    reason = (
        f"Chose {chosen.mode}{size}{dial}: {chosen.gain.in_points()} in accuracy on held-out rows{before}; "
        f"the labels became more likely in {agreed} of {FOLDS} folds."
    )
    return AutoChoice(chosen, everything, reason, chosen.gain, agreed, (chosen,) * FOLDS, folds)


def _likelihood(result: CandidateResult) -> float:
    assert result.log_likelihood is not None
    return result.log_likelihood.gain
