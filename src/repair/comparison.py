"""What a comparison of methods found: trials, intervals, tests, and the ways to write them down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.comparison_metrics import LOWER_IS_BETTER, METRICS
from repair.errors import InputError
from repair.estimator import ShortlistReranker
from repair.lazy import lazy
from repair.statistics import holm, sign_test

__all__ = ["Comparison", "Difference", "Setup", "Signs"]

#: Differences up to this come from the order of additions, not from the methods.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Setup:
    """How a comparison was run.

    Attributes
    ----------
    trials : int
    subsample : float
        Share of the calibration rows (or groups) that each trial fits on.
    selection : {"once", "anew"}
    resamples : int
    level : float
    seed : int
    trial_seeds : tuple of int
        Seeds of the subsamples, derived from `seed`.
    bootstrap_seed : int
        Seed of the resamples, derived from `seed`.
    n_calibration, n_test, n_classes : int
    n_calibration_groups, n_test_groups : int or None
        None where no groups were given.
    counts_from : str
        What told rare classes from frequent ones.
    group_weights : bool
        Whether every group of test rows counts once, rather than every row.
    """

    trials: int
    subsample: float
    selection: str
    resamples: int
    level: float
    seed: int
    trial_seeds: tuple[int, ...]
    bootstrap_seed: int
    n_calibration: int
    n_calibration_groups: int | None
    n_test: int
    n_test_groups: int | None
    n_classes: int
    counts_from: str
    group_weights: bool


@dataclass(frozen=True)
class Signs:
    """One metric of two methods, trial by trial.

    Attributes
    ----------
    wins, losses, ties : int
        Trials in which the method is strictly better, strictly worse, or neither.
    mark : bool
        The paper's mark: wins in at least four fifths of the trials.
    p_value : float
        Exact one-sided sign test, ties left out; NaN for a metric that is not defined.
    p_holm : float
        The same after Holm's correction across metrics.
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
        Method minus other; for ``nll`` a negative difference is the better one.
    low, high : float
        Percentile interval over paired bootstrap resamples.
    p_positive : float
        P(Δ > 0): share of the resamples with a positive difference.
    p_value : float
        Two-sided: twice the smaller share of resamples on one side of 0 (0 itself counts on both).
    p_holm : float
        The same after Holm's correction across metrics.
    """

    estimate: float
    low: float
    high: float
    p_positive: float
    p_value: float
    p_holm: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several methods on the same test rows; prints as tables.

    Returned by `compare`, whose documentation says what each number means.

    Attributes
    ----------
    methods : tuple of str
    reference : str
        The method that the tables compare the others with.
    setup : Setup
    trials : dict of dict of ndarray (trials,)
        Method, metric → one value per trial.
    full : dict of dict of float
        Method, metric → the value of the model fitted on all calibration rows.
    rows : dict of dict of ndarray (n,)
        Method, metric → one value per test row, of the full model: as ``Evaluation.rows``, and
        ``best``, the class id it puts first.
    models : dict of ShortlistReranker
        The full models, fitted.
    labels : ndarray of int (n,)
        The test labels as class ids.
    draws : ndarray (resamples, methods, metrics)
        Every metric of every full model in every bootstrap resample, in the order of ``full``; NaN
        for macro, which is not resampled.

    Examples
    --------
    >>> from repair import Base, Reranker, ScoreSet, compare
    >>> from repair.bench.synthetic import SyntheticSettings, make_synthetic
    >>> made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=400, n_test=300, n_pairs=5))
    >>> sets = [ScoreSet(p.scores, p.labels, class_counts=made.class_counts) for p in (made.calibration, made.test)]
    >>> comparison = compare({"Base": Base(5), "REPAIR": Reranker(5)}, *sets, trials=3, resamples=200)
    >>> found = comparison.difference("REPAIR", "Base")["hit@1"]
    >>> bool(found.low <= found.estimate <= found.high)
    True
    """

    methods: tuple[str, ...]
    reference: str
    setup: Setup
    trials: dict[str, dict[str, FloatArray]]
    full: dict[str, dict[str, float]]
    rows: dict[str, dict[str, AnyArray]]
    models: dict[str, ShortlistReranker]
    labels: IntArray
    draws: FloatArray

    def __repr__(self) -> str:
        """Return the size in words."""
        return f"Comparison({len(self.methods)} methods, {self.setup.trials} trials, {self.setup.n_test} test rows)"

    @lazy
    def same_rows(self) -> bool:
        """Whether all methods cover the same test rows, so that conditional metrics compare like with like."""
        first = self.rows[self.methods[0]]["covered"]
        return all(np.array_equal(self.rows[name]["covered"], first) for name in self.methods)

    @property
    def questions(self) -> tuple[str, ...]:
        """The metrics that Holm's correction counts: all, or those that no other one decides."""
        return tuple(name for name in METRICS if not self.same_rows or METRICS[name].question == name)

    def mean(self, method: str, metric: str) -> float:
        """Return the mean over the trials."""
        return float(self._of(method, metric).mean())

    def std(self, method: str, metric: str) -> float:
        """Return the standard deviation over the trials (divisor trials − 1); NaN for one trial."""
        values = self._of(method, metric)
        if len(values) < 2:
            return float("nan")
        return 0.0 if (values == values[0]).all() else float(values.std(ddof=1))  # no rounding where nothing varies

    def interval(self, method: str, metric: str) -> tuple[float, float]:
        """Return the bootstrap interval of the full model's metric."""
        self._of(method, metric)
        return self._quantiles(self.draws[:, self.methods.index(method), list(METRICS).index(metric)])

    def signs(self, method: str, other: str | None = None) -> dict[str, Signs]:
        """Count, for every metric, the trials in which `method` beats `other` (default: the reference)."""
        rival = self._named(self.reference if other is None else other)
        counts = {}
        for name in METRICS:
            gain = self._of(method, name) - self._of(rival, name)
            gain = -gain if name in LOWER_IS_BETTER else gain
            counts[name] = (int((gain > ROUNDING).sum()), int((gain < -ROUNDING).sum()), bool(np.isnan(gain).all()))
        p_values = {name: np.nan if undefined else sign_test(w, b) for name, (w, b, undefined) in counts.items()}
        adjusted = self._holm(p_values)
        total = self.setup.trials
        return {
            name: Signs(w, b, total - w - b, 5 * w >= 4 * total, p_values[name], adjusted[name])
            for name, (w, b, _) in counts.items()
        }

    def difference(self, method: str, other: str | None = None) -> dict[str, Difference]:
        """Return, for every metric, how much `method` differs from `other` (default: the reference).

        Both models see the same resamples of the test rows, so what is hard for both cancels.
        """
        one, rival = self._named(method), self._named(self.reference if other is None else other)
        gaps = self.draws[:, self.methods.index(one)] - self.draws[:, self.methods.index(rival)]
        columns = {name: gaps[~np.isnan(gaps[:, place]), place] for place, name in enumerate(METRICS)}
        p_values = {name: _two_sided(column) for name, column in columns.items()}
        adjusted = self._holm(p_values)
        return {
            name: Difference(
                self.full[one][name] - self.full[rival][name],
                *self._quantiles(column),
                float((column > ROUNDING).mean()) if len(column) else float("nan"),
                p_values[name],
                adjusted[name],
            )
            for name, column in columns.items()
        }

    def __str__(self) -> str:
        """Return the tables as plain text."""
        return self._written("as_text")

    def to_markdown(self) -> str:
        """Return the tables in Markdown."""
        return self._written("as_markdown")

    def to_latex(self) -> str:
        """Return the tables in LaTeX; needs the packages booktabs and amssymb."""
        return self._written("as_latex")

    def to_csv(self) -> str:
        """Return every number, one line per method and metric; differences are to the reference."""
        return self._written("as_csv")

    def to_json(self) -> str:
        """Return every number with the setup and the library's version; NaN is written as null."""
        return self._written("as_json")

    def write(self, folder: str | PathLike[str]) -> None:
        """Write ``comparison.md``, ``.tex``, ``.csv``, ``.json`` and ``rows.npz`` into a folder.

        The folder is made if it is missing.  ``rows.npz`` holds ``methods``, ``labels`` and for
        each entry of `rows` one (methods, n) array; it says how each single test row fared, so
        keep it where such rows may be kept.
        """
        from repair.comparison_tables import as_npz
        from repair.files import write_atomically

        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        texts = {"md": self.to_markdown(), "tex": self.to_latex(), "csv": self.to_csv(), "json": self.to_json()}
        for ending, text in texts.items():
            write_atomically(place / f"comparison.{ending}", text.encode())
        write_atomically(place / "rows.npz", as_npz(self))

    def _written(self, form: str) -> str:
        from repair import comparison_tables

        write: Callable[[Comparison], str] = getattr(comparison_tables, form)
        return write(self)

    def _named(self, method: str) -> str:
        if method not in self.methods:
            listed = ", ".join(repr(name) for name in self.methods)
            raise InputError(f"{method!r} is not one of the compared methods; choose one of {listed}")
        return method

    def _of(self, method: str, metric: str) -> FloatArray:
        if metric not in METRICS:
            raise InputError(f"{metric!r} is not a metric; choose one of {', '.join(map(repr, METRICS))}")
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
        """Adjust across the questions that have a p-value; a metric gets its question's."""
        asked = [name for name in self.questions if not np.isnan(p_values[name])]
        adjusted = dict(zip(asked, holm(np.array([p_values[name] for name in asked])).tolist(), strict=True))
        same = self.same_rows
        return {name: adjusted.get(METRICS[name].question if same else name, float("nan")) for name in p_values}


def _two_sided(differences: FloatArray) -> float:
    """Return the bootstrap p-value of "no difference", never below what so many resamples can show."""
    if not len(differences):
        return float("nan")
    below = 1 + int((differences <= ROUNDING).sum())
    above = 1 + int((differences >= -ROUNDING).sum())
    return min(1.0, 2.0 * min(below, above) / (len(differences) + 1))
