"""How a verdict is reached: what is recommended, what makes numbers unreliable, how many rows would settle it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from statistics import NormalDist

import numpy as np

from repair.data.calibration_set import CalibrationSet
from repair.diagnosis.checks import Check
from repair.diagnosis.measured_rows import Basis, MeasuredRows, StratumGain
from repair.diagnosis.verdict import (
    BASE,
    FIX_ERRORS,
    KEEP_BASE,
    MORE_THAN_OFFSETS,
    OFFSETS_SUFFICE,
    RECOMMENDED,
    TOO_FEW,
    WORTH_IT,
    FailedTest,
    Verdict,
)
from repair.model.tuning_records import AutoChoice, CandidateResult
from repair.rerankers.methods import title_of
from repair.stats.paired_gains import PairedGain
from repair.tuning.auto import LEVEL, NAMES, SMALL

__all__ = ["in_question", "judge", "judge_auto", "units_needed"]

#: Smallest gain in accuracy that is worth labelling more rows for.
WORTHWHILE = 0.01
#: Two-sided level of the intervals and of the power calculation, and the power to aim at.
TWO_SIDED, POWER = 0.05, 0.8
#: With only this error, the answer is that there are too few rows.
TOO_FEW_ROWS = "RP111"
#: Checks that look for copies of rows.
COPIES = ("RP108", "RP109")
#: The corrections that `auto` can choose.
CHOOSABLE = NAMES[SMALL:]


def judge(
    rows: MeasuredRows | None,
    mode: str,
    *,
    problem: str = "",
    checks: Sequence[Check] = (),
    macro: bool = False,
    over_offsets: PairedGain | None = None,
) -> Verdict:
    """Return the verdict on a correction that the model applies.

    Parameters
    ----------
    rows : MeasuredRows or None
        The rows on which it was measured, or None if that was not possible.
    mode : str
        Its mode.
    problem : str, optional
        Why it could not be measured.
    checks : sequence of Check, optional
        Checks of these rows.
    macro : bool, default False
        Whether the aim is accuracy averaged over classes, as with the dial ``"macro"``.
    over_offsets : PairedGain, optional
        Its gain over "offsets, a temperature and a slope in log counts".

    Returns
    -------
    Verdict
    """
    if rows is None:
        return _unmeasured(mode, problem, checks, applied=mode != BASE)
    overall = rows.macro() if macro else rows.overall()
    applied = mode != BASE or bool((rows.after != rows.before).any())
    low, high = overall.gain.interval()
    if low > 0:
        answer = MORE_THAN_OFFSETS if over_offsets is not None and over_offsets.interval()[0] > 0 else WORTH_IT
    else:
        promising = high > 0 and overall.gain.gain >= WORTHWHILE
        answer = TOO_FEW if promising else KEEP_BASE
    errors = _errors(checks, rows, overall.gain, answer)
    return Verdict(
        _with_errors(answer, errors),
        "Dial" if mode == BASE and applied else title_of(mode),
        mode,
        applied,
        overall,
        ((rows.overall(),) if macro else ()) + rows.by_stratum(),
        rows.class_strata.description,
        over_offsets,
        rows.basis,
        more_units=_more_units(overall.gain, rows.basis),
        errors=errors,
    )


def judge_auto(
    calibration: CalibrationSet, auto: AutoChoice, *, checks: Sequence[Check] = (), strata: str | None = None
) -> Verdict:
    """Return the verdict that follows from the choice of ``auto`` on these rows."""
    question = in_question(auto)
    if auto.gain is None or question is None:
        return _unmeasured(BASE, "nothing was fitted, because there are too few rows or groups", checks)
    rows = MeasuredRows.held_out(calibration, question.hits, strata)
    overall, kept = rows.overall(), auto.chosen.keeps_base
    failed = _failed_test(auto, question) if kept else None
    separable = next((candidate for candidate in auto.candidates if candidate.name == "separable"), None)
    over_offsets = None if question.few_terms or separable is None else rows.over(separable.hits)
    answer = _answer_of_auto(overall, question, kept, failed, over_offsets)
    errors = _errors(checks, rows, overall.gain, answer)
    return Verdict(
        _with_errors(answer, errors),
        "Extended (few terms)" if question.few_terms else title_of(question.mode),
        question.mode,
        not kept,
        overall,
        rows.by_stratum(),
        rows.class_strata.description,
        over_offsets,
        rows.basis,
        failed,
        _units_for_auto(overall.gain, failed, rows.basis),
        errors=errors,
    )


def in_question(auto: AutoChoice) -> CandidateResult | None:
    """Return the correction that ``auto`` chose, or the one that it would have chosen next if it kept the base order.

    That is the one under which the held-out labels are most likely, as in the choice itself.  The one
    with the largest gain in accuracy would look better than it is, because it is the largest of several.
    """
    tried = [candidate for candidate in auto.candidates if candidate.name in CHOOSABLE]
    if not auto.chosen.keeps_base:
        return next(candidate for candidate in tried if candidate.few_terms == auto.chosen.few_terms)
    return max(tried, key=lambda candidate: _likelihood(candidate).gain, default=None)


def units_needed(gain: PairedGain, n_units: int) -> int:
    """Return roughly how many rows or groups are needed to detect this gain, or 1 point if it is smaller.

    The test is two-sided at 5 % with a power of 80 %.  The number is n·((z.975 + z.8)·error/gain)²,
    assuming that the error decreases as 1/√n and the gain stays the same.

    Examples
    --------
    >>> from repair.diagnosis.judging import units_needed
    >>> from repair.stats.paired_gains import PairedGain
    >>> units_needed(PairedGain(0.02, 0.015, 399), 400)
    1766
    """
    return _units(gain.error / max(gain.gain, WORTHWHILE), TWO_SIDED / 2, n_units)


def _units(relative_error: float, one_sided_level: float, n_units: int) -> int:
    normal = NormalDist()
    reach = normal.inv_cdf(1 - one_sided_level) + normal.inv_cdf(POWER)
    return ceil(n_units * (reach * relative_error) ** 2)


def _answer_of_auto(
    overall: StratumGain,
    question: CandidateResult,
    kept: bool,
    failed: FailedTest | None,
    over_offsets: PairedGain | None,
) -> str:
    if kept:
        high = overall.gain.interval()[1]
        promising = failed is not None and overall.gain.gain >= WORTHWHILE and high > 0
        # An interval above zero is not denied, even if the test of the likelihood was missed.
        return TOO_FEW if promising or overall.direction > 0 else KEEP_BASE
    if question.few_terms:
        return OFFSETS_SUFFICE
    return MORE_THAN_OFFSETS if over_offsets is not None and over_offsets.interval()[0] > 0 else WORTH_IT


def _errors(
    checks: Sequence[Check], rows: MeasuredRows | None, gain: PairedGain | None, answer: str
) -> tuple[Check, ...]:
    """Return the failed checks that make the numbers unreliable.

    Those are the checks of severity "error".  Copies of rows are warnings, unless a correction is
    recommended and its whole gain may come from copies: held-out copies were also fitted on.
    """
    failed = [check for check in checks if check.outcome == "failed"]
    unreliable = {check.code for check in failed if check.severity == "error"}
    copies = {check.code for check in failed} & set(COPIES)
    if copies and rows is not None and gain is not None and answer in RECOMMENDED:
        may_be_copies = gain.interval()[0] <= rows.share_of_copies()
        unreliable |= copies if may_be_copies else set()
    return tuple(check for check in failed if check.code in unreliable)


def _with_errors(answer: str, errors: Sequence[Check]) -> str:
    """Replace an answer if errors make its numbers unreliable."""
    if not errors:
        return answer
    return TOO_FEW if all(check.code == TOO_FEW_ROWS for check in errors) else FIX_ERRORS


def _unmeasured(mode: str, problem: str, checks: Sequence[Check], *, applied: bool = False) -> Verdict:
    errors = _errors(checks, None, None, TOO_FEW)
    return Verdict(
        _with_errors(TOO_FEW, errors), title_of(mode), mode, applied, None, problem=problem, errors=tuple(errors)
    )


def _failed_test(auto: AutoChoice, question: CandidateResult) -> FailedTest | None:
    """Return the test that was failed, or None if it was passed and the base order was kept for its accuracy."""
    p_value = min(candidate.p_value for candidate in auto.candidates if candidate.name in CHOOSABLE)
    return None if p_value <= LEVEL else FailedTest(p_value, LEVEL, _likelihood(question))


def _likelihood(candidate: CandidateResult) -> PairedGain:
    return PairedGain(0.0, np.inf, 1) if candidate.log_likelihood is None else candidate.log_likelihood


def _more_units(gain: PairedGain, basis: Basis) -> int | None:
    """Return how many more rows would settle whether there is a worthwhile gain, None if that is settled."""
    low, high = gain.interval()
    if not (low <= 0.0 and WORTHWHILE <= high < np.inf):
        return None
    return max(1, units_needed(gain, basis.units) - basis.units)


def _units_for_auto(gain: PairedGain, failed: FailedTest | None, basis: Basis) -> int | None:
    """As `_more_units`.  If accuracy shows a gain but the likelihood test was failed, count the rows for that test."""
    if failed is None or gain.interval()[0] <= 0:
        return _more_units(gain, basis)
    likelihood = failed.log_likelihood
    if likelihood.gain <= 0:
        return None
    return max(1, _units(likelihood.error / likelihood.gain, failed.level / 2, basis.units) - basis.units)
