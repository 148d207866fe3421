"""``repair explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Dial, Embeddings, Json, RowOptions

if TYPE_CHECKING:
    from repair.io import ScoreFile

__all__ = ["explain"]


def explain(
    model: Annotated[Path, typer.Argument(help="A model that `repair fit` wrote.", show_default=False)],
    scores: Annotated[Path, typer.Argument(help="Scores, in any layout.", show_default=False)],
    row: Annotated[str, typer.Option(help="The row's id, or its number from 0.", show_default=False)],
    rows: RowOptions,
    classes: Annotated[
        Path | None, typer.Option(help="Class table with groups, for classes that are new to the model.")
    ] = None,
    embeddings: Embeddings = None,
    dial: Dial = None,
    json: Json = False,
) -> None:
    """Show, for one row, what each candidate's score is made of and who overtook whom."""
    from repair.artifact import load
    from repair.cli.inputs import read_for_model
    from repair.cli.output import show, show_json
    from repair.cli.vectors import with_vectors_for

    reranker, file = read_for_model(load(model), scores, rows, classes, need_labels=False)
    file = with_vectors_for(reranker, file, embeddings)
    place = _place_of(row, file)
    shortlist = reranker._shortlist(file.rows.scores, file.rows.embeddings).take([place])
    explained = reranker.explain(shortlist, dial=dial)
    label: Any = None if file.rows.labels is None else file.rows.labels[place]  # type: ignore[index]
    if json:
        show_json({"row": place, "label": label, "candidates": explained.candidates})
        return
    show(f"Row {row}" + ("" if label is None else f", true class {label}") + ":")
    show(str(explained))


def _place_of(row: str, file: ScoreFile) -> int:
    """Return the place of a row, given by its id where rows have ids that say so, else by its number."""
    from repair.errors import InputError

    ids = [] if file.row_ids is None else list(map(str, file.row_ids))
    if ids.count(row) > 1:
        raise InputError(f"{ids.count(row)} rows have the id {row!r}; give the number of the one you mean, from 0 on")
    if row in ids:
        return ids.index(row)
    if row.isascii() and row.isdigit() and int(row) < len(file):
        return int(row)
    known = f"ids are such as {ids[0]!r}, and " if ids else ""
    raise InputError(f"there is no row {row!r}; {known}numbers run from 0 to {len(file) - 1}")
