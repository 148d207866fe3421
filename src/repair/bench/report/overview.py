"""Tables over all benchmarks: what every method reaches, and who is significantly ahead of whom."""

from collections.abc import Callable, Mapping, Sequence

from repair.bench.report.beyond import beyond_tables
from repair.bench.report.numbers import (
    ALL_ROW_PAIRS,
    PAIRS,
    Result,
    against,
    interval,
    number,
    on_base_list,
    significant,
)
from repair.bench.report.table import AbsentError, Table

__all__ = ["OVERVIEWS", "gain_tables", "overview_tables", "standing_tables"]

#: Methods that others are held against.
RIVALS = (
    "Base",
    "LogitAdj",
    "LogitAdj over all classes",
    "Classwise",
    "Classwise+temperature",
    "REPAIR as published",
    "LambdaRank",
)
#: Methods that are not ours to defend, and so are no first of a pair.
NOT_FIRST = (
    "Base",
    "LogitAdj",
    "LogitAdj over all classes",
    "τ-norm",
    "Temperature",
    "LambdaRank",
    "Pairwise-only",
    "REPAIR as published",
)
ALL_ROWS = "accuracy"
#: What methods are held against each other by; over covered rows only those on the base's list.
STANDINGS = {
    ALL_ROWS: "accuracy over all rows",
    "accuracy_rare": "accuracy over all rows of rare classes",
    "rare": "Hit@1 of rare classes, covered rows",
}

Results = Mapping[str, Result]


def overview_tables(results: Results) -> list[Table]:
    """Return what every method reaches on every benchmark: over covered rows of the base's list, over all rows."""
    titles = _titles(results)
    shared = _shared(results)

    def covered(record: Result, title: str) -> str:
        metrics = record["methods"][title]["metrics"]
        return f"{number(metrics['hit@1']['mean'], 'hit@1')} ({number(metrics['rare']['mean'], 'rare')})"

    def everything(record: Result, title: str) -> str:
        return number(record["methods"][title]["metrics"][ALL_ROWS]["mean"], ALL_ROWS)

    return [
        _by_benchmark("Hit@1 (Rare) over covered rows, percent, mean over the trials", results, shared, covered),
        _by_benchmark("Accuracy over all rows, percent, mean over the trials", results, titles, everything),
    ]


def standing_tables(results: Results) -> list[Table]:
    """Return on how many benchmarks each method is significantly above or below each rival.

    Significant means that the interval of the paired bootstrap difference, of the fits on all
    calibration rows, leaves out zero.
    """
    found = []
    for metric, what in STANDINGS.items():
        titles = _shared(results) if metric == "rare" else _titles(results)
        firsts = [one for one in titles if one not in NOT_FIRST]
        rivals = [one for one in RIVALS if one in titles]
        rows = [[first, *(_standing(results, first, rival, metric) for rival in rivals)] for first in firsts]
        if rows and rivals:
            caption = f"Benchmarks significantly above / below / neither: {what}"
            found.append(Table(caption, ["method", *(f"against {rival}" for rival in rivals)], rows))
    if not found:
        raise AbsentError("no two methods to hold against each other were run on the same benchmark")
    return found


def gain_tables(results: Results) -> list[Table]:
    """Return our differences to the methods of the paper, benchmark by benchmark: over covered rows, over all rows."""
    shared = _shared(results)
    pairs = [pair for pair in PAIRS if pair[0] in shared and pair[1] in shared]
    found = [
        *_gains(results, pairs, "hit@1", "ΔHit@1 over covered rows"),
        *_gains(results, ALL_ROW_PAIRS, ALL_ROWS, "Difference in accuracy over all rows"),
    ]
    if not found:
        raise AbsentError("no pair of methods to compare was run")
    return found


def _gains(results: Results, pairs: Sequence[tuple[str, str]], metric: str, what: str) -> list[Table]:
    present = [pair for pair in pairs if any(against(one, *pair) for one in results.values())]
    rows = []
    for name, record in results.items():
        cells = []
        for first, second in present:
            pair = against(record, first, second)
            one = None if pair is None else pair[metric]["difference"]
            shown = "–" if one is None else f"{number(one['estimate'], metric, '+')} ({interval(one, metric, '+')})"
            cells.append(shown + ("" if one is None or not significant(one) else " *"))
        rows.append([name, *cells])
    caption = f"{what}, points, with its interval; * where it leaves out zero"
    header = ["benchmark", *(f"{first} − {second}" for first, second in present)]
    return [Table(caption, header, rows)] if present else []


OVERVIEWS: dict[str, Callable[[Results], list[Table]]] = {
    "overview": overview_tables,
    "gains": gain_tables,
    "standing": standing_tables,
    "beyond": beyond_tables,
}


def _titles(results: Results) -> list[str]:
    """Return all methods of all benchmarks, in the order of the benchmark with the most."""
    by_length = sorted(results.values(), key=lambda one: -len(one["methods"]))  # most benchmarks have all of them
    return list(dict.fromkeys(title for one in by_length for title in one["methods"]))


def _shared(results: Results) -> list[str]:
    """Return the methods that rerank the base's shortlists, in the same order."""
    shared = {title for one in results.values() for title in on_base_list(one)}
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
