"""How the gain over Base grows with the number of calibration rows, for `auto` and three other methods."""

import time
import warnings
from collections import Counter
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair import Base, InputWarning, LogitAdjustment, Reranker
from repair._utils.arrays import FloatArray, IntArray
from repair.data.score_set import ScoreSet
from repair.rerankers.base import ShortlistReranker
from repair.stats.row_weights import equal_group_weights
from repair.validation.checks import check_group_codes
from repair_bench.harness.benchmark import Benchmark
from repair_bench.harness.stages import one_thread
from repair_bench.sets.registry import benchmarks, get
from repair_bench.studies.curve_page import curve_page
from repair_bench.studies.curve_summary import AUTO, EXTENDED, LOGIT_ADJ, PAIRWISE, summarize
from repair_bench.studies.kept_results import cached_base_scores, keep, kept_folder

__all__ = ["NEEDS_ALL_SETS", "SETS", "TITLE", "body", "run", "subsample_rows"]

TITLE = "How many calibration rows `auto` needs"
#: All benchmarks except placeholders.  Those whose data are missing are left out.
SETS = tuple(benchmark.name for benchmark in benchmarks() if benchmark.read is not None)
NEEDS_ALL_SETS = False
SIZES = (60, 125, 250, 500, 1_000, 2_000, 4_000)
SUBSAMPLES = 5
QUICK_SIZES, QUICK_SUBSAMPLES = (60,), 2

Say = Callable[[str], object]


def run(data: "str | PathLike[str] | None", quick: bool, say: Say, vectors: Path | None = None) -> dict[str, Any]:
    """Fit every method on random subsamples of the calibration rows of each benchmark, and score the test rows."""
    folder, sets = kept_folder(vectors), {}
    sizes, subsamples = (QUICK_SIZES, QUICK_SUBSAMPLES) if quick else (SIZES, SUBSAMPLES)
    settings = {"sizes": list(sizes), "subsamples": subsamples, "quick": quick}
    for name in SETS:
        benchmark = get(name)
        state = benchmark.state(data)
        if state != "ready":
            say(f"{name}: left out, {state}")
            continue
        files = list(benchmark.find(data).values())

        def make(benchmark: Benchmark = benchmark) -> dict[str, Any]:
            return _curve(benchmark, data, settings, say, folder)

        sets[name] = keep(f"learning_curve/{name}{'-quick' if quick else ''}", settings, files, folder, make)
        say(f"{name}: done")
    return {"settings": settings, "sets": sets, "summary": summarize(sets)}


def _curve(
    benchmark: Benchmark, data: "str | PathLike[str] | None", settings: dict[str, Any], say: Say, folder: Path | None
) -> dict[str, Any]:
    base = cached_base_scores(benchmark, data, settings["quick"], say, folder)
    calibration, test = base.calibration, base.test
    score = _Accuracy(test)
    k, n_rows = min(benchmark.n_candidates, len(base.class_names)), len(calibration)
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore", InputWarning)
        base_accuracy = score(Base(k).fit(calibration))
        points = []
        for size in [*(size for size in settings["sizes"] if size < n_rows), n_rows]:
            draws = settings["subsamples"] if size < n_rows else 1
            found = [
                _gains(calibration.take(rows), score, base_accuracy, k, len(base.class_names))
                for rows in (
                    subsample_rows(n_rows, base.calibration_groups, size, [benchmark.seed, size, draw])
                    for draw in range(draws)
                )
            ]
            points.append(_point(size, size == n_rows, found))
            seconds = ", ".join(f"{name} {number:.2f}" for name, number in points[-1]["seconds"].items())
            say(f"{benchmark.name}: {size} rows, core seconds per fit: {seconds}")
    return {
        "title": benchmark.title,
        "n_calibration": n_rows,
        "n_test": len(test),
        "n_classes": len(base.class_names),
        "grouped": base.calibration_groups is not None,
        "base_accuracy": 100 * base_accuracy,
        "curve": points,
    }


def subsample_rows(n_rows: int, groups: IntArray | None, size: int, seed: list[int]) -> IntArray:
    """Return about `size` random rows in ascending order, whole groups if there are groups.

    Parameters
    ----------
    n_rows : int
        Number of rows to draw from.
    groups : ndarray of int (n_rows,) or None
        Group codes.  Groups are added in random order as long as they bring the number of rows
        nearer to `size`.
    size : int
        Number of rows to draw.
    seed : list of int

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.studies.learning_curve import subsample_rows
    >>> len(subsample_rows(100, None, 60, [0]))
    60
    >>> subsample_rows(6, np.array([0, 0, 0, 1, 1, 1]), 3, [1]).tolist() in ([0, 1, 2], [3, 4, 5])
    True
    """
    rng = np.random.default_rng(seed)
    if size >= n_rows:
        return np.arange(n_rows, dtype=np.int32)
    if groups is None:
        return np.sort(rng.choice(n_rows, size=size, replace=False)).astype(np.int32)
    _, codes, members = np.unique(groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(members))
    totals = np.cumsum(members[order])
    taken = order[: int(np.argmin(np.abs(totals - size))) + 1]
    return np.flatnonzero(np.isin(codes, taken)).astype(np.int32)


class _Accuracy:
    """Accuracy of a fitted model over all test rows, in which every group has the same weight."""

    def __init__(self, test: ScoreSet) -> None:
        codes = None if test.groups is None else check_group_codes(test.groups, "groups", len(test))
        self.test = test
        self.labels = np.asarray(test.labels)
        self.weights: FloatArray = equal_group_weights(len(test), codes)

    def __call__(self, model: ShortlistReranker) -> float:
        hits = model.rerank(self.test.scores).best == self.labels
        return float(np.average(hits, weights=self.weights))


def _gains(rows: ScoreSet, score: _Accuracy, base_accuracy: float, k: int, n_classes: int) -> dict[str, Any]:
    """Return the gain in points and the core seconds of each method's fit, and the mode that `auto` chose."""
    models: dict[str, ShortlistReranker] = {
        AUTO: Reranker(n_candidates=k),
        EXTENDED: Reranker("extended", n_candidates=k),
        PAIRWISE: Reranker("pairwise", n_candidates=k),
        LOGIT_ADJ: LogitAdjustment(n_classes),
    }
    gains, seconds, mode = {}, {}, ""
    for name, model in models.items():
        start = time.process_time()
        model.fit(rows)
        seconds[name] = time.process_time() - start
        gains[name] = 100 * (score(model) - base_accuracy)
        if isinstance(model, Reranker) and model.auto_ is not None:
            mode = model.auto_.chosen.mode
    return {"rows": len(rows), "gains": gains, "seconds": seconds, "mode": mode}


def _point(size: int, everything: bool, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one point of the curves: mean and spread over the subsamples."""
    gains = {}
    for name in found[0]["gains"]:
        values = [draw["gains"][name] for draw in found]
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
        gains[name] = {"mean": float(np.mean(values)), "sd": spread, "values": values}
    return {
        "n": size,
        "everything": everything,
        "rows": [draw["rows"] for draw in found],
        "gains": gains,
        "modes": dict(Counter(draw["mode"] for draw in found)),
        "seconds": {name: float(np.mean([draw["seconds"][name] for draw in found])) for name in gains},
    }


def body(record: dict[str, Any]) -> str:
    """Return the summary, and one table per benchmark."""
    return curve_page(record)
