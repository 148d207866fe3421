"""The work of ``repair bench table`` and ``repair bench figure``, for one benchmark or several."""

from collections.abc import Sequence
from pathlib import Path

from repair.errors import InputError
from repair.validation.checks import check_choice
from repair_bench.report.figures import ENDINGS, FIGURES, figure, save_figure
from repair_bench.report.overview import OVERVIEWS
from repair_bench.report.reading import read_results
from repair_bench.report.result_tables import KINDS, all_tables, tables
from repair_bench.report.table import FORMATS, AbsentError, Table
from repair_bench.studies import study_page

__all__ = ["draw_figures", "summary_of", "tables_of"]


def tables_of(kind: str, folder: Path, names: Sequence[str], form: str) -> tuple[str, list[str]]:
    """Return the tables of one kind as text, and the reasons why some benchmarks have none.

    If no benchmark has such a table, the first reason is raised as an error.
    """
    if kind not in KINDS and kind not in OVERVIEWS:
        raise InputError(f"there is no table {kind!r}; choose one of {', '.join((*KINDS, *OVERVIEWS))}")
    check_choice(form, "format", tuple(FORMATS))
    results = read_results(folder, names).benchmarks
    if kind in OVERVIEWS:
        return _joined(OVERVIEWS[kind](results), form), []
    present: list[Table] = []
    missing: list[AbsentError] = []
    for name, record in results.items():
        try:
            present += [_named(name, table) for table in tables(kind, record)]
        except AbsentError as absent:
            missing.append(absent)
    if not present and missing:
        raise missing[0]
    return _joined(present, form), [str(reason) for reason in missing]


def draw_figures(kind: str, folder: Path, names: Sequence[str], out: Path) -> tuple[list[Path], list[str]]:
    """Draw a figure for each benchmark.  Return the files, and the reasons why some benchmarks have none."""
    if kind not in FIGURES:
        raise InputError(f"there is no figure {kind!r}; choose one of {', '.join(FIGURES)}")
    results = read_results(folder, names).benchmarks
    if out.suffix in ENDINGS and len(results) > 1:
        raise InputError(
            f"{out} is one file, but there are {len(results)} benchmarks; name one benchmark, or give a folder"
        )
    written: list[Path] = []
    missing: list[AbsentError] = []
    for name, record in results.items():
        try:
            chart = figure(kind, record)
        except AbsentError as absent:
            missing.append(absent)
            continue
        written += save_figure(chart, out if out.suffix in ENDINGS else out / f"{name}_{kind}")
    if not written and missing:
        raise missing[0]
    return written, [str(reason) for reason in missing]


def summary_of(folder: Path, names: Sequence[str]) -> str:
    """Return the text printed at the end of a run: all tables of one benchmark, or an overview of several."""
    results = read_results(folder)
    chosen = {name: results.benchmarks[name] for name in names if name in results.benchmarks}
    if len(names) == 1:
        whole = [all_tables(record) for record in chosen.values()] or [study_page(results.studies[names[0]])]
        return whole[0].rstrip("\n")
    overview = [_joined(OVERVIEWS["overview"](chosen), "text")] if chosen else []
    return "\n\n".join([*overview, f"Results are in {folder}."])


def _named(name: str, table: Table) -> Table:
    return Table(f"{name}: {table.caption}", table.header, table.rows, table.n_text)


def _joined(parts: Sequence[Table], form: str) -> str:
    return "\n\n".join(table.written(form) for table in parts)
