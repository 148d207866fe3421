"""Tables over all benchmarks: the figures of every method, and which methods are significantly above others."""

from collections.abc import Callable, Mapping, Sequence

from repair_bench.report.beyond import beyond_tables
from repair_bench.report.information import information_of, is_ours, shown_information
from repair_bench.report.numbers import (
    ALL_ROW_PAIRS,
    PAIRS,
    Result,
    against,
    interval,
    number,
    on_base_list,
    significant,
)
from repair_bench.report.rivals_page import rival_tables
from repair_bench.report.table import AbsentError, Table

__all__ = ["OVERVIEWS", "gain_tables", "overview_tables", "standing_tables"]

#: Methods that others are compared with.
RIVALS = (
    "Base",
    "LogitAdj",
    "LogitAdj over all classes",
    "Classwise",
    "Classwise+temperature",
    "REPAIR as published",
    "LambdaRank",
)
#: A method of ours that gets no row of its own in these comparisons, because we do not propose it.
NOT_PROPOSED = "Pairwise-only"
ALL_ROWS = "accuracy"
#: Metrics of the comparisons; only methods on the base's list are compared over covered rows.
STANDINGS = {
    ALL_ROWS: "accuracy over all rows",
    "accuracy_rare": "accuracy over all rows of rare classes",
    "rare": "Hit@1 of rare classes, covered rows",
}

Results = Mapping[str, Result]


def overview_tables(results: Results) -> list[Table]:
    """Return the figures of every method on every benchmark, over covered rows of the base's list and over all rows.

    Over all rows there is one table for each kind of information that methods get.
    """
    titles = _titles(results)
    shared = _shared(results)

    def covered(record: Result, title: str) -> str:
        metrics = record["methods"][title]["metrics"]
        return f"{number(metrics['hit@1']['mean'], 'hit@1')} ({number(metrics['rare']['mean'], 'rare')})"

    def everything(record: Result, title: str) -> str:
        return number(record["methods"][title]["metrics"][ALL_ROWS]["mean"], ALL_ROWS)

    tables = [
        _by_benchmark("Hit@1 (Rare) over covered rows in per cent, mean over the trials", results, shared, covered)
    ]
    gets = {title: information_of(record, title) for record in results.values() for title in record["methods"]}
    for information in dict.fromkeys(gets[title] for title in titles):
        caption = (
            f"Methods that get {shown_information(information)}: accuracy over all rows in per cent, mean over the "
            "trials"
        )
        same = [title for title in titles if gets[title] == information]
        tables.append(_by_benchmark(caption, results, same, everything))
    return tables


def standing_tables(results: Results) -> list[Table]:
    """Return on how many benchmarks each method is significantly above or below each rival.

    A difference is significant if its paired bootstrap interval excludes zero.  The fits are those on
    all calibration rows.
    """
    tables = []
    ours = {title for record in results.values() for title in record["methods"] if is_ours(record, title)}
    for metric, what in STANDINGS.items():
        titles = _shared(results) if metric == "rare" else _titles(results)
        firsts = [title for title in titles if title in ours and title != NOT_PROPOSED]
        rivals = [title for title in RIVALS if title in titles]
        rows = [[first, *(_standing(results, first, rival, metric) for rival in rivals)] for first in firsts]
        if rows and rivals:
            caption = f"Number of benchmarks significantly above / below / neither: {what}"
            tables.append(Table(caption, ["method", *(f"against {rival}" for rival in rivals)], rows))
    if not tables:
        raise AbsentError("no two methods to compare were run on the same benchmark")
    return tables


def gain_tables(results: Results) -> list[Table]:
    """Return our differences to the paper's methods on each benchmark, over covered rows and over all rows."""
    shared = _shared(results)
    pairs = [pair for pair in PAIRS if pair[0] in shared and pair[1] in shared]
    tables = [
        *_gains(results, pairs, "hit@1", "ΔHit@1 over covered rows"),
        *_gains(results, ALL_ROW_PAIRS, ALL_ROWS, "Difference in accuracy over all rows"),
    ]
    if not tables:
        raise AbsentError("no pair of methods to compare was run")
    return tables


def _gains(results: Results, pairs: Sequence[tuple[str, str]], metric: str, what: str) -> list[Table]:
    present = [pair for pair in pairs if any(against(record, *pair) for record in results.values())]
    rows = []
    for name, record in results.items():
        cells = []
        for first, second in present:
            pair = against(record, first, second)
            gap = None if pair is None else pair[metric]["difference"]
            shown = "–" if gap is None else f"{number(gap['estimate'], metric, '+')} ({interval(gap, metric, '+')})"
            cells.append(shown + ("" if gap is None or not significant(gap) else " *"))
        rows.append([name, *cells])
    caption = f"{what} in points, with interval (* if it excludes zero)"
    header = ["benchmark", *(f"{first} − {second}" for first, second in present)]
    return [Table(caption, header, rows)] if present else []


OVERVIEWS: dict[str, Callable[[Results], list[Table]]] = {
    "overview": overview_tables,
    "gains": gain_tables,
    "standing": standing_tables,
    "beyond": beyond_tables,
    "rivals": rival_tables,
}


def _titles(results: Results) -> list[str]:
    """Return all methods of all benchmarks, in the order of the benchmark with the most methods."""
    by_length = sorted(results.values(), key=lambda record: -len(record["methods"]))  # most have all methods
    return list(dict.fromkeys(title for record in by_length for title in record["methods"]))


def _shared(results: Results) -> list[str]:
    """Return the methods that rerank the base's shortlists, in the same order."""
    shared = {title for record in results.values() for title in on_base_list(record)}
    return [title for title in _titles(results) if title in shared]


def _by_benchmark(caption: str, results: Results, titles: list[str], cell: Callable[[Result, str], str]) -> Table:
    rows = [
        [name, *(cell(record, title) if title in record["methods"] else "–" for title in titles)]
        for name, record in results.items()
    ]
    return Table(caption, ["benchmark", *titles], rows)


def _standing(results: Results, first: str, rival: str, metric: str) -> str:
    pairs = [against(record, first, rival) for record in results.values()] if first != rival else []
    signs = [significant(pair[metric]["difference"]) for pair in pairs if pair is not None]
    return f"{signs.count(1)} / {signs.count(-1)} / {signs.count(0)}" if signs else "–"
