"""What the commands ``repair bench table`` and ``figure`` do, for one benchmark or many."""

from collections.abc import Sequence
from pathlib import Path

from repair.bench.report.figures import ENDINGS, FIGURES, figure, save_figure
from repair.bench.report.numbers import Result
from repair.bench.report.overview import OVERVIEWS
from repair.bench.report.reading import read_results
from repair.bench.report.result_tables import KINDS, all_tables, tables
from repair.bench.report.table import FORMATS, AbsentError, Table
from repair.bench.study_runs import study_module
from repair.errors import InputError
from repair.inputs import check_choice

__all__ = ["draw_figures", "summary_of", "tables_of"]


def tables_of(kind: str, folder: Path, names: Sequence[str], form: str) -> tuple[str, list[str]]:
    """Return the tables of one kind as text, and what is missing for others.

    Where there is nothing at all, the first reason is raised.
    """
    if kind not in KINDS and kind not in OVERVIEWS:
        raise InputError(f"there is no table {kind!r}; choose from {', '.join((*KINDS, *OVERVIEWS))}")
    check_choice(form, "format", tuple(FORMATS))
    results = read_results(folder, names).benchmarks
    if kind in OVERVIEWS:
        return _joined(OVERVIEWS[kind](results), form), []
    found: list[Table] = []
    missing: list[AbsentError] = []
    for name, record in results.items():
        try:
            found += [_named(name, table) for table in tables(kind, record)]
        except AbsentError as absent:
            missing.append(absent)
    if not found and missing:
        raise missing[0]
    return _joined(found, form), [str(one) for one in missing]


def draw_figures(kind: str, folder: Path, names: Sequence[str], out: Path) -> tuple[list[Path], list[str]]:
    """Draw a figure for each benchmark; return what was written, and what is missing for others."""
    if kind not in FIGURES:
        raise InputError(f"there is no figure {kind!r}; choose from {', '.join(FIGURES)}")
    results = read_results(folder, names).benchmarks
    if out.suffix in ENDINGS and len(results) > 1:
        raise InputError(f"{out} is one file, but there are {len(results)} benchmarks; name one, or give a folder")
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
    return written, [str(one) for one in missing]


def summary_of(folder: Path, names: Sequence[str]) -> str:
    """Return what a run shows at its end: all tables of one benchmark, or an overview of several."""
    found = read_results(folder)
    chosen = {name: found.benchmarks[name] for name in names if name in found.benchmarks}
    if len(names) == 1:
        whole = [all_tables(one) for one in chosen.values()] or [_study_text(found.studies[names[0]])]
        return whole[0].rstrip("\n")
    overview = [_joined(OVERVIEWS["overview"](chosen), "text")] if chosen else []
    return "\n\n".join([*overview, f"Results are in {folder}."])


def _study_text(record: Result) -> str:
    return str(record["document"]) if "document" in record else str(study_module().section(record))


def _named(name: str, table: Table) -> Table:
    return Table(f"{name}: {table.caption}", table.header, table.rows, table.n_text)


def _joined(found: Sequence[Table], form: str) -> str:
    return "\n\n".join(table.written(form) for table in found)
