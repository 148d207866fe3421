"""The summary of all results, and the page with the tables of all methods."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from repair_bench.report.agreement import agreement_counts
from repair_bench.report.benchmark_page import base_model
from repair_bench.report.beyond import headline
from repair_bench.report.entries import entries_text
from repair_bench.report.numbers import Result, on_base_list
from repair_bench.report.overview import gain_tables, overview_tables, standing_tables
from repair_bench.report.reading import Results
from repair_bench.report.rival_text import descriptions
from repair_bench.report.rivals_page import rivals_headline
from repair_bench.report.table import AbsentError, Table

__all__ = ["ALL_METHODS", "BEYOND", "RIVALS", "SUMMARY", "all_methods_page", "summary_page"]

COMMAND = "repair bench publish"
SUMMARY, RIVALS, BEYOND, ALL_METHODS = "README.md", "rivals.md", "beyond.md", "all-methods.md"
READING = """\
## How to read the tables

- Every method reranks the scores of a frozen base model. Hyperparameters are chosen on calibration rows only.
- Base models: *TextBase* is logistic regression on TF-IDF, *SentenceBase* on sentence embeddings, and *FeatureBase* on
  features of a frozen network. *GivenScores* takes scores that come with the data.
- A row is *covered* if its true class is on the shortlist. *Hit@1*, *Rare* and the other figures of the main tables are
  over covered rows. *Accuracy over all rows* counts uncovered rows as wrong. *HFR* (hardest-rival flip rate) is the
  share of covered base errors on which the true class now ranks above the base's first choice.
- *Rare* classes are the four fifths of the classes with the fewest training rows, *frequent* ones the rest.
- MRR, HFR and NLL (lower is better) are plain numbers. All other figures are in per cent, and differences in points.
- *Mean ± std* is over trials. Each trial fits on a subsample of the calibration rows (or groups), so the spread shows
  the uncertainty of the calibration sample only.
- Intervals are percentiles of a bootstrap of the test rows (or groups), for the fit on all calibration rows.
  Differences are paired. *Significant* means that the interval excludes zero. Nothing is corrected for the number of
  benchmarks and metrics unless Holm is named.
- With five trials the p-value of the exact sign test cannot go below 0.031. The paper marks four wins in five trials,
  which has p = 0.19."""
METHODS = """\
## The methods

- *Base* keeps the order of the base model. *LogitAdj* (logit adjustment) subtracts a multiple of the log class
  frequency. *τ-norm* divides a score by a power of the norm of its class weights. *Temperature* only scales the scores.
- *Classwise* learns one offset per class. *Pairwise-only* learns terms that depend on the rivals on the shortlist.
  *Pairwise* learns both and is our version of the paper's REPAIR.
- *REPAIR as published* chooses its hyperparameters as the paper does, by accuracy on the rows that it is fitted on.
- *LambdaRank* is LightGBM's ranker. It gets the columns that Pairwise uses.
- *Extended* adds learned terms and builds its own shortlists, unless *base's list* is in its name.
- *Auto* chooses between the order of Base, the extended mode with few terms and the whole extended mode, by the
  likelihood of held-out rows. It keeps the order of Base unless they show that a correction helps.
- *+embeddings* means that the method also gets one embedding per row and the labelled training rows."""
OWN_LISTS = """\
- Some methods build their own shortlists, so other rows are covered: {titles}. They appear only in tables over all
  rows."""


def summary_page(results: Results) -> str:
    """Return the summary: the main figures, how to read the tables, and links to all pages."""
    records = [*results.benchmarks.values(), *results.studies.values()]
    versions = sorted({_versions(record) for record in records if "version" in record})
    parts = [
        "# How do the methods compare?",
        f"Written by `{COMMAND}` from the results of `repair bench run`. Do not edit. {' / '.join(versions)}.",
    ]
    if results.benchmarks:
        with suppress(AbsentError):  # no rival was run
            parts += ["## Rivals with the same information", *rivals_headline(results.benchmarks)]
            parts.append(f"[All tables on rivals with the same information]({RIVALS})")
        with suppress(AbsentError):  # the extended mode was not run
            parts += ["## The extended mode", *headline(results.benchmarks)]
            parts.append(f"[All tables on the extended mode]({BEYOND})")
        parts += [
            "## Benchmarks",
            _data_table(results.benchmarks).markdown,
            "Pages: " + " · ".join(f"[{name}]({name}.md)" for name in results.benchmarks),
            f"[Every method on every benchmark]({ALL_METHODS}). {agreement_counts(results.benchmarks)}",
            READING + _own_lists(results.benchmarks),
            METHODS,
            descriptions(results.benchmarks),
        ]
    if results.studies:
        listed = [f"- [{study['title']}]({name}.md)" for name, study in results.studies.items()]
        parts += ["## Studies", "\n".join(listed)]
    return "\n\n".join(part for part in parts if part) + "\n"


def all_methods_page(benchmarks: Mapping[str, Result]) -> str:
    """Return the tables with every method on every benchmark, and which methods are significantly above others."""
    parts = [
        "# How does every method do on every benchmark?",
        "[Summary, and how to read the tables](README.md)",
        entries_text(benchmarks),
    ]
    for make in (overview_tables, gain_tables, standing_tables):
        parts += _tables(make, benchmarks)
    return "\n\n".join([*parts, agreement_counts(benchmarks)]).rstrip() + "\n"


def _own_lists(benchmarks: Mapping[str, Result]) -> str:
    titles = dict.fromkeys(
        title for record in benchmarks.values() for title in record["methods"] if title not in on_base_list(record)
    )
    return "\n" + OWN_LISTS.format(titles=", ".join(titles)) if titles else ""


def _versions(record: Result) -> str:
    used = ", ".join(f"{name} {version}" for name, version in record.get("versions", {}).items())
    return f"repair {record['version']}; {used}"


def _data_table(benchmarks: Mapping[str, Result]) -> Table:
    header = ["benchmark", "data", "base model", "classes", "training", "calibration", "test", "core seconds"]
    rows = []
    for name, record in benchmarks.items():
        data = record["data"]
        sizes = [data["classes"], data["training_rows"], data["calibration_rows"], data["test_rows"]]
        seconds = f"{sum(record.get('seconds', {}).values()):.0f}"
        rows.append([name, record["title"], base_model(record), *(f"{size:,.0f}" for size in sizes), seconds])
    return Table("", header, rows, n_text=3)


def _tables(make: Callable[[Any], list[Table]], given: Any) -> list[str]:
    try:
        return [table.written("markdown") for table in make(given)]
    except AbsentError:
        return []
