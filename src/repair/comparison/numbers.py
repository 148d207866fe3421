"""The numbers of a comparison: means over trials, bootstrap intervals, paired differences and sign tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.lazy import lazy
from repair.comparison.resampled_metrics import LOWER_IS_BETTER, question_of
from repair.errors import InputError
from repair.rerankers.base import ShortlistReranker
from repair.stats.paired_gains import holm, sign_test

__all__ = ["ComparisonNumbers", "Difference", "Setup", "Signs"]

#: The paper marks wins in four of five trials.  With fewer trials no mark is given.
FEWEST_TRIALS = 5
#: Differences up to this size are rounding errors and count as ties.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Setup:
    """How a comparison was run.

    Attributes
    ----------
    trials : int
        Number of trials.
    subsample : float
        Share of the calibration rows (or groups) that each trial fits on.
    tuning : {"once", "each_trial"}
        When hyperparameters were chosen.
    resamples : int
        Number of bootstrap resamples.
    level : float
        Level of the intervals.
    random_state : int
    trial_seeds : tuple of int
        Seeds of the subsamples, derived from `random_state`.
    bootstrap_seed : int
        Seed of the resamples, derived from `random_state`.
    n_calibration, n_test, n_classes : int
    n_calibration_groups, n_test_groups : int or None
        Number of groups, or None if no groups were given.
    counts_from : str
        Which counts divide the classes.
    equal_group_weight : bool
        Whether every group of test rows counts once, instead of every row.
    strata_rule : str, default ""
        Which classes are rare and frequent (or few, medium and many), in one sentence.
    """

    trials: int
    subsample: float
    tuning: str
    resamples: int
    level: float
    random_state: int
    trial_seeds: tuple[int, ...]
    bootstrap_seed: int
    n_calibration: int
    n_calibration_groups: int | None
    n_test: int
    n_test_groups: int | None
    n_classes: int
    counts_from: str
    equal_group_weight: bool
    strata_rule: str = ""


@dataclass(frozen=True)
class Signs:
    """One metric of two methods, compared trial by trial.

    Attributes
    ----------
    wins, losses, ties : int
        Number of trials in which the method is better, worse, or equal up to rounding.
    mark : bool
        Whether the method gets the paper's mark: at least five trials, and wins in at least four
        fifths of them.
    p_value : float
        p-value of the exact one-sided sign test without ties, NaN if the metric is not defined.
    p_holm : float
        `p_value` after Holm's correction across metrics.
    """

    wins: int
    losses: int
    ties: int
    mark: bool
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class Difference:
    """One metric of two methods, both fitted on the full calibration set.

    Attributes
    ----------
    estimate : float
        Method minus other.  For ``nll``, where lower is better, a negative difference is a gain.
    low, high : float
        Percentile interval over paired bootstrap resamples.
    p_positive : float
        P(Δ > 0): share of the resamples with a positive difference.
    p_value : float
        Two-sided p-value: twice the smaller share of resamples on one side of 0, where 0 itself
        counts on both sides.
    p_holm : float
        `p_value` after Holm's correction across metrics.
    """

    estimate: float
    low: float
    high: float
    p_positive: float
    p_value: float
    p_holm: float


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonNumbers:
    """The numbers of a `Comparison`.  Its documentation describes the fields."""

    methods: tuple[str, ...]
    reference: str
    setup: Setup
    trials: dict[str, dict[str, FloatArray]]
    full: dict[str, dict[str, float]]
    rows: dict[str, dict[str, AnyArray]]
    models: dict[str, ShortlistReranker]
    labels: IntArray
    draws: FloatArray

    @lazy
    def same_rows(self) -> bool:
        """Whether all methods cover the same test rows, so metrics over covered rows are comparable."""
        first = self.rows[self.methods[0]]["covered"]
        return all(np.array_equal(self.rows[name]["covered"], first) for name in self.methods)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, in the order of `full` and `draws`."""
        return tuple(self.full[self.methods[0]])

    @property
    def questions(self) -> tuple[str, ...]:
        """The metrics that Holm's correction counts: all, or with equal coverage only those not implied by another."""
        return tuple(name for name in self.metrics if not self.same_rows or question_of(name) == name)

    def mean(self, method: str, metric: str) -> float:
        """Return the mean over the trials."""
        return float(self._of(method, metric).mean())

    def std(self, method: str, metric: str) -> float:
        """Return the standard deviation over the trials (divisor trials − 1), NaN for a single trial."""
        values = self._of(method, metric)
        if len(values) < 2:
            return float("nan")
        return (
            0.0 if (values == values[0]).all() else float(values.std(ddof=1))
        )  # without rounding errors if all are equal

    def interval(self, method: str, metric: str) -> tuple[float, float]:
        """Return the bootstrap interval of the full model's metric."""
        self._of(method, metric)
        return self._quantiles(self.draws[:, self.methods.index(method), self.metrics.index(metric)])

    def signs(self, method: str, other: str | None = None) -> dict[str, Signs]:
        """Return, for every metric, in how many trials `method` beats `other` (by default the reference)."""
        rival = self._named(self.reference if other is None else other)
        counts = {}
        for name in self.metrics:
            gain = self._of(method, name) - self._of(rival, name)
            gain = -gain if name in LOWER_IS_BETTER else gain
            counts[name] = (int((gain > ROUNDING).sum()), int((gain < -ROUNDING).sum()), bool(np.isnan(gain).all()))
        p_values = {name: np.nan if undefined else sign_test(w, b) for name, (w, b, undefined) in counts.items()}
        adjusted = self._holm(p_values)
        total = self.setup.trials
        enough = total >= FEWEST_TRIALS
        return {
            name: Signs(w, b, total - w - b, enough and 5 * w >= 4 * total, p_values[name], adjusted[name])
            for name, (w, b, _) in counts.items()
        }

    def difference(self, method: str, other: str | None = None) -> dict[str, Difference]:
        """Return, for every metric, the difference between `method` and `other` (by default the reference).

        Both models are evaluated on the same resamples of the test rows, so the difference is paired.
        """
        method, rival = self._named(method), self._named(self.reference if other is None else other)
        gaps = self.draws[:, self.methods.index(method)] - self.draws[:, self.methods.index(rival)]
        columns = {name: gaps[~np.isnan(gaps[:, index]), index] for index, name in enumerate(self.metrics)}
        p_values = {name: _two_sided(column) for name, column in columns.items()}
        adjusted = self._holm(p_values)
        return {
            name: Difference(
                self.full[method][name] - self.full[rival][name],
                *self._quantiles(column),
                float((column > ROUNDING).mean()) if len(column) else float("nan"),
                p_values[name],
                adjusted[name],
            )
            for name, column in columns.items()
        }

    def _named(self, method: str) -> str:
        if method not in self.methods:
            listed = ", ".join(repr(name) for name in self.methods)
            raise InputError(f"{method!r} is not one of the compared methods; choose one of {listed}")
        return method

    def _of(self, method: str, metric: str) -> FloatArray:
        if metric not in self.metrics:
            raise InputError(f"{metric!r} is not a metric; choose one of {', '.join(map(repr, self.metrics))}")
        return self.trials[self._named(method)][metric]

    def _quantiles(self, drawn: FloatArray) -> tuple[float, float]:
        """Return the percentile interval over the resamples in which the metric is defined."""
        defined = drawn[~np.isnan(drawn)]
        if not len(defined):
            return float("nan"), float("nan")
        tail = (1.0 - self.setup.level) / 2
        low, high = np.quantile(defined, [tail, 1.0 - tail])
        return float(low), float(high)

    def _holm(self, p_values: dict[str, float]) -> dict[str, float]:
        """Adjust the p-values of the questions.  Each metric gets the adjusted p-value of its question."""
        asked = [name for name in self.questions if not np.isnan(p_values[name])]
        adjusted = dict(zip(asked, holm(np.array([p_values[name] for name in asked])).tolist(), strict=True))
        same = self.same_rows
        return {name: adjusted.get(question_of(name) if same else name, float("nan")) for name in p_values}


def _two_sided(differences: FloatArray) -> float:
    """Return the bootstrap p-value of "no difference", which is at least 2 / (number of resamples + 1)."""
    if not len(differences):
        return float("nan")
    below = 1 + int((differences <= ROUNDING).sum())
    above = 1 + int((differences >= -ROUNDING).sum())
    return min(1.0, 2.0 * min(below, above) / (len(differences) + 1))
