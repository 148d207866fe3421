"""How much of the error that the published method leaves is closed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repair.bench.report.numbers import EMBEDDED, EXTENDED, PUBLISHED, Result, against, interval, number
from repair.bench.report.table import Table

__all__ = ["CLOSURES", "SMALL", "Closure", "closure_table", "closures", "mean_closure"]

#: Benchmarks with fewer test rows are also left out of the means: one row of 71 is much of what error is left.
SMALL = 200
#: Name of a column, the method, and the metric whose error is meant.
CLOSURES = {
    f"all rows, {EXTENDED}": (EXTENDED, "accuracy"),
    f"all rows, {EMBEDDED}": (EMBEDDED, "accuracy"),
    f"base's list, {EXTENDED}": (f"{EXTENDED}, base's list", "hit@1"),
    f"base's list, {EMBEDDED}": (f"{EMBEDDED}, base's list", "hit@1"),
}
SHARE = "accuracy"  # shares are shown as accuracies are


@dataclass(frozen=True)
class Closure:
    """A share of the published error, with its interval."""

    estimate: float
    low: float | None
    high: float | None


def closures(results: Mapping[str, Result], title: str, metric: str) -> dict[str, Closure]:
    """Return the closed share of the published error for each benchmark that has one.

    It is the paired difference of the fits on all calibration rows, divided by the published
    error; so is its interval, with that error held fixed.
    """
    found = {}
    for name, record in results.items():
        pair = against(record, title, PUBLISHED)
        gap = None if pair is None else pair[metric]["difference"]
        if gap is None or gap["estimate"] is None:
            continue
        error = 1 - record["methods"][PUBLISHED]["metrics"][metric]["full"]
        if error > 0:
            low, high = (None if gap[end] is None else gap[end] / error for end in ("low", "high"))
            found[name] = Closure(gap["estimate"] / error, low, high)
    return found


def mean_closure(results: Mapping[str, Result], column: str, smallest: int = 0) -> tuple[float | None, int]:
    """Return the mean share over the benchmarks of at least so many test rows, and how many these are."""
    large = {name: one for name, one in results.items() if one["data"]["test_rows"] >= smallest}
    found = [one.estimate for one in closures(large, *CLOSURES[column]).values()]
    return (float(np.mean(found)) if found else None), len(found)


def closure_table(results: Mapping[str, Result]) -> Table:
    """Return the shares by benchmark, and their means with and without small benchmarks."""
    columns = [closures(results, *CLOSURES[column]) for column in CLOSURES]
    rows = [
        [name, f"{record['data']['test_rows']:,}", *(_cell(column.get(name)) for column in columns)]
        for name, record in results.items()
    ]
    for smallest, title in ((0, "mean"), (SMALL, f"mean, at least {SMALL} test rows")):
        rows.append([title, "", *_means(results, smallest)])
    caption = "Share of the published error that is closed, percent, with interval"
    return Table(caption, ["benchmark", "test rows", *CLOSURES], rows)


def _means(results: Mapping[str, Result], smallest: int) -> Sequence[str]:
    found = [mean_closure(results, column, smallest) for column in CLOSURES]
    return ["–" if mean is None else f"{number(mean, SHARE, '+')} (of {count})" for mean, count in found]


def _cell(one: Closure | None) -> str:
    if one is None:
        return "–"
    return f"{number(one.estimate, SHARE, '+')} ({interval({'low': one.low, 'high': one.high}, SHARE, '+')})"
