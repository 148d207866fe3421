"""``repair demo``."""

from enum import StrEnum
from typing import Annotated

import typer

from repair.cli.output import show

__all__ = ["demo"]


class Demonstration(StrEnum):
    """The demonstrations."""

    RARE_DISEASE = "rare-disease"
    SYNTHETIC = "synthetic"


def demo(
    which: Annotated[Demonstration, typer.Argument(help="Which demonstration to run.")] = Demonstration.RARE_DISEASE,
    seed: Annotated[
        int, typer.Option(help="Seed for the random draw of diseases and patients, or of the problem.", min=0)
    ] = 0,
    separable: Annotated[
        bool, typer.Option("--separable", help="Only for synthetic: leave out the contradictory pairs.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(help="Only for rare-disease: folder to write to. Default: demo.", show_default=False)
    ] = None,
) -> None:
    """Run a demonstration: rare diseases ranked for simulated patients, or the paper's synthetic problem."""
    from repair.demo import run_rare_disease, run_synthetic

    if which == Demonstration.SYNTHETIC and out is not None:
        raise typer.BadParameter("the synthetic demonstration writes no files; drop --out", param_hint="--out")
    if which == Demonstration.RARE_DISEASE and separable:
        raise typer.BadParameter(
            "only the synthetic demonstration has contradictory pairs; run 'repair demo synthetic', or drop it",
            param_hint="--separable",
        )
    if which == Demonstration.SYNTHETIC:
        pieces = run_synthetic(seed, separable=separable)
    else:
        pieces = run_rare_disease(seed, "demo" if out is None else out)
    for piece in pieces:
        show(f"{piece}\n")
