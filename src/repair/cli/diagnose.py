"""``repair diagnose``."""

from pathlib import Path
from typing import Annotated

import typer

from repair.cli.options import (
    Candidates,
    ClassOptions,
    Embeddings,
    Json,
    ReferenceOptions,
    RowOptions,
    Seed,
    StrataRule,
)

__all__ = ["diagnose"]


def diagnose(
    calibration: Annotated[Path, typer.Argument(help="Labelled rows.", show_default=False)],
    rows: RowOptions,
    classes: ClassOptions,
    reference: ReferenceOptions,
    embeddings: Embeddings = None,
    test: Annotated[
        Path | None, typer.Option(help="Test rows. A check fails if any of them are among the calibration rows.")
    ] = None,
    n_candidates: Candidates = 10,
    strata: StrataRule = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find out whether a correction would help, which one, and whether there are enough rows to tell.

    The exit code is 1 if a check of severity "error" failed, or if the whole gain may come from copies of rows. Results
    on these rows are then not reliable.
    """
    from repair.cli.inputs import read_calibration, read_pair
    from repair.cli.output import show, show_json
    from repair.cli.vectors import with_reference, with_vectors
    from repair.diagnosis import diagnose as run

    if test is None:
        file, other = read_calibration(calibration, rows, classes), None
    else:
        file, other = read_pair(calibration, test, rows, classes, need_labels=False)
    file = with_reference(with_vectors(file, embeddings), reference)
    diagnosis = run(
        file.rows,
        test=None if other is None else other.rows,
        n_candidates=n_candidates,
        strata=strata,
        random_state=seed,
        progress=True,
    )
    show_json(diagnosis.to_dict()) if json else show(str(diagnosis))
    if diagnosis.verdict.errors:
        raise typer.Exit(1)
