"""``repair demo``."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer

from repair.cli.output import note, show

__all__ = ["demo"]

#: What the rare-disease demonstration does before its second text, its third one, and so on.  The last step comes
#: after the results, which are a screenful.  What follows explains one patient.
STEPS = (
    "drawing simulated patients and training the base model",
    "diagnosing whether a correction would help",
    "fitting and comparing six methods",
    "",
    "writing the report",
)


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
    case: Annotated[
        bool, typer.Option("--case", help="Only for rare-disease: also print the case of one patient.")
    ] = False,
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
    if which == Demonstration.SYNTHETIC and case:
        raise typer.BadParameter("the synthetic demonstration has no patients; drop --case", param_hint="--case")
    if which == Demonstration.SYNTHETIC:
        pieces = run_synthetic(seed, separable=separable)
    else:
        pieces = _with_progress(run_rare_disease(seed, "demo" if out is None else out), case=case)
    for piece in pieces:
        show(f"{piece}\n")


def _with_progress(pieces: Iterator[str], *, case: bool) -> Iterator[str]:
    """Print the steps as notes, and yield the results and the last text, which names the files.

    The texts between them explain one patient.  They are in report.md, and yielded only if `case` is set.
    """
    patient = []
    for number, piece in enumerate(pieces):
        if number >= len(STEPS) and not case:
            patient.append(piece)
            continue
        yield piece
        if number < len(STEPS) and STEPS[number]:
            note(f"{STEPS[number]} …")
    if patient:
        more = "\nreport.md also explains one patient. To print that, add --case." if len(patient) > 1 else ""
        yield patient[-1] + more
