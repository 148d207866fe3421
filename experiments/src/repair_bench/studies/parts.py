"""Shared parts of the studies: data and base scores of a benchmark, and numbers with intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.comparison.compare import compare
from repair.comparison.resampled_metrics import resample_metrics
from repair.comparison.result import Comparison
from repair.data.score_set import ScoreSet
from repair.rerankers.base import ShortlistReranker
from repair.stats.row_weights import equal_group_weights
from repair.validation.checks import check_group_codes
from repair_bench.bases.base_scores import BaseScores
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark, Score
from repair_bench.sets.registry import get

__all__ = [
    "Scored",
    "base_scores",
    "compare_each",
    "estimate",
    "in_percent",
    "measure_sets",
    "number_of_resamples",
    "paired_draws",
    "resampled_share",
    "scored",
]

LEVEL = 0.95


def number_of_resamples(quick: bool) -> int:
    """Return how many bootstrap resamples a study draws."""
    return 200 if quick else 10_000


@dataclass(frozen=True, eq=False)
class Scored:
    """A benchmark with its data and the scores of its base model."""

    benchmark: Benchmark
    folders: dict[str, Path]
    problem: Problem
    base: BaseScores


def scored(
    name: str, data: "str | PathLike[str] | None", *, quick: bool = False, vectors: Path | None = None
) -> Scored:
    """Read the data of a benchmark (few rows if `quick`) and train its base, keeping sentence vectors in a folder."""
    benchmark = get(name)
    folders = benchmark.find(data)
    assert benchmark.read is not None
    assert benchmark.base is not None
    problem = benchmark.read(folders, benchmark.seed)
    if quick:
        problem = problem.quick(benchmark.seed).without_untrained_classes()
    return Scored(benchmark, folders, problem, base_scores(benchmark.base, problem, vectors))


def base_scores(base: Score, problem: Problem, vectors: Path | None) -> BaseScores:
    """Train a base.  If it makes sentence vectors, they are kept in a folder."""
    return base.keeping(vectors)(problem) if vectors is not None and hasattr(base, "keeping") else base(problem)


def paired_draws(rows: Sequence[dict[str, AnyArray]], base: BaseScores, resamples: int, seed: int) -> FloatArray:
    """Return every metric of several methods on the same resamples of the test rows, with equal group weight.

    All methods must be resampled in one call.  The resamples depend on the outcomes of the rows as
    well as on the seed, so methods that are resampled one by one are not paired.

    Parameters
    ----------
    rows : sequence of dict
        ``Comparison.rows`` for each method.
    base : BaseScores
    resamples, seed : int

    Returns
    -------
    ndarray (resamples, methods, metrics)
        The metrics are in the order of `repair.comparison.resampled_metrics.COMPARED`.
    """
    n_rows = len(base.test_labels)
    codes = None if base.test_groups is None else check_group_codes(base.test_groups, "groups", n_rows)
    return resample_metrics(rows, equal_group_weights(n_rows, codes), codes, resamples, seed)


def measure_sets(
    names: Sequence[str],
    measure: Callable[[Scored, int], Any],
    data: "str | PathLike[str] | None",
    quick: bool,
    say: Callable[[str], object],
    vectors: Path | None,
    lacks: Callable[[Benchmark], str] = lambda benchmark: "",
) -> dict[str, Any]:
    """Return a record with what `measure` returns for each benchmark.  Those that lack data or a model are left out.

    Parameters
    ----------
    names : sequence of str
        Names of benchmarks.
    measure : callable
        Called with the scored benchmark and the number of resamples.
    data, quick, say, vectors
        The arguments of a study's ``run``.
    lacks : callable, optional
        Returns what a benchmark lacks besides its data, or ''.

    Returns
    -------
    dict
        The record, with ``settings`` and ``sets``.
    """
    resamples, found = number_of_resamples(quick), {}
    for name in names:
        benchmark = get(name)
        lacking, state = lacks(benchmark), benchmark.state(data)
        if lacking or state != "ready":
            say(f"{name}: left out, {lacking or state}")
            continue
        found[name] = measure(scored(name, data, quick=quick, vectors=vectors), resamples)
        say(f"{name}: done")
    return {"settings": {"resamples": resamples, "quick": quick}, "sets": found}


def compare_each(
    variants: Mapping[str, tuple[ShortlistReranker, tuple[ScoreSet, ScoreSet]]],
    base: BaseScores,
    resamples: int,
    seed: int,
    trials: int = 1,
) -> tuple[dict[str, Comparison], FloatArray]:
    """Compare models that each have their own calibration and test set, with the same test rows.

    Parameters
    ----------
    variants : mapping
        By title, the model, and the sets to fit and to score it on.
    base : BaseScores
        Source of the test labels and groups.
    resamples, seed, trials : int

    Returns
    -------
    compared : dict of Comparison
        One comparison per title.
    draws : ndarray (resamples, titles, metrics)
        All metrics on the same resamples of the test rows, see `paired_draws`.
    """
    compared = {
        title: compare({title: model}, *sets, trials=trials, resamples=1, strata="paper", random_state=seed)
        for title, (model, sets) in variants.items()
    }
    return compared, paired_draws([found.rows[title] for title, found in compared.items()], base, resamples, seed)


def estimate(value: float, draws: AnyArray) -> dict[str, float | None]:
    """Return a value with the percentile interval of its resamples.  Undefined numbers become None.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.studies.parts import estimate
    >>> estimate(0.5, np.array([0.5, 0.5, np.nan]))
    {'value': 0.5, 'low': 0.5, 'high': 0.5}
    """
    defined = draws[~np.isnan(draws)]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]) if len(defined) else (np.nan, np.nan)
    named = {"value": value, "low": low, "high": high}
    return {key: None if np.isnan(number) else float(number) for key, number in named.items()}


def resampled_share(hits: AnyArray, among: AnyArray, drawn: AnyArray) -> dict[str, float | None]:
    """Return the share of hits among some rows, with its interval over resamples of all rows.

    Parameters
    ----------
    hits, among : ndarray of bool or float (n,)
    drawn : ndarray of int (resamples, n)
        Row numbers of each resample.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.studies.parts import resampled_share
    >>> resampled_share(np.array([1, 0, 1]), np.array([1, 1, 0]), np.array([[0, 0, 2]]))["value"]
    0.5
    """
    hit, counted = (np.asarray(hits, float) * among), np.asarray(among, float)
    total = counted[drawn].sum(axis=1)
    draws: FloatArray = np.divide(hit[drawn].sum(axis=1), total, out=np.full(len(drawn), np.nan), where=total > 0)
    return estimate(float(hit.sum() / counted.sum()) if counted.sum() else float("nan"), draws)


def in_percent(number: dict[str, Any], *, signed: bool = False, percent: bool = True) -> str:
    """Return an estimate and its interval as text, in per cent unless `percent` is False.

    Examples
    --------
    >>> from repair_bench.studies.parts import in_percent
    >>> in_percent({"value": 0.123, "low": 0.1, "high": 0.2}), in_percent({"value": None})
    ('12.3 (10.0 to 20.0)', '–')
    """
    if number["value"] is None:
        return "–"
    form = ("+" if signed else "") + (".1f" if percent else ".3f")
    factor = 100 if percent else 1
    value, low, high = (format(factor * number[key], form) for key in ("value", "low", "high"))
    return f"{value} ({low} to {high})"
