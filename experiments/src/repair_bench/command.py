"""The commands under ``repair bench``."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["build_bench"]

Results = Annotated[Path, typer.Option(help="Folder with the results of `repair bench run`.")]
Benchmarks = Annotated[
    list[str] | None, typer.Argument(help="Names of benchmarks; by default all in the folder.", show_default=False)
]

Data = Annotated[
    str | None,
    typer.Option(
        help="Folder with the data sets, or the publisher's folder of one. Several are separated as in PATH. "
        "Default: REPAIR_DATA."
    ),
]

#: Written out here because importing it from the harness would slow down `--help`.
CACHE = Path(".repair-bench")
RESULTS = CACHE / "results"
#: Written out for the same reason.
TABLES = (
    "main, unconditional, signs, bootstrap, k, ablation, quintiles, distribution, trials or paper for each benchmark; "
    "overview, gains, standing, beyond or rivals for all benchmarks together."
)


def build_bench() -> typer.Typer:
    """Return the commands under ``repair bench``."""
    bench = typer.Typer(help="Run the benchmarks. Set REPAIR_DATA to the folder that holds the data sets.")
    bench.command("list", epilog="Example: repair bench list")(list_benchmarks)
    bench.command("run", epilog="Example: repair bench run massive rarebench --jobs 2")(run_benchmarks)
    bench.command("table", epilog="Example: repair bench table signs massive --format latex")(print_table)
    bench.command("table1", epilog="Example: repair bench table1 --npz path/to/scores")(print_table1)
    bench.command("figure", epilog="Example: repair bench figure k massive --out k.svg")(draw_figure)
    bench.command("publish", epilog="Example: repair bench publish --out docs/results")(publish_results)
    return bench


def list_benchmarks(data: Data = None) -> None:
    """List the benchmarks and studies, say which of them can be run here, and where to get what is missing.

    The data files are looked into: whether they are complete, and whether they begin as they should.
    """
    from repair.cli.output import show
    from repair_bench.running.benchmark_run import describe

    show(describe(data))


def run_benchmarks(
    names: Annotated[list[str], typer.Argument(help="Names from `repair bench list`, or all.", show_default=False)],
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas: base,pairwise,auto,…")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed for the parts and trials; by default the benchmark's own.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of fits on subsamples of the calibration rows.")] = 5,
    k: Annotated[
        str | None, typer.Option(help="Shortlist lengths to compare, separated by commas: 5,10,20,50.")
    ] = None,
    cache: Annotated[Path, typer.Option(help="Folder in which finished stages are kept.")] = CACHE,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results; by default `results` in --cache, or `results-quick` with --quick."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use few rows, only to see whether it runs.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
    data: Data = None,
) -> None:
    """Run benchmarks from their data to their tables. Finished stages are cached and not computed again.

    Several benchmarks run at a time, each in its own process. If one fails, the others continue, and the
    command ends with exit code 1.
    """
    from repair._utils.parallel import thread_count
    from repair.cli.output import fail, note
    from repair_bench.harness.methods import check_names
    from repair_bench.running.many_runs import RunOptions, choose_runs, run_many

    chosen = choose_runs(names, data)
    folder = out or cache / ("results-quick" if quick else "results")
    options = RunOptions(
        cache=str(cache),
        out=str(folder),
        data=data,
        methods=None if methods is None else check_names(_words(methods)),
        trials=trials,
        seed=seed,
        quick=quick,
        lengths=None if k is None else tuple(_lengths(k)),
    )
    failed = run_many(chosen, options, jobs or thread_count(), note)
    _show_results(folder, [name for name in chosen if name not in failed])
    for name, reason in failed.items():
        fail(f"{name} failed: {reason}")
    if failed:
        raise typer.Exit(1)


def print_table(
    kind: Annotated[str, typer.Argument(help=TABLES, show_default=False)],
    names: Benchmarks = None,
    results: Results = RESULTS,
    form: Annotated[str, typer.Option("--format", help="Output format: text, markdown, csv or latex.")] = "text",
) -> None:
    """Print a table of finished results."""
    from repair.cli.output import note, show
    from repair_bench.report.command import tables_of

    tables, missing = tables_of(kind, results, names or (), form)
    for reason in missing:
        note(reason)
    show(tables)


def print_table1(
    npz: Annotated[Path, typer.Option(help="Folder with the authors' score files (docs/data-sets.md).")],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="inat2018, imagenet_lt, places_lt, gmdb or rarebench; by default all that are there.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of fits on random 80 % of the calibration rows.")] = 5,
    k: Annotated[int, typer.Option(min=2, help="Length of the shortlists.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the trials and the bootstrap.")] = 0,
    without: Annotated[
        str | None, typer.Option(help="Our methods to leave out, separated by commas: Extended and Auto take longest.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="Output format: text, markdown, csv or latex.")] = "text",
    out: Annotated[Path | None, typer.Option(help="Folder for all numbers, one sub-folder per data set.")] = None,
) -> None:
    """Print the paper's Table 1 from the score files of its authors, with our methods next to the published ones."""
    from repair.cli.output import note, show
    from repair_bench.published.table1 import run_table1, tables_for

    result = run_table1(
        npz, names or (), trials=trials, n_candidates=k, seed=seed, without=_words(without or ""), progress=note
    )
    for name, reason in result.missing.items():
        note(f"{name} is left out: {reason}")
    tables = [table for name, comparison in result.comparisons.items() for table in tables_for(name, comparison)]
    show("\n\n".join(table.written(form) for table in tables))
    if out is not None:
        for name, comparison in result.comparisons.items():
            comparison.write(out / name)
        note(f"Wrote all numbers to {out}.")


def draw_figure(
    kind: Annotated[str, typer.Argument(help="quintiles, distribution, k or frontier.", show_default=False)],
    out: Annotated[Path, typer.Option(help="File ending in .svg or .png, or a folder, which gets both.")],
    names: Benchmarks = None,
    results: Results = RESULTS,
) -> None:
    """Draw a figure of finished results."""
    from repair.cli.output import note, show
    from repair_bench.report.command import draw_figures

    written, missing = draw_figures(kind, results, names or (), out)
    for reason in missing:
        note(reason)
    show("\n".join(f"Wrote {path}." for path in written))


def publish_results(
    out: Annotated[Path, typer.Option(help="Folder to write the pages into.")],
    results: Results = RESULTS,
) -> None:
    """Write all finished results as Markdown pages: a summary, and one page per benchmark and study."""
    from repair.cli.output import show
    from repair_bench.report.publish import publish

    show("\n".join(f"Wrote {path}." for path in publish(results, out)))


def _show_results(folder: Path, names: list[str]) -> None:
    """Print all tables of one benchmark, or an overview of several."""
    from repair.cli.output import show
    from repair_bench.report.command import summary_of

    if names:
        show(summary_of(folder, names))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _lengths(text: str) -> list[int]:
    from repair.errors import InputError

    words = _words(text)
    if not words or not all(word.isdecimal() and int(word) > 0 for word in words):
        raise InputError(f"--k is {text!r}; give positive numbers separated by commas, such as 5,10,20")
    return [int(word) for word in words]
