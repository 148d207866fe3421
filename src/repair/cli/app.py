"""The commands, put together."""

from collections.abc import Callable
from typing import Annotated

import typer

from repair import __version__
from repair.cli.bench import build_bench
from repair.cli.compare import compare
from repair.cli.demo import demo
from repair.cli.diagnose import diagnose
from repair.cli.evaluate import evaluate
from repair.cli.explain import explain
from repair.cli.fit import fit
from repair.cli.inspect import inspect
from repair.cli.options import spread
from repair.cli.output import show
from repair.cli.report import report
from repair.cli.rerank import rerank

__all__ = ["build_app"]

EXAMPLES: dict[Callable[..., None], str] = {
    demo: "repair demo synthetic --seed 3",
    diagnose: "repair diagnose calibration.csv --classes classes.csv",
    fit: "repair fit calibration.csv -o model.safetensors --classes classes.csv",
    rerank: "repair rerank model.safetensors new.csv -o ranked.csv",
    evaluate: "repair evaluate model.safetensors test.csv",
    compare: "repair compare calibration.csv test.csv --classes classes.csv --out results",
    explain: "repair explain model.safetensors test.csv --row q17",
    report: "repair report model.safetensors calibration.csv test.csv -o report.html",
    inspect: "repair inspect model.safetensors",
}


def build_app() -> typer.Typer:
    """Return the application; cheap, because each command imports what it needs when it runs."""
    app = typer.Typer(
        name="repair",
        help="Rerank a frozen classifier's shortlist under long-tailed classes.",
        epilog="Exit codes: 0; 1: a check or comparison failed; 2: bad input; 3: a defect of ours; 130: Ctrl-C.",
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    for command, example in EXAMPLES.items():
        app.command(epilog=f"Example: {example}")(spread(command))
    app.add_typer(build_bench(), name="bench")
    return app


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from; may stand anywhere.")] = False,
) -> None:
    if version:
        show(__version__)
    elif context.invoked_subcommand is None:
        show(context.get_help())
