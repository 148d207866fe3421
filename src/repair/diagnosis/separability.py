"""Separability: what pairwise terms add to class offsets on rows that were not fitted."""

from dataclasses import dataclass

import numpy as np

from repair.arrays import BoolArray, FloatArray, IntArray, read_only
from repair.auto import FEWEST_GROUPS, FEWEST_ROWS
from repair.calibration import CalibrationSet
from repair.diagnosis.applicability import NotApplicable
from repair.folds import group_folds
from repair.metrics import hit_rate, negative_log_likelihood
from repair.ranking import Ranking
from repair.reranker import Reranker
from repair.statistics import PairedGain, paired_gain

__all__ = ["HeldOut", "Separability", "describe_gain", "gain_where", "held_out", "separability", "too_little"]

FOLDS = 5
MODES = ("base", "classwise", "separable", "pairwise")
#: Terms that are differences f_y − f_j of one number per candidate and linear in the score: with them the
#: order of two classes is still one cut on their score gap.  The score gap is a temperature, the
#: log-frequency ratio a better guess of the offsets.
SEPARABLE_TERMS = {"score_gap": None, "log_freq_ratio": "class_counts"}


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What each mode does on rows of folds it was not fitted on.

    Attributes
    ----------
    hits : dict of ndarray (n,)
        For each mode 1 where its first choice is right; 0 on uncovered rows.
    log_likelihood : dict of ndarray (n,)
        For each mode log q of the label, NaN on uncovered rows.
    """

    hits: dict[str, FloatArray]
    log_likelihood: dict[str, FloatArray]


@dataclass(frozen=True)
class Separability:
    """Held-out gains with their standard errors; rows weigh 1/(group size) where groups are given.

    Attributes
    ----------
    log_likelihood, accuracy : PairedGain
        Pairwise less Classwise: per covered row, in nats, and over all rows.
    separable_log_likelihood, separable_accuracy : PairedGain
        Pairwise less the best class-separable model, likewise: offsets with a temperature and, where
        class counts are given, a slope in their logarithm.
    classwise_log_likelihood, classwise_accuracy : PairedGain
        Classwise less Base, likewise.
    folds : int
    """

    log_likelihood: PairedGain
    accuracy: PairedGain
    separable_log_likelihood: PairedGain
    separable_accuracy: PairedGain
    classwise_log_likelihood: PairedGain
    classwise_accuracy: PairedGain
    folds: int

    def __str__(self) -> str:
        """Return the gains, one comparison a line."""
        lines = [
            ("Pairwise over Classwise", self.accuracy, self.log_likelihood),
            ("Pairwise over all that is class-separable", self.separable_accuracy, self.separable_log_likelihood),
            ("Classwise over Base", self.classwise_accuracy, self.classwise_log_likelihood),
        ]
        described = [
            f"{name}: accuracy {describe_gain(hits)}; log-likelihood {describe_gain(likelihood, points=False)}"
            for name, hits, likelihood in lines
        ]
        return "\n".join([f"Held-out gains with 95 % intervals, {self.folds} folds", *described])


def describe_gain(gain: PairedGain, *, points: bool = True) -> str:
    """Return a gain with its 95 % interval and p-value, in points (per cent) or as it is.

    Examples
    --------
    >>> from repair.diagnosis.separability import describe_gain
    >>> from repair.statistics import PairedGain
    >>> describe_gain(PairedGain(0.021, 0.01, 400))
    '+2.1 points (+0.1 to +4.1, one-sided p = 0.018)'
    """
    low, high = gain.interval()
    p_value = f"one-sided p = {gain.p_value():.2g}"
    if points:
        shown = [f"{_without_minus_zero(100 * one, 1):+.1f}" for one in (gain.gain, low, high)]
        return f"{shown[0]} points ({shown[1]} to {shown[2]}, {p_value})"
    return f"{gain.gain:+.3f} ({low:+.3f} to {high:+.3f}, {p_value})"


def _without_minus_zero(value: float, digits: int) -> float:
    """Round; −0.0 becomes 0.0, because a sign that says nothing irritates."""
    return round(value, digits) + 0.0


def held_out(calibration: CalibrationSet, *, seed: int = 0) -> HeldOut | NotApplicable:
    """Fit Classwise and Pairwise on four fifths of the groups, five times, and score the last fifth.

    Penalties come from the marginal likelihood of the rows that are fitted, so that no held-out
    row takes part in any choice.
    """
    refusal = too_little(calibration)
    if refusal is not None:
        return refusal
    n_rows = len(calibration.labels)
    folds = group_folds(n_rows, calibration.groups, FOLDS, seed)
    hits = {mode: np.zeros(n_rows) for mode in MODES}
    likelihood = {mode: np.full(n_rows, np.nan) for mode in MODES}
    for fold in range(FOLDS):
        train = calibration.take(folds != fold)
        if len(np.unique(train.labels[train.covered])) < 2:
            return NotApplicable(f"without fold {fold + 1} of {FOLDS} all covered rows have one label")
        rows = np.flatnonzero(folds == fold).astype(np.int32)
        for mode in MODES:
            hits[mode][rows], likelihood[mode][rows] = _score(mode, train, calibration.take(rows))
    return HeldOut(
        {mode: read_only(one) for mode, one in hits.items()},
        {mode: read_only(one) for mode, one in likelihood.items()},
    )


def separability(rows: HeldOut, calibration: CalibrationSet) -> Separability:
    """Return what pairwise terms add to offsets, and offsets to the base scores, on held-out rows.

    A gain of Pairwise over Classwise may be that of a temperature, which the score gap contains, or
    of class counts that foretell the offsets; both are class-separable.  Only the gain over the best
    class-separable model is one of truly pairwise terms.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.calibration import CalibrationSet
    >>> from repair.diagnosis.separability import held_out, separability
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(400, 6))
    >>> labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)  # the scores are the truth
    >>> calibration = CalibrationSet.build(scores, labels, 4, class_counts=[60, 50, 40, 30, 20, 10])
    >>> result = separability(held_out(calibration), calibration)
    >>> bool(result.accuracy.p_value() > 0.05)
    True
    """
    everywhere = np.ones(len(calibration.labels), dtype=bool)

    def gain(values: dict[str, FloatArray], better: str, worse: str, which: BoolArray) -> PairedGain:
        return gain_where(values[better] - values[worse], which, calibration)

    return Separability(
        gain(rows.log_likelihood, "pairwise", "classwise", calibration.covered),
        gain(rows.hits, "pairwise", "classwise", everywhere),
        gain(rows.log_likelihood, "pairwise", "separable", calibration.covered),
        gain(rows.hits, "pairwise", "separable", everywhere),
        gain(rows.log_likelihood, "classwise", "base", calibration.covered),
        gain(rows.hits, "classwise", "base", everywhere),
        FOLDS,
    )


def gain_where(difference: FloatArray, which: BoolArray, calibration: CalibrationSet) -> PairedGain:
    """Return the paired gain over some rows, with their weights and groups."""
    groups: IntArray | None = None if calibration.groups is None else calibration.groups[which]
    return paired_gain(difference[which], calibration.importance[which], groups)


def too_little(calibration: CalibrationSet) -> NotApplicable | None:
    """Say why there is no held-out gain, if there are too few rows or groups for one."""
    n_covered = int(calibration.covered.sum())
    if n_covered < FEWEST_ROWS:
        return NotApplicable(f"{n_covered} rows are covered; held-out gains need {FEWEST_ROWS}")
    if calibration.groups is not None:
        n_groups = int(calibration.groups.max()) + 1
        if n_groups < max(FOLDS, FEWEST_GROUPS):
            return NotApplicable(f"there are {n_groups} groups; held-out gains need {max(FOLDS, FEWEST_GROUPS)}")
    return None


def _score(mode: str, train: CalibrationSet, test: CalibrationSet) -> tuple[FloatArray, FloatArray]:
    """Return hits and log-likelihood on `test` of a mode fitted on `train`."""
    shortlist = test.shortlist
    if mode == "base":
        ranking = Ranking.from_corrected(shortlist, shortlist.scores)
    else:
        model = _model(mode, train).fit_checked(train)
        ranking = model.rerank(shortlist)
    return hit_rate(ranking, test.labels, 1), -negative_log_likelihood(ranking, test.labels)


def _model(mode: str, train: CalibrationSet) -> Reranker:
    k = train.shortlist.n_candidates
    if mode != "separable":
        return Reranker(k, mode, selection="evidence")
    terms = [name for name, need in SEPARABLE_TERMS.items() if need is None or getattr(train.table, need) is not None]
    return Reranker(k, "pairwise", terms=terms, selection="evidence")
