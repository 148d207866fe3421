"""The verdict in words: whether a correction is worth having, what it brings, and what is still open."""

from dataclasses import dataclass
from math import ceil
from statistics import NormalDist

import numpy as np

from repair.auto import AutoChoice, RungResult
from repair.calibration import CalibrationSet
from repair.class_table import rare_classes
from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.separability import describe_gain, gain_where
from repair.statistics import PairedGain

__all__ = ["Verdict", "give_verdict", "units_needed"]

#: A smaller gain in accuracy is not worth more labels.
WORTHWHILE = 0.01
LEVEL, POWER = 0.05, 0.8

ANSWERS = {
    "base": "leave it",
    "classwise": "offsets suffice",
    "pairwise": "pairwise is worth it",
    "extended": "extended is worth it",
}
SENTENCES = {
    "leave it": "Leave it: no correction gains significantly on held-out rows.",
    "offsets suffice": "Offsets suffice: Classwise is the simplest correction whose gain is real.",
    "pairwise is worth it": "Pairwise is worth it: its gain is real, and no simpler correction does as well.",
    "extended is worth it": "Extended is worth it: its gain is real, and no simpler correction does as well.",
    "too few rows to say": "Too few rows to say.",
}
#: The same where a correction passed its test, but the nested gain may still be nothing.
TENTATIVE = {
    "offsets suffice": "Offsets probably suffice: Classwise is the simplest correction that passes the test.",
    "pairwise is worth it": "Pairwise is probably worth it: it passes the test, and nothing simpler does as well.",
    "extended is worth it": "Extended is probably worth it: it passes the test, and nothing simpler does as well.",
}


@dataclass(frozen=True)
class Verdict:
    """What to do, and what that rests on.

    Attributes
    ----------
    answer : {"leave it", "offsets suffice", "pairwise is worth it", "extended is worth it", "too few rows to say"}
    mode : str
        What ``mode="auto"`` chose: base, classwise, pairwise or extended.
    gain : PairedGain or NotApplicable
        Gain in accuracy over Base of the whole choice, by nested cross-validation.
    best_gain : PairedGain or NotApplicable
        Held-out gain of the correction in question: the chosen one, or the best of those that were
        not good enough.  It was chosen for being large, and is optimistic by that.
    rare, frequent : PairedGain or NotApplicable
        The held-out accuracy of the correction in question on rows of rare and of frequent
        classes, less Base's.
    is_open : bool
        Whether the interval of the gain holds both zero and a worthwhile gain (1 point).
    more_units : int or None
        If it is open, roughly how many more labelled rows (groups, where given) would settle it.
    unit : {"rows", "groups"}
    reason : str
        The sentence of ``auto``.
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

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        return (TENTATIVE if self.is_open else SENTENCES).get(self.answer, SENTENCES[self.answer])

    def __str__(self) -> str:
        """Return the verdict, what it brings and costs, and what is open, one a line."""
        lines = [self.sentence]
        if isinstance(self.gain, NotApplicable):
            lines.append(f"Expected gain {self.gain}.")
        else:
            lines.append(f"Expected gain in accuracy over Base (nested): {describe_gain(self.gain)}.")
        if self.mode == "base" and isinstance(self.best_gain, PairedGain):
            lines.append(f"The best correction that was tried: {describe_gain(self.best_gain)}.")
        for name, gain in (("Rare", self.rare), ("Frequent", self.frequent)):
            if isinstance(gain, PairedGain):
                lines.append(f"{name} classes{' under it' * (self.mode == 'base')}: {describe_gain(gain)}.")
        if self.mode == "base" and isinstance(self.rare, PairedGain) and self.rare.interval()[0] > 0:
            lines.append("Rare classes would gain; if they matter more than accuracy, choose a mode and a dial.")
        if self.is_open and self.more_units is not None:
            needed = f"{float(f'{self.more_units:.2g}'):,.0f}"  # it is known no better than that
            lines.append(f"How much is gained is open; roughly {needed} more labelled {self.unit} would settle it.")
        return "\n".join(lines)


def give_verdict(calibration: CalibrationSet, auto: AutoChoice) -> Verdict:
    """Put what ``auto`` found into a verdict."""
    unit = "rows" if calibration.groups is None else "groups"
    best = _in_question(auto)
    if auto.gain is None or best is None:
        nothing = NotApplicable("nothing was fitted, because there are too few rows or groups")
        return Verdict(
            "too few rows to say", "base", nothing, nothing, nothing, nothing, False, None, unit, auto.reason
        )
    kept = auto.chosen.rung == "base"
    # Where folds keep Base the nested gain is zero by construction; what more rows could show is
    # the gain of the correction that was turned down.
    asked = best.gain if kept else auto.gain
    is_open = _is_open(asked)
    answer = ANSWERS[auto.chosen.rung]
    if kept and is_open and asked.gain >= WORTHWHILE:
        answer = "too few rows to say"
    rare, frequent = _strata(calibration, best, auto.rungs[0])
    n_units = len(calibration.labels) if calibration.groups is None else int(calibration.groups.max()) + 1
    return Verdict(
        answer,
        auto.chosen.rung,
        auto.gain,
        best.gain,
        rare,
        frequent,
        is_open,
        max(1, units_needed(asked, n_units) - n_units) if is_open else None,
        unit,
        auto.reason,
    )


def units_needed(gain: PairedGain, n_units: int) -> int:
    """Return roughly how many rows or groups show this gain (of 1 point, if it is less) at 5 % with power 80 %.

    n·((z.95 + z.8)·error/gain)²: the error is taken to fall as 1/√n, and the gain to stay.

    Examples
    --------
    >>> from repair.diagnosis.verdict import units_needed
    >>> from repair.statistics import PairedGain
    >>> units_needed(PairedGain(0.02, 0.015, 399), 400)
    1392
    """
    normal = NormalDist()
    reach = normal.inv_cdf(1 - LEVEL) + normal.inv_cdf(POWER)
    return ceil(n_units * (reach * gain.error / max(gain.gain, WORTHWHILE)) ** 2)


def _in_question(auto: AutoChoice) -> RungResult | None:
    """Return the chosen correction, or the best one if Base was kept."""
    if auto.chosen.rung != "base":
        return auto.chosen
    return max(auto.rungs[1:], key=lambda one: one.gain.gain, default=None)


def _is_open(gain: PairedGain) -> bool:
    low, high = gain.interval()
    return low <= 0.0 and WORTHWHILE <= high < np.inf


def _strata(calibration: CalibrationSet, correction: RungResult, base: RungResult) -> list[PairedGain | NotApplicable]:
    """Return what a correction brings rare and frequent classes on held-out rows."""
    given = calibration.table.class_counts
    rare = rare_classes(calibration.label_counts() if given is None else given)
    gains: list[PairedGain | NotApplicable] = []
    for name, members in (("rare", rare), ("frequent", ~rare)):
        which = (calibration.labels >= 0) & members[calibration.labels]
        if which.any():
            gains.append(gain_where(correction.hits - base.hits, which, calibration))
        else:
            gains.append(NotApplicable(f"no calibration row is labelled with a {name} class"))
    return gains
