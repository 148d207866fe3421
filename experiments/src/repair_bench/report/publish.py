"""Writing all results as pages: a summary, the tables over all benchmarks, and one page per benchmark and study."""

from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path

from repair._utils.atomic_write import write_atomically
from repair.errors import InputError
from repair_bench.report.benchmark_page import benchmark_page
from repair_bench.report.beyond import beyond_page
from repair_bench.report.reading import Results, read_results
from repair_bench.report.rivals_page import rivals_page
from repair_bench.report.summary_page import ALL_METHODS, BEYOND, RIVALS, SUMMARY, all_methods_page, summary_page
from repair_bench.report.table import AbsentError
from repair_bench.studies import study_page

__all__ = ["pages", "publish"]


def publish(results: "str | PathLike[str]", out: "str | PathLike[str]") -> list[Path]:
    """Write one Markdown page per benchmark and study into a folder, and a summary that links to them.

    Parameters
    ----------
    results : path
        Folder with the JSON files of `repair bench run`.
    out : path
        Folder for the pages.  It is created if it does not exist.

    Returns
    -------
    list of Path
        The files that were written, the summary first.
    """
    found = read_results(results)
    quick = [
        name for name, one in {**found.benchmarks, **found.studies}.items() if one.get("settings", {}).get("quick")
    ]
    if quick:
        raise InputError(f"{', '.join(quick)} in {results} come from quick runs; run them again without --quick")
    made = dict(pages(found))
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        write_atomically(folder / name, text.encode())
    return [folder / name for name in made]


def pages(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of every page."""
    yield SUMMARY, summary_page(results)
    if results.benchmarks:
        with suppress(AbsentError):  # no rival was run
            yield RIVALS, rivals_page(results.benchmarks)
        with suppress(AbsentError):  # the extended mode was not run
            yield BEYOND, beyond_page(results.benchmarks)
        yield ALL_METHODS, all_methods_page(results.benchmarks)
    for name, record in results.benchmarks.items():
        yield f"{name}.md", benchmark_page(record)
    for name, record in results.studies.items():
        yield f"{name}.md", study_page(record)
