"""How much of the error that another method leaves is closed by ours, first of all that of the published method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repair_bench.report.numbers import EMBEDDED, EXTENDED, PUBLISHED, Result, against, interval, number
from repair_bench.report.table import Table

__all__ = [
    "CLOSURES",
    "SMALL",
    "Closure",
    "closure",
    "closure_cell",
    "closure_table",
    "closures",
    "mean_closure",
]

#: A second mean excludes benchmarks with fewer test rows, where a single row changes the share by much.
SMALL = 200
#: Column name → method, and the metric whose error is meant.
CLOSURES = {
    f"all rows, {EXTENDED}": (EXTENDED, "accuracy"),
    f"all rows, {EMBEDDED}": (EMBEDDED, "accuracy"),
    f"base's list, {EXTENDED}": (f"{EXTENDED}, base's list", "hit@1"),
    f"base's list, {EMBEDDED}": (f"{EMBEDDED}, base's list", "hit@1"),
}
SHARE = "accuracy"  # shares are printed like accuracies


@dataclass(frozen=True)
class Closure:
    """A share of another method's error, with its interval."""

    estimate: float
    low: float | None
    high: float | None


def closure(record: Result, title: str, other: str, metric: str) -> Closure | None:
    """Return the share of another method's error that a method closes, or None if it is not defined.

    The share is the paired difference of the fits on all calibration rows, divided by the error of the
    other method.  The ends of its interval are divided by the same error, which is taken as known.
    """
    pair = against(record, title, other)
    gap = None if pair is None else pair[metric]["difference"]
    if gap is None or gap["estimate"] is None:
        return None
    error = 1 - record["methods"][other]["metrics"][metric]["full"]
    if error <= 0:
        return None
    low, high = (None if gap[end] is None else gap[end] / error for end in ("low", "high"))
    return Closure(gap["estimate"] / error, low, high)


def closures(results: Mapping[str, Result], title: str, metric: str) -> dict[str, Closure]:
    """Return the closed share of the published error, for each benchmark on which it is defined."""
    shares = {name: closure(record, title, PUBLISHED, metric) for name, record in results.items()}
    return {name: share for name, share in shares.items() if share is not None}


def mean_closure(results: Mapping[str, Result], column: str, smallest: int = 0) -> tuple[float | None, int]:
    """Return the mean share over the benchmarks with at least `smallest` test rows, and their number."""
    large = {name: record for name, record in results.items() if record["data"]["test_rows"] >= smallest}
    estimates = [share.estimate for share in closures(large, *CLOSURES[column]).values()]
    return (float(np.mean(estimates)) if estimates else None), len(estimates)


def closure_table(results: Mapping[str, Result]) -> Table:
    """Return the shares per benchmark, and their means with and without small benchmarks."""
    columns = [closures(results, *CLOSURES[column]) for column in CLOSURES]
    rows = [
        [name, f"{record['data']['test_rows']:,}", *(closure_cell(column.get(name)) for column in columns)]
        for name, record in results.items()
    ]
    for smallest, title in ((0, "mean"), (SMALL, f"mean, at least {SMALL} test rows")):
        rows.append([title, "", *_means(results, smallest)])
    caption = "Share of the published error that is closed, in per cent, with interval"
    return Table(caption, ["benchmark", "test rows", *CLOSURES], rows)


def _means(results: Mapping[str, Result], smallest: int) -> Sequence[str]:
    means = [mean_closure(results, column, smallest) for column in CLOSURES]
    return ["–" if mean is None else f"{number(mean, SHARE, '+')} (of {count})" for mean, count in means]


def closure_cell(share: Closure | None) -> str:
    """Return a share with its interval, in per cent."""
    if share is None:
        return "–"
    ends = interval({"low": share.low, "high": share.high}, SHARE, "+")
    return f"{number(share.estimate, SHARE, '+')} ({ends})"
