"""``repair bench``."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["build_bench"]

Results = Annotated[Path, typer.Option(help="Folder of results, as `repair bench run` leaves them.")]
Benchmarks = Annotated[
    list[str] | None, typer.Argument(help="Benchmarks; without any, all in the folder.", show_default=False)
]

#: Not imported from the harness: `--help` must not load it.
CACHE = Path(".repair-bench")
RESULTS = CACHE / "results"


def build_bench() -> typer.Typer:
    """Return the commands under ``repair bench``."""
    bench = typer.Typer(help="Run the benchmarks on data sets that you have; REPAIR_DATA names their folder.")
    bench.command("list", epilog="Example: repair bench list")(list_benchmarks)
    bench.command("run", epilog="Example: repair bench run massive rarebench --jobs 2")(run_benchmarks)
    bench.command("table", epilog="Example: repair bench table signs massive --format latex")(print_table)
    bench.command("figure", epilog="Example: repair bench figure k massive --out k.svg")(draw_figure)
    bench.command("publish", epilog="Example: repair bench publish --out docs/results.md")(publish_results)
    return bench


def list_benchmarks() -> None:
    """List the benchmarks, and which of them have their data here."""
    from repair.bench.harness import describe
    from repair.cli.output import show

    show(describe())


def run_benchmarks(
    names: Annotated[list[str], typer.Argument(help="Of `repair bench list`, or all.", show_default=False)],
    methods: Annotated[str | None, typer.Option(help="Methods, with commas: base,classwise,repair,auto,…")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of parts and trials; else the benchmark's own.")] = None,
    trials: Annotated[int, typer.Option(min=1, help="Fits on subsamples of the calibration rows.")] = 5,
    k: Annotated[str | None, typer.Option(help="Shortlist lengths to compare, with commas: 5,10,20,50.")] = None,
    cache: Annotated[Path, typer.Option(help="Folder for finished stages.")] = CACHE,
    out: Annotated[
        Path | None, typer.Option(help="Folder for results; else `results` in --cache, `results-quick` with --quick.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small slice: does it run?")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; else one for each core.")] = None,
) -> None:
    """Run benchmarks from their data to their tables; what is finished is kept, and not done again.

    Several run at a time, each in a process of its own. One that fails does not stop the others; the
    command then ends with 1.
    """
    from repair.bench.many_runs import RunOptions, choose_runs, run_many
    from repair.bench.methods import check_names
    from repair.cli.output import fail, note
    from repair.parallel import thread_count

    chosen = choose_runs(names)
    folder = out or cache / ("results-quick" if quick else "results")
    options = RunOptions(
        cache=str(cache),
        out=str(folder),
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
    kind: Annotated[
        str, typer.Argument(help="main, signs, beyond, …; a wrong one lists them all.", show_default=False)
    ],
    names: Benchmarks = None,
    results: Results = RESULTS,
    form: Annotated[str, typer.Option("--format", help="text, markdown, csv or latex.")] = "text",
) -> None:
    """Print a table of finished results."""
    from repair.bench.report.command import tables_of
    from repair.cli.output import note, show

    tables, missing = tables_of(kind, results, names or (), form)
    for one in missing:
        note(one)
    show(tables)


def draw_figure(
    kind: Annotated[str, typer.Argument(help="quintiles, distribution, k or frontier.", show_default=False)],
    out: Annotated[Path, typer.Option(help="File that ends in .svg or .png, or a folder for both of each.")],
    names: Benchmarks = None,
    results: Results = RESULTS,
) -> None:
    """Draw a figure of finished results (extra bench)."""
    from repair.bench.report.command import draw_figures
    from repair.cli.output import note, show

    written, missing = draw_figures(kind, results, names or (), out)
    for one in missing:
        note(one)
    show("\n".join(f"Wrote {path}." for path in written))


def publish_results(
    out: Annotated[Path, typer.Option(help="Markdown file to write.")],
    results: Results = RESULTS,
) -> None:
    """Write all finished results into one document, the synthetic study into another beside it."""
    from repair.bench.report.publish import publish
    from repair.cli.output import show

    show("\n".join(f"Wrote {path}." for path in publish(results, out)))


def _show_results(folder: Path, names: list[str]) -> None:
    """Print all tables of one benchmark, or an overview of several."""
    from repair.bench.report.command import summary_of
    from repair.cli.output import show

    if names:
        show(summary_of(folder, names))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _lengths(text: str) -> list[int]:
    from repair.errors import InputError

    words = _words(text)
    if not words or not all(word.isdecimal() and int(word) > 0 for word in words):
        raise InputError(f"--k is {text!r}; give lengths with commas between, such as 5,10,20")
    return [int(word) for word in words]
