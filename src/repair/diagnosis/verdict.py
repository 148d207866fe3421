"""The verdict: whether a correction is worth having, its gain, and whether more rows are needed to decide."""

from dataclasses import dataclass
from math import ceil
from statistics import NormalDist

import numpy as np

from repair.data.calibration_set import CalibrationSet
from repair.diagnosis.separability import describe_gain
from repair.evaluation.held_out_gain import gain_where
from repair.model.tuning_records import AutoChoice, CandidateResult
from repair.rerankers.methods import title_of
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain
from repair.stats.row_weights import number_of_units
from repair.stats.strata import strata_of
from repair.tuning.auto import LEVEL

__all__ = ["Verdict", "give_verdict", "units_needed"]

#: Smallest gain in accuracy that is worth labelling more rows for.
WORTHWHILE = 0.01
#: Power to aim at when more rows are proposed.  The level is that of `auto`.
POWER = 0.8

OFFSETS_SUFFICE = "offsets suffice"
SENTENCES = {
    "keep the base order": (
        "Keep the base order: no correction makes the labels of held-out rows significantly more likely."
    ),
    OFFSETS_SUFFICE: (
        "Offsets suffice: a temperature, logit adjustment and class offsets help, and further terms do not help more."
    ),
    "too few rows to say": "Too few rows to say.",
}
WORTH_IT = "{title} is worth it: it makes the labels of held-out rows more likely than class offsets alone do."
#: The sentences if a correction passed its test, but the interval of its gain in accuracy contains zero.
TENTATIVE = {
    OFFSETS_SUFFICE: "Offsets probably suffice: they pass their test, but their gain in accuracy is uncertain.",
}
TENTATIVELY_WORTH_IT = "{title} is probably worth it: it passes its test, but its gain in accuracy is uncertain."


@dataclass(frozen=True)
class Verdict:
    """What to do, with the numbers behind it.

    Attributes
    ----------
    answer : str
        ``"keep the base order"``, ``"offsets suffice"``, ``"extended is worth it"`` or
        ``"too few rows to say"``.
    mode : str
        The mode that ``mode="auto"`` chose: base or extended.
    gain : PairedGain or NotApplicable
        Gain in accuracy over Base of what was chosen, on held-out rows.  It is 0 if the base order was
        kept.
    best_gain : PairedGain or NotApplicable
        Held-out gain of the chosen correction, or of the best one if the base order was kept.
    rare, frequent : PairedGain or NotApplicable
        Held-out gain of the same correction over Base on rows of rare and of frequent classes.
    is_open : bool
        Whether the interval of the gain contains both zero and a worthwhile gain (1 point).
    more_units : int or None
        If it is open, roughly how many more labelled rows, or groups if given, would be enough to decide.
    unit : {"rows", "groups"}
        What `more_units` counts.
    reason : str
        Why ``auto`` chose the mode, in one sentence.
    keeps_base : bool
        Whether ``auto`` kept the base order.
    """

    answer: str
    mode: str
    gain: PairedGain | NotApplicable
    best_gain: PairedGain | NotApplicable
    rare: PairedGain | NotApplicable
    frequent: PairedGain | NotApplicable
    is_open: bool
    more_units: int | None
    unit: str
    reason: str
    keeps_base: bool = False

    @property
    def sentence(self) -> str:
        """The answer as a sentence."""
        if self.answer not in SENTENCES:
            return (TENTATIVELY_WORTH_IT if self.is_open else WORTH_IT).format(title=title_of(self.mode))
        return (TENTATIVE if self.is_open else SENTENCES).get(self.answer, SENTENCES[self.answer])

    def __str__(self) -> str:
        """Return the verdict, its gains and losses, and whether more rows are needed, one sentence per line."""
        lines = [self.sentence]
        if isinstance(self.gain, NotApplicable):
            lines.append(f"The gain cannot be estimated: {self.gain.reason}.")
        else:
            lines.append(f"Gain in accuracy over Base on held-out rows: {describe_gain(self.gain)}.")
        if self.keeps_base and isinstance(self.best_gain, PairedGain):
            lines.append(f"Best correction that was tried: {describe_gain(self.best_gain)}.")
        for name, gain in (("Rare", self.rare), ("Frequent", self.frequent)):
            if isinstance(gain, PairedGain):
                lines.append(f"{name} classes{' with this correction' * self.keeps_base}: {describe_gain(gain)}.")
        if self.keeps_base and isinstance(self.rare, PairedGain) and self.rare.interval()[0] > 0:
            lines.append("Rare classes would gain. If they matter more to you than accuracy, choose a mode and a dial.")
        if self.is_open and self.more_units is not None:
            needed = f"{float(f'{self.more_units:.2g}'):,.0f}"  # a rough estimate, so two digits
            more = f"Roughly {needed} more labelled {self.unit} would be enough to decide."
            lines.append(f"The size of the gain is uncertain. {more}")
        return "\n".join(lines)


def give_verdict(calibration: CalibrationSet, auto: AutoChoice) -> Verdict:
    """Return the verdict that follows from the choice of ``auto``."""
    unit = "rows" if calibration.groups is None else "groups"
    best = _in_question(auto)
    if auto.gain is None or best is None:
        no_gain = NotApplicable("nothing was fitted, because there are too few rows or groups")
        return Verdict(
            "too few rows to say", "base", no_gain, no_gain, no_gain, no_gain, False, None, unit, auto.reason, True
        )
    kept = auto.chosen.keeps_base
    # If Base is kept, look at the gain of the rejected correction, because that is what more rows could establish.
    asked = best.gain if kept else auto.gain
    is_open = _is_open(asked)
    answer = OFFSETS_SUFFICE if auto.chosen.few_terms else f"{auto.chosen.mode} is worth it"
    if kept:
        answer = "keep the base order"
    if kept and is_open and asked.gain >= WORTHWHILE:
        answer = "too few rows to say"
    rare, frequent = _strata(calibration, best, auto.candidates[0])
    n_units = number_of_units(len(calibration.labels), calibration.groups)
    return Verdict(
        answer,
        auto.chosen.mode,
        auto.gain,
        best.gain,
        rare,
        frequent,
        is_open,
        max(1, units_needed(asked, n_units) - n_units) if is_open else None,
        unit,
        auto.reason,
        kept,
    )


def units_needed(gain: PairedGain, n_units: int) -> int:
    """Return roughly how many rows or groups are needed to detect this gain, or 1 point if it is smaller.

    The test is at 5 % with a power of 80 %.  The number is n·((z.95 + z.8)·error/gain)², assuming that
    the error decreases as 1/√n and the gain stays the same.

    Examples
    --------
    >>> from repair.diagnosis.verdict import units_needed
    >>> from repair.stats.paired_gains import PairedGain
    >>> units_needed(PairedGain(0.02, 0.015, 399), 400)
    1392
    """
    normal = NormalDist()
    reach = normal.inv_cdf(1 - LEVEL) + normal.inv_cdf(POWER)
    return ceil(n_units * (reach * gain.error / max(gain.gain, WORTHWHILE)) ** 2)


def _in_question(auto: AutoChoice) -> CandidateResult | None:
    """Return the chosen correction, or the one with the largest gain if the base order was kept."""
    if not auto.chosen.keeps_base:
        return auto.chosen
    return max(auto.candidates[1:], key=lambda candidate: candidate.gain.gain, default=None)


def _is_open(gain: PairedGain) -> bool:
    low, high = gain.interval()
    return low <= 0.0 and WORTHWHILE <= high < np.inf


def _strata(
    calibration: CalibrationSet, correction: CandidateResult, base: CandidateResult
) -> list[PairedGain | NotApplicable]:
    """Return the held-out gain of a correction on rare and on frequent classes."""
    gains: list[PairedGain | NotApplicable] = []
    for name, which in strata_of(calibration.labels, calibration.class_counts)._asdict().items():
        if which.any():
            gains.append(gain_where(correction.hits - base.hits, which, calibration))
        else:
            gains.append(NotApplicable(f"no calibration row is labelled with a {name} class"))
    return gains
