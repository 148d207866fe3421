"""Separability: what each step from class offsets to pairwise terms gains on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import FloatArray, read_only
from repair._utils.text_tables import text_table
from repair.data.calibration_set import CalibrationSet
from repair.model.tuning_records import AutoChoice
from repair.stats.folds import FOLDS, too_few_units
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain, paired_gain

__all__ = ["HeldOut", "Separability", "Step", "held_out", "separability"]

#: The corrections by name, each with its title and the simpler one that it is compared with.  Offsets, a temperature
#: and a slope in log counts are class-separable: the order of two classes depends only on whether their score gap
#: exceeds a threshold.  So only a gain over all three is due to pairwise terms.
STEPS = {
    "classwise": ("Offsets", "base"),
    "separable": ("Offsets, temperature, count slope", "classwise"),
    "pairwise": ("Pairwise", "separable"),
    "few_terms": ("Extended (few terms)", "separable"),
    "extended": ("Extended", "separable"),
}


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The results of each correction on held-out rows, in the folds in which ``auto`` chose.

    Attributes
    ----------
    hits : dict of ndarray (n,)
        By correction, 1 for rows whose first candidate is right, else 0.  Uncovered rows have 0.
    log_likelihood : dict of ndarray (n,)
        By correction, log q of the label, minus that under the base scores with the best temperature.
        NaN for uncovered rows.
    """

    hits: dict[str, FloatArray]
    log_likelihood: dict[str, FloatArray]


@dataclass(frozen=True)
class Step:
    """The held-out gain of one correction over a simpler one.

    Attributes
    ----------
    name, over : str
        The two corrections, as in `HeldOut`.
    accuracy : PairedGain
        Gain in accuracy over all rows.
    log_likelihood : PairedGain
        Gain in log-likelihood per covered row, in nats.
    """

    name: str
    over: str
    accuracy: PairedGain
    log_likelihood: PairedGain


@dataclass(frozen=True)
class Separability:
    """Held-out gains of each correction over a simpler one.  Rows weigh 1/(group size) if every group counts once.

    Attributes
    ----------
    offsets : Step
        Class offsets over the base order.
    separable : Step
        Offsets, a temperature and, if class counts are given, a slope in log counts, over offsets alone.
    pairwise, few_terms, extended : Step
        Pairwise, and the extended mode in both sizes, over `separable`.
    folds : int
        Number of folds.
    """

    offsets: Step
    separable: Step
    pairwise: Step
    few_terms: Step
    extended: Step
    folds: int

    def __str__(self) -> str:
        """Return the gains as a table, and whether pairwise terms are needed."""
        rows = []
        for step in (self.offsets, self.separable, self.pairwise, self.few_terms, self.extended):
            low, high = step.log_likelihood.interval()
            likelihood = f"{step.log_likelihood.gain:+.3f} ({low:+.3f} to {high:+.3f})"
            over = "Base" if step.over == "base" else STEPS[step.over][0]
            rows.append([STEPS[step.name][0], over, step.accuracy.in_points(), likelihood])
        header = ["correction", "compared with", "change of accuracy", "change of log-likelihood per covered row"]
        table = text_table(header, rows, text_columns=(0, 1))
        title = f"Held-out changes with two-sided 95 % intervals, {self.folds} folds"
        return f"{title}\n\n{table}\n{self._conclusion()}"

    def _conclusion(self) -> str:
        low, high = self.pairwise.accuracy.interval()
        gain = self.pairwise.accuracy.in_points()
        if low > 0:
            return f"Pairwise terms improve accuracy beyond offsets, a temperature and a count slope: {gain}."
        if high < 0:
            return f"Pairwise terms cost accuracy compared with offsets, a temperature and a count slope: {gain}."
        return f"Pairwise terms show no certain gain in accuracy over offsets, a temperature and a count slope: {gain}."


def held_out(calibration: CalibrationSet, auto: AutoChoice) -> HeldOut | NotApplicable:
    """Return the results of the corrections that ``auto`` tried on these rows.

    Each was fitted five times on four fifths of the groups and scored on the remaining fifth.
    Penalties are set by the marginal likelihood of the rows of the fit, so no held-out row takes part
    in any choice.
    """
    too_few = too_few_units(int(calibration.covered.sum()), calibration.groups)
    if too_few is not None:
        return NotApplicable(f"there are {too_few.present}; held-out gains need {too_few.needed}")
    hits = {"base": read_only((calibration.positions == 0).astype(np.float64))}
    likelihood = {"base": read_only(np.where(calibration.covered, 0.0, np.nan))}
    for candidate in auto.candidates[1:]:
        assert candidate.improvement is not None
        hits[candidate.name] = read_only(candidate.hits)
        likelihood[candidate.name] = read_only(np.where(calibration.covered, candidate.improvement, np.nan))
    return HeldOut(hits, likelihood)


def separability(rows: HeldOut, calibration: CalibrationSet) -> Separability:
    """Return the held-out gains of the steps from the base scores to pairwise terms.

    A gain of Pairwise over plain offsets can come from a temperature, which the score gap contains, or
    from class counts that predict the offsets.  So Pairwise is compared with a correction that has both.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker, ScoreSet
    >>> from repair.data.calibration_set import CalibrationSet
    >>> from repair.diagnosis.separability import held_out, separability
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(400, 6))
    >>> labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)  # the scores are the truth
    >>> calibration = CalibrationSet.build(ScoreSet(scores, labels, [60, 50, 40, 30, 20, 10]), 4)
    >>> auto = Reranker(n_candidates=4).fit_checked(calibration).auto_
    >>> low, high = separability(held_out(calibration, auto), calibration).pairwise.accuracy.interval()
    >>> bool(low < 0 < high)
    True
    """
    covered, weights, groups = calibration.covered, calibration.importance, calibration.groups

    def step(name: str) -> Step:
        over = STEPS[name][1]
        accuracy = paired_gain(rows.hits[name] - rows.hits[over], weights, groups)
        change = (rows.log_likelihood[name] - rows.log_likelihood[over])[covered]
        likelihood = paired_gain(change, weights[covered], None if groups is None else groups[covered])
        return Step(name, over, accuracy, likelihood)

    steps = (step("classwise"), step("separable"), step("pairwise"), step("few_terms"), step("extended"))
    return Separability(*steps, FOLDS)
