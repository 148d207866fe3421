"""Several methods on several splits of one data set: means, and gains with intervals that respect groups.

The splits share publications, so they are not independent repetitions, and a standard error over
splits would be wrong.  The intervals resample groups instead.  A group that is drawn twice counts
twice in every split whose test part contains it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from repair._utils.arrays import FloatArray
from repair._utils.text_tables import text_table
from repair.data.score_set import ScoreSet
from repair.errors import InputError
from repair.evaluation.evaluate import Evaluation, evaluate
from repair.rerankers.base import ShortlistReranker
from repair.stats.paired_gains import bootstrap_ratios

__all__ = ["METRICS", "OverSplits", "compare_over_splits"]

#: Hit@1 over covered rows of all, rare and frequent classes, and accuracy over all rows.
METRICS = ("hit@1", "rare", "frequent", "accuracy")


class Split(Protocol):
    """A calibration and a test part."""

    @property
    def calibration(self) -> ScoreSet:
        """The rows for the fit."""
        ...

    @property
    def test(self) -> ScoreSet:
        """The rows for the test."""
        ...


@dataclass(frozen=True, eq=False)
class OverSplits:
    """The result of `compare_over_splits`.  It prints as a table.

    Attributes
    ----------
    by_group, by_row : dict of dict of ndarray (n_splits,)
        ``by_group[method][metric]`` counts every group of test rows once, and ``by_row`` every row.
    gains : dict of dict of tuple
        ``gains[method][metric]`` has the mean difference to the reference over the splits, the ends of
        its 95 % interval, and the share of resamples in which it is positive.  Groups count once.
    reference : str
        The method that gains are measured against.
    """

    by_group: dict[str, dict[str, FloatArray]]
    by_row: dict[str, dict[str, FloatArray]]
    gains: dict[str, dict[str, tuple[float, float, float, float]]]
    reference: str

    def __str__(self) -> str:
        """Return the table, in per cent."""
        header = ["method", "Hit@1", "Rare", "Frequent", "accuracy", "Hit@1 (rows)", "Rare (rows)", "ΔHit@1", "ΔRare"]
        lines = []
        for name, values in self.by_group.items():
            means = [f"{100 * values[metric].mean():.1f}" for metric in METRICS]
            means += [f"{100 * self.by_row[name][metric].mean():.1f}" for metric in ("hit@1", "rare")]
            lines.append([name, *means, *(self._gain(name, metric) for metric in ("hit@1", "rare"))])
        return text_table(header, lines)

    def _gain(self, name: str, metric: str) -> str:
        if name == self.reference:
            return "-"
        gain, low, high, _ = self.gains[name][metric]
        return f"{100 * gain:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def compare_over_splits(
    methods: Mapping[str, ShortlistReranker],
    splits: Iterable[Split],
    *,
    reference: str,
    fitted_by_row: Sequence[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
) -> OverSplits:
    """Fit every method on every split's calibration part and score it on the test part.

    Parameters
    ----------
    methods : mapping from name to reranker
        Cloned before each fit.
    splits : iterable of splits
        Anything with ``calibration`` and ``test``.
    reference : str
        The method that gains are measured against.
    fitted_by_row : sequence of str, default ()
        Names of methods that are fitted with every row counting once, although rows share groups.
        The paper's procedure is one of them.
    resamples : int, default 10000
        Bootstrap resamples.
    seed : int, default 0
        Seed for the bootstrap.

    Returns
    -------
    OverSplits

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from repair import Base, LogitAdjustment, ScoreSet
    >>> from repair_bench.harness.over_splits import compare_over_splits
    >>> rng = np.random.default_rng(0)
    >>> counts = np.array([500, 50, 20])
    >>> def rows(n):
    ...     labels = rng.integers(0, 3, size=n)
    ...     scores = 2 * np.eye(3)[labels] + rng.normal(size=(n, 3)) + np.log(counts)
    ...     return ScoreSet(scores, labels, class_counts=counts)
    >>> splits = [SimpleNamespace(calibration=rows(200), test=rows(200)) for _ in range(2)]
    >>> methods = {"Base": Base(3), "LogitAdj": LogitAdjustment(3)}
    >>> result = compare_over_splits(methods, splits, reference="Base", resamples=200)
    >>> bool(result.gains["LogitAdj"]["hit@1"][1] > 0)
    True
    """
    if reference not in methods:
        raise InputError(f"reference is {reference!r}; choose one of the methods: {', '.join(methods)}")
    tests: list[ScoreSet] = []
    evaluations: dict[str, list[Evaluation]] = {name: [] for name in methods}
    for split in splits:
        tests.append(split.test)
        for name, method in methods.items():
            rows = replace(split.calibration, equal_group_weight=name not in fitted_by_row)
            model = method.clone().fit(rows)
            evaluations[name].append(_evaluated(model, split.test))
    groups = [_groups(test, number) for number, test in enumerate(tests)]
    grouped = {name: _stack(evaluations[name], groups, by_group=True) for name in methods}
    plain = {name: _stack(evaluations[name], groups, by_group=False) for name in methods}
    drawn = {name: _resampled(table, resamples, seed) for name, table in grouped.items()}
    gains = {name: _gains(grouped[name], grouped[reference], drawn[name], drawn[reference]) for name in methods}
    return OverSplits(_values(grouped), _values(plain), gains, reference)


def _evaluated(model: ShortlistReranker, test: ScoreSet) -> Evaluation:
    if test.labels is None:
        raise InputError("the test set of a split has no labels; give them in its ScoreSet")
    ranking = model.rerank(test.scores)
    known = {"class_names": test.class_names, "groups": test.groups}
    return evaluate(ranking, test.labels, test.class_counts, **known, strata="paper")


def _groups(test: ScoreSet, number: int) -> list[Any]:
    """Return the group of every row.  Without groups, each row is its own group."""
    return [(number, row) for row in range(len(test))] if test.groups is None else list(test.groups)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Weighted sums of hits and of rows per group, metric and split."""

    hits: FloatArray
    rows: FloatArray


def _stack(evaluations: list[Evaluation], groups: list[list[Any]], *, by_group: bool) -> _Sums:
    every_group = dict.fromkeys(group for part in groups for group in part)
    code_of = {group: code for code, group in enumerate(every_group)}
    shape = (len(code_of), len(METRICS), len(evaluations))
    hits, rows = np.zeros(shape), np.zeros(shape)
    for split, (result, part) in enumerate(zip(evaluations, groups, strict=True)):
        where = np.array([code_of[group] for group in part])
        weight = result.weights if by_group else np.ones(result.n_rows)
        on_list = result.rows["covered"]
        counted = [on_list, on_list * result.rows["rare"], on_list * result.rows["frequent"], np.ones(result.n_rows)]
        for metric, count in enumerate(counted):
            np.add.at(rows[:, metric, split], where, weight * count)
            np.add.at(hits[:, metric, split], where, weight * count * result.rows["hit@1"])
    return _Sums(hits, rows)


def _resampled(sums: _Sums, resamples: int, seed: int) -> FloatArray:
    """Return the mean over splits in each resample of groups, shape (resamples, metrics)."""
    flat = (len(sums.hits), -1)
    ratios = bootstrap_ratios(sums.hits.reshape(flat), sums.rows.reshape(flat), None, resamples, seed)
    means: FloatArray = ratios.reshape(resamples, *sums.hits.shape[1:]).mean(axis=2)
    return means


def _mean(sums: _Sums) -> FloatArray:
    values: FloatArray = sums.hits.sum(axis=0) / sums.rows.sum(axis=0)
    return values


def _values(tables: dict[str, _Sums]) -> dict[str, dict[str, FloatArray]]:
    return {name: dict(zip(METRICS, _mean(sums), strict=True)) for name, sums in tables.items()}


def _gains(
    own: _Sums, reference: _Sums, own_drawn: FloatArray, reference_drawn: FloatArray
) -> dict[str, tuple[float, float, float, float]]:
    gains = (_mean(own) - _mean(reference)).mean(axis=1)
    drawn = own_drawn - reference_drawn
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    positive = (drawn > 0).mean(axis=0)
    return {
        metric: (float(gains[i]), float(low[i]), float(high[i]), float(positive[i])) for i, metric in enumerate(METRICS)
    }
