"""``repair monitor``."""

from pathlib import Path
from typing import Annotated

import typer

from repair.cli.options import Json, RowOptions

__all__ = ["monitor"]


def monitor(
    model: Annotated[Path, typer.Argument(help="A model written by `repair fit`.", show_default=False)],
    scores: Annotated[Path, typer.Argument(help="New rows with scores. Labels are optional.", show_default=False)],
    rows: RowOptions,
    level: Annotated[
        float,
        typer.Option(
            min=1e-12,
            max=1.0,
            help="Largest probability of a false alarm, for all tests together. Lower it if you test often.",
        ),
    ] = 0.05,
    json: Json = False,
) -> None:
    """Test whether new rows differ from the calibration rows: in their scores, candidates and class shares.

    The exit code is 1 if drift was found at the given level.
    """
    from repair.cli.inputs import read_for_model
    from repair.cli.output import show, show_json
    from repair.diagnosis import measure_drift
    from repair.rerankers.loading import load

    reranker, file = read_for_model(load(model), scores, rows, None, need_labels=False)
    drift = measure_drift(reranker, file.rows, level=level)
    show_json(drift.to_dict()) if json else show(str(drift))
    if drift.found:
        raise typer.Exit(1)
