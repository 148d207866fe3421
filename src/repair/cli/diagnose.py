"""``repair diagnose``."""

from pathlib import Path
from typing import Annotated

import typer

from repair.cli.options import Candidates, ClassOptions, Json, RowOptions, Seed

__all__ = ["diagnose"]


def diagnose(
    calibration: Annotated[Path, typer.Argument(help="Scores with labels.", show_default=False)],
    rows: RowOptions,
    classes: ClassOptions,
    test: Annotated[Path | None, typer.Option(help="Test rows, to be looked for among the calibration rows.")] = None,
    n_candidates: Candidates = 10,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say whether a correction is worth having, which one, and whether the rows can tell.

    Ends with 1 if a check of severity "error" failed: then no result on these rows is to be trusted.
    """
    from repair.cli.inputs import read_calibration, read_pair
    from repair.cli.output import note, show, show_json
    from repair.diagnosis import diagnose as look

    if test is None:
        file, other = read_calibration(calibration, rows, classes), None
    else:
        file, other = read_pair(calibration, test, rows, classes, need_labels=False)
    given = file.rows
    if given.sample_weight is not None:
        note("row weights are left out: a diagnosis weighs all rows, or groups, alike")
    found = look(
        given.scores,
        given.labels,
        given.class_counts,
        similarity=given.similarity,
        groups=given.groups,
        class_names=given.class_names,
        test=None if other is None else other.rows,
        n_candidates=n_candidates,
        seed=seed,
        progress=True,
    )
    show_json(found.to_dict()) if json else show(str(found))
    if any(check.severity == "error" for check in found.failed):
        raise typer.Exit(1)
