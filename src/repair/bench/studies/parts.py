"""What the studies share: a benchmark's data and base scores, and numbers with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray
from repair.bench.base_scores import BaseScores
from repair.bench.benchmark import Benchmark, Score
from repair.bench.problem import Problem
from repair.bench.registry import get
from repair.comparison_metrics import resample_metrics
from repair.inputs import check_group_codes

__all__ = ["Scored", "base_scores", "estimate", "in_percent", "paired_draws", "resampled_share", "scored"]

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Scored:
    """A benchmark with its data read and its base trained."""

    benchmark: Benchmark
    folders: dict[str, Path]
    problem: Problem
    base: BaseScores


def scored(
    name: str, data: "str | PathLike[str] | None", *, quick: bool = False, vectors: Path | None = None
) -> Scored:
    """Read a benchmark's data, or a small slice of them, and train its base; keep sentences' vectors in a folder."""
    benchmark = get(name)
    folders = benchmark.find(data)
    assert benchmark.read is not None
    assert benchmark.base is not None
    problem = benchmark.read(folders, benchmark.seed)
    if quick:
        problem = problem.quick(benchmark.seed).without_untrained_classes()
    return Scored(benchmark, folders, problem, base_scores(benchmark.base, problem, vectors))


def base_scores(base: Score, problem: Problem, vectors: Path | None) -> BaseScores:
    """Train a base, whose sentences' vectors are kept in a folder if it makes any."""
    return base.keeping(vectors)(problem) if vectors is not None and hasattr(base, "keeping") else base(problem)


def paired_draws(rows: Sequence[dict[str, AnyArray]], base: BaseScores, resamples: int, seed: int) -> FloatArray:
    """Return every metric of several methods in the same resamples of the test rows, groups counting once.

    One call for all methods: the resamples depend on the rows' outcomes as well as on the seed, so
    methods resampled one by one are not paired.

    Parameters
    ----------
    rows : sequence of dict
        ``Comparison.rows`` of each method.
    base : BaseScores
    resamples, seed : int

    Returns
    -------
    ndarray (resamples, methods, metrics)
        In the order of `repair.comparison_metrics.METRICS`.
    """
    n_rows = len(base.test_labels)
    codes = None if base.test_groups is None else check_group_codes(base.test_groups, "groups", n_rows)
    weights = np.ones(n_rows) if codes is None else 1.0 / np.bincount(codes)[codes]
    return resample_metrics(rows, weights, codes, resamples, seed)


def estimate(value: float, draws: AnyArray) -> dict[str, float | None]:
    """Return a value with the percentile interval of its resamples; None for what is not defined.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.bench.studies.parts import estimate
    >>> estimate(0.5, np.array([0.5, 0.5, np.nan]))
    {'value': 0.5, 'low': 0.5, 'high': 0.5}
    """
    defined = draws[~np.isnan(draws)]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]) if len(defined) else (np.nan, np.nan)
    named = {"value": value, "low": low, "high": high}
    return {key: None if np.isnan(number) else float(number) for key, number in named.items()}


def resampled_share(hits: AnyArray, among: AnyArray, drawn: AnyArray) -> dict[str, float | None]:
    """Return the share of `hits` among some rows, with the interval over resamples of all rows.

    Parameters
    ----------
    hits, among : ndarray of bool or float (n,)
    drawn : ndarray of int (resamples, n)
        Row numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.bench.studies.parts import resampled_share
    >>> resampled_share(np.array([1, 0, 1]), np.array([1, 1, 0]), np.array([[0, 0, 2]]))["value"]
    0.5
    """
    hit, counted = (np.asarray(hits, float) * among), np.asarray(among, float)
    total = counted[drawn].sum(axis=1)
    draws: FloatArray = np.divide(hit[drawn].sum(axis=1), total, out=np.full(len(drawn), np.nan), where=total > 0)
    return estimate(float(hit.sum() / counted.sum()) if counted.sum() else float("nan"), draws)


def in_percent(number: dict[str, Any], *, signed: bool = False, percent: bool = True) -> str:
    """Return an estimate and its interval as text.

    Examples
    --------
    >>> from repair.bench.studies.parts import in_percent
    >>> in_percent({"value": 0.123, "low": 0.1, "high": 0.2}), in_percent({"value": None})
    ('12.3 (10.0 to 20.0)', '–')
    """
    if number["value"] is None:
        return "–"
    form = ("+" if signed else "") + (".1f" if percent else ".3f")
    factor = 100 if percent else 1
    value, low, high = (format(factor * number[key], form) for key in ("value", "low", "high"))
    return f"{value} ({low} to {high})"
