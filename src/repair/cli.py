"""The command line: thin, it parses, calls and prints."""

import os
import sys
from typing import Annotated

from repair import __version__
from repair.errors import MissingExtraError

__all__ = ["main"]


def main() -> None:
    """Run the command ``repair``."""
    try:
        import typer
    except ImportError:
        error = MissingExtraError("the command line needs the extra 'cli': pip install 'repair-rerank[cli]'")
        print(f"repair: {error}", file=sys.stderr)
        raise SystemExit(2) from None

    app = typer.Typer(name="repair", help="Rerank a frozen classifier's shortlist under long-tailed classes.")

    @app.callback(invoke_without_command=True)
    def root(
        context: typer.Context,
        version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    ) -> None:
        if version:
            print(__version__)
        elif context.invoked_subcommand is None:
            print(context.get_help())

    @app.command(epilog="Example: repair demo --seed 3")
    def demo(
        seed: Annotated[int, typer.Option(help="Which synthetic problem to draw.", min=0)] = 0,
        separable: Annotated[bool, typer.Option("--separable", help="Leave the contradictory pairs out.")] = False,
    ) -> None:
        """Run the paper's synthetic problem and compare every method with the oracle."""
        from repair.demo import run_demo

        for piece in run_demo(seed, separable=separable):
            print(piece, end="\n\n")

    try:
        app()
    except BrokenPipeError:  # the reader has seen enough, as in `repair demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
