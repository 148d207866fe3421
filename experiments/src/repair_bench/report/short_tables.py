"""Compact tables, with several numbers per cell, for the pages of the benchmarks."""

from collections.abc import Callable

from repair.evaluation.metric_table import METRICS
from repair_bench.report.numbers import Result, against, interval, number, on_base_list, p_value
from repair_bench.report.result_tables import ALL_ROWS, QUESTIONS, compared
from repair_bench.report.table import Table

__all__ = ["short_differences", "short_signs", "short_trials"]


def short_differences(result: Result) -> list[Table]:
    """Return paired differences with interval and p-value, one column per pair of methods."""

    def cell(one: Result, metric: str) -> str:
        gap = one["difference"]
        ends = interval(gap, metric, "+")
        return f"{number(gap['estimate'], metric, '+')} ({ends}), p {p_value(gap['p_value'])}"

    level = f"{100 * result['setup']['level']:g} %"
    caption = f"Paired differences of the fits on all calibration rows, with {level} intervals"
    return _by_pair(result, caption, cell)


def short_signs(result: Result) -> list[Table]:
    """Return wins, losses and ties over the trials, the paper's mark and the exact p-value, one column per pair."""

    def cell(one: Result, metric: str) -> str:
        signs = one["signs"]
        mark = " ✓" if signs["mark"] else ""
        return f"{signs['wins']}/{signs['losses']}/{signs['ties']}{mark}, p {p_value(signs['p_value'])}"

    caption = "Sign tests over the trials: wins/losses/ties, ✓ for four wins in five (the paper's mark), one-sided p"
    return _by_pair(result, caption, cell)


def short_trials(result: Result) -> list[Table]:
    """Return every trial of every method, all trials in one cell, and the fit on all calibration rows in brackets."""
    metrics = ("hit@1", "rare", "frequent", "accuracy")
    shared = on_base_list(result)
    rows = []
    for title, one in result["methods"].items():
        cells = []
        for metric in metrics:
            if metric != "accuracy" and title not in shared:
                cells.append("–")  # its covered rows differ
                continue
            values = one["metrics"][metric]
            listed = ", ".join(number(value, metric) for value in values["trials"])
            cells.append(f"{listed} [{number(values['full'], metric)}]")
        rows.append([title, *cells])
    header = ["method", *(METRICS[metric].title for metric in metrics)]
    return [Table("Every trial [and the fit on all calibration rows]", header, rows)]


def _by_pair(result: Result, caption: str, cell: Callable[[Result, str], str]) -> list[Table]:
    """Return a table over covered rows and one over all rows, each with the pairs that can be compared on them."""
    tables = []
    for metrics, which in ((QUESTIONS, "covered rows"), (ALL_ROWS, "all rows")):
        pairs = [(first, second) for first, second, given in compared(result) if given == metrics]
        rows = [
            [METRICS[metric].title, *(cell(against(result, *pair)[metric], metric) for pair in pairs)]
            for metric in metrics
        ]
        if pairs:
            header = ["metric", *(f"{first} − {second}" for first, second in pairs)]
            tables.append(Table(f"{caption}, {which}", header, rows))
    return tables
