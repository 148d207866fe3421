"""The document of all results: an overview, then a section for each benchmark and each study."""

from collections.abc import Callable, Mapping
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from repair.bench.report.agreement import agreement, agreement_counts
from repair.bench.report.beyond import beyond_section
from repair.bench.report.numbers import Result, on_base_list
from repair.bench.report.overview import gain_tables, overview_tables, standing_tables
from repair.bench.report.reading import Results, read_results
from repair.bench.report.result_tables import KINDS, interval_tables
from repair.bench.report.short_tables import short_differences, short_signs, short_trials
from repair.bench.report.table import AbsentError, Table
from repair.bench.study_runs import SYNTHETIC, study_module
from repair.errors import InputError
from repair.files import write_atomically

__all__ = ["document", "publish"]

COMMAND = "repair bench publish"
SYNTHETIC_DOCUMENT = "results-synthetic.md"
READING = """\
How to read it. Every method reranks the scores of a frozen base model, most of them the base's own shortlists.
*Hit@1*, *Rare* (classes below the largest fifth by training rows) and the other figures of the main tables are
over covered rows, those whose true class is on the shortlist; accuracy over all rows counts the others as misses.
*Mean ± std* is over trials, each fitted on a subsample of the calibration rows (of the groups, where there are
groups): the spread speaks of the calibration rows only. Intervals are percentiles of a bootstrap of the test rows
(or groups) for the fit on all calibration rows; a difference is paired, and *significant* means that its interval
leaves out zero, without a correction for the number of benchmarks and metrics unless Holm is named. With five
trials the exact sign test cannot go below 0.031; the paper's mark for four wins in five has p = 0.19.
Hyperparameters are chosen on calibration rows only."""
OWN_LISTS = """\
These methods take shortlists of their own, so their covered rows are other rows: {titles}. They are left out of every
table over covered rows, and stand beside the others in tables over all rows only."""
#: The tables of a benchmark's section, each folded away.
FOLDED = (
    KINDS["main"],
    KINDS["unconditional"],
    KINDS["paper"],
    short_differences,
    short_signs,
    interval_tables,
    KINDS["k"],
    KINDS["ablation"],
    KINDS["quintiles"],
    KINDS["distribution"],
    short_trials,
)


def publish(results: "str | PathLike[str]", out: "str | PathLike[str]") -> list[Path]:
    """Write the document, and that of the synthetic study beside it, if its result is there.

    Parameters
    ----------
    results : path
        Folder of JSON documents.
    out : path
        Markdown file.

    Returns
    -------
    list of Path
        What was written.
    """
    found = read_results(results)
    quick = [
        name for name, one in {**found.benchmarks, **found.studies}.items() if one.get("settings", {}).get("quick")
    ]
    if quick:
        raise InputError(f"{', '.join(quick)} in {results} come from quick runs, which publish nothing; run them whole")
    place = Path(out)
    place.parent.mkdir(parents=True, exist_ok=True)
    written = [place]
    write_atomically(place, document(found).encode())
    if SYNTHETIC in found.studies:
        written.append(place.with_name(SYNTHETIC_DOCUMENT))
        write_atomically(written[-1], str(found.studies[SYNTHETIC]["document"]).encode())
    return written


def document(results: Results) -> str:
    """Return the whole document as Markdown."""
    sections = {name: _study(record) for name, record in results.studies.items() if name != SYNTHETIC}
    parts = [_head(results), *_beyond(results.benchmarks), *_overview(results.benchmarks)]
    parts += [_benchmark(record) for record in results.benchmarks.values()]
    parts += [section for section in sections.values() if section]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(results: Results) -> str:
    records = [*results.benchmarks.values(), *results.studies.values()]
    versions = sorted({_versions(one) for one in records if "version" in one})
    lines = [
        "# Results on the benchmarks",
        f"Written by `{COMMAND}` from the results of `repair bench run`; do not edit. {'; '.join(versions)}.",
    ]
    if SYNTHETIC in results.studies:
        lines.append(f"The synthetic experiments are in [{SYNTHETIC_DOCUMENT}]({SYNTHETIC_DOCUMENT}).")
    return "\n\n".join([*lines, READING, *_own_lists(results.benchmarks)])


def _own_lists(benchmarks: Mapping[str, Result]) -> list[str]:
    titles = dict.fromkeys(
        title for one in benchmarks.values() for title in one["methods"] if title not in on_base_list(one)
    )
    return [OWN_LISTS.format(titles=", ".join(titles))] if titles else []


def _versions(record: Result) -> str:
    used = ", ".join(f"{name} {version}" for name, version in record.get("versions", {}).items())
    return f"repair {record['version']}; {used}"


def _beyond(benchmarks: Mapping[str, Result]) -> list[str]:
    try:
        return beyond_section(benchmarks)
    except AbsentError:
        return []


def _overview(benchmarks: Mapping[str, Result]) -> list[str]:
    if not benchmarks:
        return []
    parts = ["## Overview", _data_table(benchmarks).markdown]
    for make in (overview_tables, gain_tables, standing_tables):
        parts += _tables(make, benchmarks)
    return [*parts, agreement_counts(benchmarks)]


def _data_table(benchmarks: Mapping[str, Result]) -> Table:
    header = ["benchmark", "what", "base", "classes", "training", "calibration", "test", "core seconds"]
    rows = []
    for name, one in benchmarks.items():
        data = one["data"]
        sizes = [data["classes"], data["training_rows"], data["calibration_rows"], data["test_rows"]]
        seconds = f"{sum(one.get('seconds', {}).values()):.0f}"
        rows.append([name, one["title"], _base(one), *(f"{size:,.0f}" for size in sizes), seconds])
    return Table("", header, rows, n_text=3)


def _benchmark(result: Result) -> str:
    settings, setup = result["settings"], result["setup"]
    parts = [
        f"## {result['benchmark']}: {result['title']}",
        f"`{_command(result)}`. Data: {result['home']}. {_parts(result)} Base: {_base(result)}. Seed "
        f"{settings['seed']} for the parts, subsamples from {', '.join(map(str, setup['trial_seeds']))}, resamples "
        f"from {setup['bootstrap_seed']}. {_seconds(result)}",
        " ".join(_sentence(one) for one in (result["note"], *result["data"]["notes"]) if one),
        _chosen(result),
        agreement(result),
    ]
    for make in FOLDED:
        parts += _tables(make, result, folded=True)
    return "\n\n".join(part for part in parts if part)


def _tables(make: Callable[[Any], list[Table]], given: Any, *, folded: bool = False) -> list[str]:
    """Return the tables as Markdown, each to be opened where folded; none where the result does not hold them."""
    try:
        found = make(given)
    except AbsentError:
        return []
    if not folded:
        return [table.written("markdown") for table in found]
    return [f"<details><summary>{escape(table.caption)}</summary>\n\n{table.markdown}\n\n</details>" for table in found]


def _command(result: Result) -> str:
    settings = result["settings"]
    trials = "" if settings["trials"] == 5 else f" --trials {settings['trials']}"
    return f"repair bench run {result['benchmark']} --seed {settings['seed']}{trials}"


def _base(result: Result) -> str:
    """Return the base model with its settings, which are those that the run itself does not have."""
    of_run = ("base", "seed", "trials", "quick", "n_candidates", "resamples")
    own = {name: value for name, value in result["settings"].items() if name not in of_run and value is not None}
    inside = ", ".join(f"{name}={value}" for name, value in own.items())
    return f"{result['settings']['base']}({inside})"


def _parts(result: Result) -> str:
    data, setup = result["data"], result["setup"]
    calibration, test = f"{data['calibration_rows']:,}", f"{data['test_rows']:,}"
    if setup["n_calibration_groups"] is not None:
        calibration += f" ({setup['n_calibration_groups']:,} groups)"
    if setup["n_test_groups"] is not None:
        test += f" ({setup['n_test_groups']:,} groups)"
    weighing = " Every group counts once." if setup["group_weights"] else ""
    return (
        f"{data['classes']:,} classes with {data['smallest_class']:g} to {data['largest_class']:g} of "
        f"{data['training_rows']:,.0f} training rows; {calibration} calibration and {test} test rows.{weighing}"
    )


def _seconds(result: Result) -> str:
    seconds = result.get("seconds", {})
    return f"{sum(seconds.values()):.0f} s of one core." if seconds else ""


def _chosen(result: Result) -> str:
    """Return what `auto` says of its choice: it is the method whose choice users will meet."""
    said = {title: result["methods"].get(title, {}).get("notes", []) for title in ("auto", "auto+embeddings")}
    return "\n\n".join(f"`{title}`: {' '.join(map(_sentence, notes))}" for title, notes in said.items() if notes)


def _sentence(text: str) -> str:
    word = text.split(" ", 1)[0]
    start = text[:1].upper() + text[1:] if word.isalpha() else text  # names of terms stay as they are
    return start.rstrip(".") + "."


def _study(record: Result) -> str:
    """Return a study's section; nothing where this version has no studies."""
    module = study_module()
    return "" if module is None else str(module.section(record)).strip()
