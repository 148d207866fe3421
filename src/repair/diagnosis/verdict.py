"""The verdict: one decision about a correction, the one set of numbers behind it, and its sentences.

`repair.diagnosis.judging` makes it.  `diagnose`, `fit`, `evaluate` and the report all print it, so their
numbers agree.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from repair._utils.text_tables import text_table
from repair.diagnosis.checks import Check
from repair.diagnosis.measured_rows import Basis, StratumGain
from repair.stats.paired_gains import PairedGain, signed_points

__all__ = [
    "ANSWERS",
    "BASE",
    "FIX_ERRORS",
    "KEEP_BASE",
    "MORE_THAN_OFFSETS",
    "OFFSETS_SUFFICE",
    "RECOMMENDED",
    "TOO_FEW",
    "WORTH_IT",
    "FailedTest",
    "Verdict",
]

#: Name of the method that changes nothing.
BASE = "base"
FIX_ERRORS = "fix the errors first"
TOO_FEW = "too few rows to say"
KEEP_BASE = "keep the base order"
OFFSETS_SUFFICE = "offsets suffice"
WORTH_IT = "a correction is worth it"
MORE_THAN_OFFSETS = "more than offsets is worth it"
#: The answers to "should I use this correction?", and those that are yes.
RECOMMENDED = (OFFSETS_SUFFICE, WORTH_IT, MORE_THAN_OFFSETS)
ANSWERS = (FIX_ERRORS, TOO_FEW, KEEP_BASE, *RECOMMENDED)


@dataclass(frozen=True)
class FailedTest:
    """The likelihood test of ``auto`` that a correction failed.

    Attributes
    ----------
    p_value : float
        The smallest p-value of the tests, multiplied by their number.
    level : float
        The level that it would have to reach.
    log_likelihood : PairedGain
        Mean change of the log-probability of the true class on held-out rows.
    """

    p_value: float
    level: float
    log_likelihood: PairedGain


@dataclass(frozen=True)
class Verdict:
    """What to do, and the numbers behind it.

    Every number is about one correction: the one that was fitted or, if ``auto`` kept the base order,
    the one that it turned down.

    Attributes
    ----------
    answer : str
        One of `repair.diagnosis.verdict.ANSWERS`.
    correction : str
        Title of the correction that the numbers are about.
    mode : str
        Its mode.
    applied : bool
        Whether the model applies it.  False if ``auto`` kept the base order.
    overall : StratumGain or None
        Accuracy over all rows before and after, with the gain and its two-sided 95 % interval.  With
        the dial ``"macro"``, accuracy averaged over classes.  None if it could not be measured.
    strata : tuple of StratumGain
        The same for rows of rare and of frequent classes, or of other strata.
    strata_rule : str
        Which classes these are, in one sentence.
    over_offsets : PairedGain or None
        Gain in accuracy over "offsets, a temperature and a slope in log counts", on the same rows.
        None if the correction is itself of this kind, or if the comparison was not made.
    basis : Basis or None
        The rows, groups and folds that the numbers rest on.
    failed_test : FailedTest or None
        By how much the test of ``auto`` was missed, if it was.
    more_units : int or None
        Roughly how many more labelled rows (or groups) would settle the question.  None if it is
        settled or if more rows would not be expected to settle it.
    problem : str
        Why the gain could not be measured or is not reliable, or an empty string.
    errors : tuple of Check
        Failed checks that make the numbers unreliable: those of severity "error", and those for copies of
        rows if the whole gain may come from copies.
    """

    answer: str
    correction: str
    mode: str
    applied: bool
    overall: StratumGain | None
    strata: tuple[StratumGain, ...] = ()
    strata_rule: str = ""
    over_offsets: PairedGain | None = None
    basis: Basis | None = None
    failed_test: FailedTest | None = None
    more_units: int | None = None
    problem: str = ""
    errors: tuple[Check, ...] = ()

    @property
    def gain(self) -> PairedGain | None:
        """The gain of `overall`."""
        return None if self.overall is None else self.overall.gain

    @property
    def is_certain(self) -> bool:
        """Whether the 95 % interval of the gain excludes zero."""
        return self.overall is not None and self.overall.direction != 0

    @property
    def recommends(self) -> bool:
        """Whether the answer is to use the correction."""
        return self.answer in RECOMMENDED

    @property
    def losers(self) -> tuple[StratumGain, ...]:
        """The strata whose interval lies below zero."""
        return tuple(stratum for stratum in self.strata if stratum.direction < 0)

    @property
    def headline(self) -> str:
        """The decision with its gain and who pays for it, in one or two sentences that can be forwarded."""
        return _headline(self)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the verdict rests on, and what would change it."""
        return _sentences(self)

    @property
    def table(self) -> str:
        """Accuracy before and after on all rows and on each stratum, or an empty string if it was not measured."""
        return _table(self)

    def __str__(self) -> str:
        """Return the headline, the table and the sentences.  Errors come before the table."""
        parts = [self.headline, self.table, "\n".join(self.sentences)]
        if self.answer == FIX_ERRORS:
            parts = [parts[0], parts[2], parts[1]]
        return "\n\n".join(part for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the sentences as plain data."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        numbers["errors"] = [check.code for check in self.errors]
        numbers["basis"] = None if self.basis is None else {**vars(self.basis), "unit": self.basis.unit}
        return {**numbers, "headline": self.headline, "sentences": self.sentences}


def _headline(verdict: Verdict) -> str:
    """Return the decision with its gain and who pays for it."""
    if verdict.answer == FIX_ERRORS:
        return _errors(verdict)
    if verdict.overall is None:
        return f"Too few rows to say whether a correction helps: {verdict.problem}."
    if not verdict.applied and verdict.mode == BASE:
        return f"Keep the base order: no correction was fitted. Its accuracy is {_percent(verdict.overall.before)}."
    return _measured(verdict, verdict.overall)


def _measured(verdict: Verdict, overall: StratumGain) -> str:
    name, gain = f"the {verdict.correction} correction", overall.gain.in_points()
    if verdict.recommends:
        return f"{_imperative(verdict, name)}: {_before_and_after(verdict, overall)}.{_who_pays(verdict)}"
    if overall.gain.gain == overall.gain.error == 0.0:
        return f"Keep the base order: {name} makes no held-out row right or wrong."
    if overall.direction < 0:
        return f"Keep the base order: {name} costs accuracy, {gain}."
    if verdict.failed_test is not None and overall.direction > 0:
        test = f"p = {verdict.failed_test.p_value:.2g}, {verdict.failed_test.level:g} is needed"
        return f"Not settled, so the base order is kept: {name} gained {gain}, but failed the likelihood test ({test})."
    if verdict.answer == TOO_FEW:
        kept = "" if verdict.applied else ", so the base order is kept"
        return f"Too few rows to say{kept}: {name} gained {gain}, which may be chance."
    if verdict.more_units is not None:
        return f"Keep the base order: {name} shows no measurable gain, {gain}."
    high = signed_points(max(0.0, overall.gain.interval()[1])).lstrip("+")
    return f"Keep the base order: {name} gained {gain}, so more than {high} points are unlikely."


def _imperative(verdict: Verdict, name: str) -> str:
    if verdict.basis is not None and verdict.basis.folds is None:
        return f"The{name.removeprefix('the')} helps"
    return f"Use {name}" if verdict.is_certain else f"Probably use {name}"


def _before_and_after(verdict: Verdict, overall: StratumGain) -> str:
    what = "accuracy averaged over classes" if overall.name == "macro" else "accuracy"
    noun = "" if verdict.basis is None else f" on {verdict.basis.noun}"
    low, high = (signed_points(bound) for bound in overall.gain.interval())
    change = f"{signed_points(overall.gain.gain)} points, 95 % interval {low} to {high}"
    if verdict.is_certain:
        return f"{what} rises from {_percent(overall.before)} to {_percent(overall.after)}{noun} ({change})"
    return (
        f"the true classes become more likely, but a change of {what} from {_percent(overall.before)} to "
        f"{_percent(overall.after)}{noun} may be chance ({change})"
    )


def _who_pays(verdict: Verdict) -> str:
    losses = [f"{stratum.title} lose {abs(100 * stratum.gain.gain):.1f} points" for stratum in verdict.losers]
    return "".join(f" {loss}." for loss in losses) if verdict.recommends else ""


def _errors(verdict: Verdict) -> str:
    listed = " and ".join(f"{check.code} ({check.title})" for check in verdict.errors)
    return f"No verdict yet: fix {listed} first. The results below are not reliable until you do."


def _table(verdict: Verdict) -> str:
    """Return the accuracy before and after on all rows and on each stratum."""
    if verdict.overall is None:
        return ""
    lines = []
    for rows in (verdict.overall, *verdict.strata):
        low, high = (signed_points(bound) for bound in rows.gain.interval())
        cells = [f"{rows.rows:,}", f"{100 * rows.before:.1f}", f"{100 * rows.after:.1f}"]
        lines.append([rows.title, *cells, signed_points(rows.gain.gain), f"{low} to {high}"])
    header = ["accuracy in per cent", "rows", "Base", verdict.correction, "change", "95 % interval"]
    return text_table(header, lines)


def _sentences(verdict: Verdict) -> tuple[str, ...]:
    """Return what the verdict rests on, and what would change it."""
    if verdict.answer == FIX_ERRORS:
        return tuple(map(str, verdict.errors))
    listed = [
        *map(str, verdict.errors),
        "" if verdict.basis is None else str(verdict.basis),
        verdict.strata_rule if verdict.strata or "No class" in verdict.strata_rule else "",
        _over_offsets(verdict),
        _missed(verdict),
        *_what_would_change_it(verdict),
    ]
    return tuple(sentence for sentence in listed if sentence)


def _over_offsets(verdict: Verdict) -> str:
    if verdict.over_offsets is None:
        return ""
    gain, low = verdict.over_offsets, verdict.over_offsets.interval()[0]
    compared = f"Compared with offsets, a temperature and a slope in log counts, accuracy changes by {gain.in_points()}"
    if low > 0 or not verdict.recommends:
        return f"{compared}."
    return f"{compared}, so this simpler correction may do as well."


def _missed(verdict: Verdict) -> str:
    failed = verdict.failed_test
    if failed is None:
        return ""
    low, high = failed.log_likelihood.interval()
    return (
        f"The test of auto was failed: p = {failed.p_value:.2g}, which allows for several tests and for rows that "
        f"folds share, and {failed.level:g} is needed. The log-probability of the true class changed by "
        f"{failed.log_likelihood.gain:+.3f} per row ({low:+.3f} to {high:+.3f})."
    )


def _what_would_change_it(verdict: Verdict) -> list[str]:
    if verdict.overall is None or (not verdict.applied and verdict.mode == BASE):
        return []
    listed = []
    gainers = [stratum for stratum in verdict.strata if stratum.direction > 0]
    if not verdict.recommends and gainers:
        names = " and ".join(stratum.title for stratum in gainers)
        listed.append(
            f"{names} would gain. If they matter more to you than overall accuracy, choose a mode and a dial."
        )
    if verdict.recommends and verdict.losers:
        names = " and ".join(stratum.title for stratum in verdict.losers)
        listed.append(f"If {names.lower()} must not lose this much, limit their loss with head_loss (--head-loss).")
    if verdict.more_units is not None and verdict.basis is not None:
        needed = f"{float(f'{verdict.more_units:.2g}'):,.0f}"  # a rough estimate, so two digits
        kind = "test" if verdict.basis.folds is None else "labelled"
        listed.append(f"Roughly {needed} more {kind} {verdict.basis.unit} would settle it (approximate, 80 % power).")
    return listed


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
