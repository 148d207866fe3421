"""Separability: how much pairwise terms improve on class offsets, on held-out rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray, read_only
from repair.data.calibration_set import CalibrationSet
from repair.evaluation.cross_fitting import cross_fit
from repair.evaluation.held_out_gain import gain_where
from repair.evaluation.metrics import hit_rate, negative_log_likelihood
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.baselines import Base
from repair.rerankers.reranker import Reranker
from repair.stats.folds import FOLDS
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain

__all__ = ["HeldOut", "Separability", "describe_gain", "held_out", "separability"]

#: Class-separable terms and the inputs that they need.  They are differences f_y − f_j of one number per candidate and
#: linear in the score, so the order of two classes still depends only on whether their score gap exceeds a threshold.
#: The score gap is a temperature, and the log-frequency ratio is a better prior for the offsets.
SEPARABLE_TERMS = {"score_gap": None, "log_freq_ratio": "class_counts"}
#: The methods that are compared on held-out rows, each as a function of the calibration rows.
METHODS: dict[str, Callable[[CalibrationSet], ShortlistReranker]] = {
    "base": lambda rows: Base(rows.shortlist.n_candidates),
    "classwise": lambda rows: _reranker("classwise", rows),
    "separable": lambda rows: _reranker("pairwise", rows, _separable_terms(rows)),
    "pairwise": lambda rows: _reranker("pairwise", rows),
}


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The results of each method on held-out rows.

    Attributes
    ----------
    hits : dict of ndarray (n,)
        By method, 1 for rows whose first candidate is right, else 0.  Uncovered rows have 0.
    log_likelihood : dict of ndarray (n,)
        By method, log q of the label, NaN for uncovered rows.
    """

    hits: dict[str, FloatArray]
    log_likelihood: dict[str, FloatArray]


@dataclass(frozen=True)
class Separability:
    """Held-out gains with their standard errors.  Rows weigh 1/(group size) if groups are given.

    Attributes
    ----------
    log_likelihood, accuracy : PairedGain
        Gain of Pairwise over Classwise: in log-likelihood per covered row (in nats), and in accuracy
        over all rows.
    separable_log_likelihood, separable_accuracy : PairedGain
        Gain of Pairwise over the best class-separable model, which has offsets, a temperature and, if
        class counts are given, a term that is linear in their logarithm.
    classwise_log_likelihood, classwise_accuracy : PairedGain
        Gain of Classwise over Base.
    folds : int
        Number of folds.
    """

    log_likelihood: PairedGain
    accuracy: PairedGain
    separable_log_likelihood: PairedGain
    separable_accuracy: PairedGain
    classwise_log_likelihood: PairedGain
    classwise_accuracy: PairedGain
    folds: int

    def __str__(self) -> str:
        """Return the gains, one comparison per line."""
        lines = [
            ("Pairwise over Classwise", self.accuracy, self.log_likelihood),
            ("Pairwise over the best class-separable model", self.separable_accuracy, self.separable_log_likelihood),
            ("Classwise over Base", self.classwise_accuracy, self.classwise_log_likelihood),
        ]
        described = [
            f"{name}: accuracy {describe_gain(hits)}; log-likelihood {describe_gain(likelihood, points=False)}"
            for name, hits, likelihood in lines
        ]
        return "\n".join([f"Held-out gains with 95 % intervals, {self.folds} folds", *described])


def describe_gain(gain: PairedGain, *, points: bool = True) -> str:
    """Return a gain with its 95 % interval and p-value, in percentage points or as a plain number.

    Examples
    --------
    >>> from repair.diagnosis.separability import describe_gain
    >>> from repair.stats.paired_gains import PairedGain
    >>> describe_gain(PairedGain(0.021, 0.01, 400))
    '+2.1 points (+0.1 to +4.1, one-sided p = 0.018)'
    """
    low, high = gain.interval()
    p_value = f"one-sided p = {gain.p_value():.2g}"
    if points:
        shown = [f"{_without_minus_zero(100 * value, 1):+.1f}" for value in (gain.gain, low, high)]
        return f"{shown[0]} points ({shown[1]} to {shown[2]}, {p_value})"
    return f"{gain.gain:+.3f} ({low:+.3f} to {high:+.3f}, {p_value})"


def _without_minus_zero(value: float, digits: int) -> float:
    """Round, and replace −0.0 by 0.0, whose sign would be confusing."""
    return round(value, digits) + 0.0


def held_out(calibration: CalibrationSet, *, random_state: int = 0) -> HeldOut | NotApplicable:
    """Fit each method five times on four fifths of the groups, and score it on the remaining fifth.

    Penalties are set by the marginal likelihood of the rows of the fit, so no held-out row takes part
    in any choice.
    """
    hits, likelihood = {}, {}
    for method, make in METHODS.items():
        fitted = cross_fit(make(calibration), calibration, random_state=random_state)
        if isinstance(fitted, NotApplicable):
            return fitted
        first, nll = fitted.measured(calibration.labels, hit_rate, negative_log_likelihood)
        hits[method], likelihood[method] = read_only(first), read_only(-nll)
    return HeldOut(hits, likelihood)


def separability(rows: HeldOut, calibration: CalibrationSet) -> Separability:
    """Return the held-out gains of pairwise terms over offsets, and of offsets over the base scores.

    A gain of Pairwise over Classwise can come from a temperature, which the score gap contains, or
    from class counts that predict the offsets.  Both are class-separable.  Only the gain over the best
    class-separable model is due to genuinely pairwise terms.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import ScoreSet
    >>> from repair.data.calibration_set import CalibrationSet
    >>> from repair.diagnosis.separability import held_out, separability
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(400, 6))
    >>> labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)  # the scores are the truth
    >>> calibration = CalibrationSet.build(ScoreSet(scores, labels, [60, 50, 40, 30, 20, 10]), 4)
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


def _reranker(mode: str, rows: CalibrationSet, terms: Sequence[str] | None = None) -> Reranker:
    return Reranker(mode, n_candidates=rows.shortlist.n_candidates, terms=terms, tuning="evidence")


def _separable_terms(rows: CalibrationSet) -> list[str]:
    return [name for name, need in SEPARABLE_TERMS.items() if need is None or rows.has(need)]
