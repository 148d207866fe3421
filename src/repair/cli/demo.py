"""``repair demo``."""

from enum import StrEnum
from typing import Annotated

import typer

from repair.cli.output import show

__all__ = ["demo"]


class Demonstration(StrEnum):
    """What can be shown."""

    RARE_DISEASE = "rare-disease"
    SYNTHETIC = "synthetic"


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
        show(f"{piece}\n")
