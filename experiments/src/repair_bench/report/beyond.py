"""What goes beyond the paper: the extended mode compared with all other methods, over all rows."""

from collections.abc import Mapping

from repair_bench.report import beyond_text as text
from repair_bench.report.beyond_closure import closure_table
from repair_bench.report.beyond_differences import (
    FIRSTS,
    ablation_table,
    count_table,
    difference_table,
    side_table,
)
from repair_bench.report.beyond_frontier import frontier_table
from repair_bench.report.beyond_targets import mean_targets, standing_targets, worse_sentence
from repair_bench.report.entries import entries_text
from repair_bench.report.numbers import EMBEDDED, EXTENDED, PUBLISHED, Result, number
from repair_bench.report.rivals_page import has_rivals
from repair_bench.report.table import AbsentError, Table

__all__ = ["beyond_page", "beyond_tables", "headline"]

TITLES = ("Base", "LogitAdj", "LogitAdj over all classes", "LambdaRank", PUBLISHED, EXTENDED, EMBEDDED)

Results = Mapping[str, Result]


def beyond_tables(results: Results) -> list[Table]:
    """Return every table on the extended mode, or raise an error if no benchmark has it and the published method."""
    return [table for part in _parts(results) for table in part if isinstance(table, Table)]


def headline(results: Results) -> list[str]:
    """Return the paragraphs that the summary opens with: text, accuracies and the project's targets."""
    return [_written(item) for part in _parts(results)[:2] for item in part if item]


def beyond_page(results: Results) -> str:
    """Return the page on the extended mode: text, all tables, and what was tried and dropped."""
    opening = ["# How much does the extended mode gain?", "[Summary, and how to read the tables](README.md)"]
    written = [_written(item) for part in _parts(results) for item in part if item]
    return "\n\n".join([*opening, *written, text.TRIED]) + "\n"


def _written(item: Table | str) -> str:
    return item.written("markdown") if isinstance(item, Table) else item


def _parts(results: Results) -> list[list[Table | str]]:
    compared = {name: record for name, record in results.items() if _has_both(record)}
    if not compared:
        raise AbsentError(f"no benchmark has {EXTENDED} or {EMBEDDED} together with {PUBLISHED}; run both on one")
    run = [first for first in FIRSTS if any(first in record["methods"] for record in compared.values())]
    return [
        [
            text.OPENING,
            text.SAME_INFORMATION if has_rivals(results) else "",
            entries_text(compared),
            _accuracy_table(compared),
        ],
        [text.TARGETS, mean_targets(compared), standing_targets(compared), worse_sentence(compared)],
        [text.CLOSURE, closure_table(compared)],
        [text.DIFFERENCES, count_table(compared), *(difference_table(compared, first) for first in run)],
        [text.SIDES, side_table(compared)],
        [text.FRONTIER, *(frontier_table(compared, first) for first in run)],
        [text.ABLATION, ablation_table(compared)],
    ]


def _has_both(record: Result) -> bool:
    return PUBLISHED in record["methods"] and any(first in record["methods"] for first in FIRSTS)


def _accuracy_table(results: Results) -> Table:
    rows = []
    for name, record in results.items():
        metrics = [record["methods"].get(title, {}).get("metrics") for title in TITLES]
        rows.append(
            [name, *("–" if values is None else number(values["accuracy"]["mean"], "accuracy") for values in metrics)]
        )
    return Table("Accuracy over all rows in per cent, mean over the trials", ["benchmark", *TITLES], rows)
