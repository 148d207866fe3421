"""The command line: thin, it parses, calls and prints."""

import os
import sys
from enum import StrEnum
from typing import Annotated

from repair import __version__
from repair.errors import InputError, MissingExtraError

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

    class Demonstration(StrEnum):
        RARE_DISEASE = "rare-disease"
        SYNTHETIC = "synthetic"

    @app.command(epilog="Example: repair demo synthetic --seed 3")
    def demo(
        which: Annotated[Demonstration, typer.Argument(help="What to show.")] = Demonstration.RARE_DISEASE,
        seed: Annotated[int, typer.Option(help="Which diseases and patients, or which problem, to draw.", min=0)] = 0,
        separable: Annotated[
            bool, typer.Option("--separable", help="synthetic: leave the contradictory pairs out.")
        ] = False,
        out: Annotated[
            str | None, typer.Option(help="rare-disease: folder for model and tables.", show_default="demo")
        ] = None,
    ) -> None:
        """Show a rare-disease differential on simulated patients, or the paper's synthetic problem."""
        from repair.demo import run_rare_disease, run_synthetic

        if which == Demonstration.SYNTHETIC and out is not None:
            raise typer.BadParameter("synthetic writes nothing; leave --out away", param_hint="--out")
        if which == Demonstration.RARE_DISEASE and separable:
            raise typer.BadParameter("only synthetic has pairs to leave out; see --help", param_hint="--separable")
        if which == Demonstration.SYNTHETIC:
            pieces = run_synthetic(seed, separable=separable)
        else:
            pieces = run_rare_disease(seed, "demo" if out is None else out)
        for piece in pieces:
            print(piece, end="\n\n", flush=True)

    try:
        app()
    except BrokenPipeError:  # the reader has seen enough, as in `repair demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except (InputError, MissingExtraError) as error:
        print(f"repair: {error}", file=sys.stderr)
        raise SystemExit(2) from None
