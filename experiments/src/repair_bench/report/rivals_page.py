"""The page that compares our methods with rivals that have the same information."""

from collections.abc import Mapping
from contextlib import suppress

from repair_bench.harness.methods import TEST_ROWS
from repair_bench.report import rival_text as text
from repair_bench.report.entries import entries_text
from repair_bench.report.information import CONTESTS, Contest
from repair_bench.report.macro import macro_table
from repair_bench.report.numbers import Result
from repair_bench.report.rival_tables import (
    below_sentence,
    best_gap_table,
    best_table,
    contested,
    every_table,
    rival_count_table,
)
from repair_bench.report.rival_targets import rival_targets
from repair_bench.report.table import AbsentError, Table

__all__ = ["has_rivals", "rival_tables", "rivals_headline", "rivals_page"]

Results = Mapping[str, Result]


def has_rivals(results: Results) -> bool:
    """Return whether a best rival can be chosen by calibration rows on some benchmark."""
    return any(contested(results, contest) for contest in CONTESTS)


def rival_tables(results: Results) -> list[Table]:
    """Return every table of the page, or raise an error if no rival has a figure on calibration rows."""
    return [rival_targets(results), *(table for contest in _run(results) for table in _tables(results, contest))]


def rivals_headline(results: Results) -> list[str]:
    """Return what the summary shows: the text, the targets, and for each kind of information the best rivals."""
    contests = _run(results)
    tables = [rival_targets(results), *(best_table(results, contest) for contest in contests)]
    return [text.OPENING, text.entry_roles(results), *(table.written("markdown") for table in tables)]


def rivals_page(results: Results) -> str:
    """Return the page as Markdown."""
    parts = [
        "# How do our methods compare with rivals that have the same information?",
        "[Summary, and how to read the tables](README.md)",
        text.OPENING,
        text.entry_roles(results),
        entries_text(results),
        text.TARGETS,
        rival_targets(results).written("markdown"),
    ]
    for contest in _run(results):
        parts += [text.HEADINGS[contest.information], below_sentence(results, contest)]
        parts += [table.written("markdown") for table in _tables(results, contest)]
    return "\n\n".join(parts) + "\n"


def _run(results: Results) -> list[Contest]:
    found = [contest for contest in CONTESTS if contested(results, contest)]
    if not found:
        raise AbsentError("no benchmark has a rival with a figure on calibration rows; run one, such as vector_scaling")
    return found


def _tables(results: Results, contest: Contest) -> list[Table]:
    makers = (best_table, best_gap_table, rival_count_table, every_table)
    tables = [make(results, contest) for make in makers]
    if contest.information != TEST_ROWS:
        with suppress(AbsentError):  # results of earlier versions have no macro accuracy
            tables.append(macro_table(results, contest.information))
    return tables
