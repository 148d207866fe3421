"""The application: all commands with their examples."""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Annotated

import typer

from repair._utils.version import __version__
from repair.cli.compare import compare
from repair.cli.demo import demo
from repair.cli.diagnose import diagnose
from repair.cli.evaluate import evaluate
from repair.cli.example import example
from repair.cli.explain import explain
from repair.cli.fit import fit
from repair.cli.inspect import inspect
from repair.cli.monitor import monitor
from repair.cli.options import spread
from repair.cli.output import show
from repair.cli.report import report
from repair.cli.rerank import rerank
from repair.cli.serve import serve
from repair.errors import MissingExtraError

__all__ = ["build_app"]

#: Entry-point group in which other distributions register commands: functions that return a typer application.
COMMANDS = "repair.commands"
ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True}

EXAMPLES: dict[Callable[..., None], str] = {
    demo: "repair demo synthetic --seed 3",
    example: "repair example .",
    diagnose: "repair diagnose calibration.csv --classes classes.csv",
    fit: "repair fit calibration.csv -o model.safetensors --classes classes.csv",
    rerank: "repair rerank model.safetensors new.csv -o ranked.csv",
    serve: "repair serve model.safetensors --port 8080",
    evaluate: "repair evaluate model.safetensors test.csv",
    monitor: "repair monitor model.safetensors new.csv",
    compare: "repair compare calibration.csv test.csv --classes classes.csv --out results",
    explain: "repair explain model.safetensors test.csv --row q17",
    report: "repair report model.safetensors calibration.csv test.csv -o report.html",
    inspect: "repair inspect model.safetensors",
}


def build_app() -> typer.Typer:
    """Return the application.  This is fast, because each command imports what it needs when it runs."""
    app = typer.Typer(
        name="repair",
        help="Rerank a frozen classifier's shortlist when few classes are frequent and many are rare.",
        epilog="Exit codes: 0 success, 1 a check or comparison failed, 2 bad input, 3 a bug in repair, 130 Ctrl-C.",
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    for command, line in EXAMPLES.items():
        app.command(epilog=f"Example: {line}")(spread(command))
    registered = {entry_point.name: entry_point for entry_point in entry_points(group=COMMANDS)}
    for name, entry_point in registered.items():
        app.add_typer(entry_point.load()(), name=name)
    if "bench" not in registered:
        app.command("bench", context_settings=ANY_ARGUMENTS, epilog="Example: repair bench list")(_missing_bench)
    return app


def _missing_bench() -> None:
    """Run the paper's experiments and our own (needs the separate distribution repair-bench)."""
    raise MissingExtraError(
        "the experiments need the separate distribution repair-bench; in a clone of the repository: "
        "pip install ./experiments"
    )


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error. Works anywhere on the line.")
    ] = False,
) -> None:
    if version:
        show(__version__)
    elif context.invoked_subcommand is None:
        show(context.get_help())
