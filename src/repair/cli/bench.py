"""``repair bench``."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["build_bench"]


def build_bench() -> typer.Typer:
    """Return the commands under ``repair bench``."""
    bench = typer.Typer(help="Run the benchmarks on data sets that you have; REPAIR_DATA names their folder.")
    bench.command("list", epilog="Example: repair bench list")(list_benchmarks)
    bench.command("run", epilog="Example: repair bench run massive --out results")(run_benchmark)
    return bench


def list_benchmarks() -> None:
    """List the benchmarks, and which of them have their data here."""
    from repair.bench.harness import describe
    from repair.cli.output import show

    show(describe())


def run_benchmark(
    name: Annotated[str, typer.Argument(help="One of `repair bench list`.", show_default=False)],
    cache: Annotated[Path | None, typer.Option(help="Folder for finished stages.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the JSON, the per-row file and the tables.")] = None,
    trials: Annotated[int, typer.Option(min=1, help="Fits on subsamples of the calibration rows.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="A small slice: does it run?")] = False,
) -> None:
    """Run one benchmark from its data to its tables; what is finished is kept, and not done again."""
    from repair.bench.harness import CACHE, run
    from repair.bench.result_tables import all_tables
    from repair.cli.output import note, show

    result = run(name, cache=CACHE if cache is None else cache, out=out, trials=trials, quick=quick, progress=note)
    show(all_tables(result).rstrip("\n"))
