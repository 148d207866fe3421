"""What goes beyond the paper: the extended mode against everyone, over all rows."""

from collections.abc import Mapping

from repair.bench.report import beyond_text as text
from repair.bench.report.beyond_closure import closure_table
from repair.bench.report.beyond_differences import (
    FIRSTS,
    ablation_table,
    count_table,
    difference_table,
    side_table,
)
from repair.bench.report.beyond_frontier import frontier_table
from repair.bench.report.beyond_targets import mean_targets, standing_targets, worse_sentence
from repair.bench.report.numbers import EMBEDDED, EXTENDED, PUBLISHED, Result, number
from repair.bench.report.table import AbsentError, Table

__all__ = ["beyond_section", "beyond_tables"]

TITLES = ("Base", "LogitAdj", "LogitAdj over all classes", "LambdaRank", PUBLISHED, EXTENDED, EMBEDDED)

Results = Mapping[str, Result]


def beyond_tables(results: Results) -> list[Table]:
    """Return every table on the extended mode, or refuse where it was not run beside the published method."""
    return [table for part in _parts(results) for table in part if isinstance(table, Table)]


def beyond_section(results: Results) -> list[str]:
    """Return the section as paragraphs of Markdown: words, tables, and what was tried and dropped."""
    parts = [one for part in _parts(results) for one in part]
    written = [one.written("markdown") if isinstance(one, Table) else one for one in parts]
    return ["## Beyond the paper", *(one for one in written if one), text.TRIED]


def _parts(results: Results) -> list[list[Table | str]]:
    compared = {name: one for name, one in results.items() if PUBLISHED in one["methods"] and _extended(one)}
    if not compared:
        raise AbsentError(f"no benchmark has {EXTENDED} or {EMBEDDED} beside {PUBLISHED}")
    run = [first for first in FIRSTS if any(first in one["methods"] for one in compared.values())]
    return [
        [text.OPENING, _accuracy_table(compared)],
        [text.TARGETS, mean_targets(compared), standing_targets(compared), worse_sentence(compared)],
        [text.CLOSURE, closure_table(compared)],
        [text.DIFFERENCES, count_table(compared), *(difference_table(compared, first) for first in run)],
        [text.SIDES, side_table(compared)],
        [text.FRONTIER, *(frontier_table(compared, first) for first in run)],
        [text.ABLATION, ablation_table(compared)],
    ]


def _extended(record: Result) -> bool:
    return any(first in record["methods"] for first in FIRSTS)


def _accuracy_table(results: Results) -> Table:
    rows = []
    for name, record in results.items():
        values = [record["methods"].get(title, {}).get("metrics") for title in TITLES]
        rows.append([name, *("–" if one is None else number(one["accuracy"]["mean"], "accuracy") for one in values)])
    return Table("Accuracy over all rows, percent, mean over the trials", ["benchmark", *TITLES], rows)
