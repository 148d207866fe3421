"""``repair explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Dial, Embeddings, Json, NewClasses, RowOptions

if TYPE_CHECKING:
    from repair.io import ScoreFile

__all__ = ["explain"]


def explain(
    model: Annotated[Path, typer.Argument(help="A model written by `repair fit`.", show_default=False)],
    scores: Annotated[Path, typer.Argument(help="Rows with scores, in any layout.", show_default=False)],
    row: Annotated[str, typer.Option(help="Id of the row, or its number, counted from 0.", show_default=False)],
    rows: RowOptions,
    classes: NewClasses = None,
    embeddings: Embeddings = None,
    dial: Dial = None,
    json: Json = False,
) -> None:
    """Show the parts of each candidate's score on one row, and which candidates it overtook."""
    from repair.cli.inputs import read_for_model
    from repair.cli.output import show, show_json
    from repair.cli.vectors import with_vectors_for
    from repair.rerankers.loading import load

    reranker, file = read_for_model(load(model), scores, rows, classes, need_labels=False)
    file = with_vectors_for(reranker, file, embeddings)
    number = _row_number(row, file)
    shortlist = reranker.shortlist(file.rows).take([number])
    explanation = reranker.explain(shortlist, dial=dial)
    label: Any = None if file.rows.labels is None else file.rows.labels[number]  # type: ignore[index]
    if json:
        show_json({"row": number, "label": label, "candidates": explanation.candidates})
        return
    show(f"Row {row}" + ("" if label is None else f", true class {label}") + ":")
    show(str(explanation))


def _row_number(row: str, file: ScoreFile) -> int:
    """Return the number of the row with this id, or `row` itself as a number if no row has this id."""
    from repair.errors import InputError

    ids = [] if file.row_ids is None else list(map(str, file.row_ids))
    if ids.count(row) > 1:
        raise InputError(
            f"{ids.count(row)} rows have the id {row!r}; give the number of the row instead, counted from 0"
        )
    if row in ids:
        return ids.index(row)
    if row.isascii() and row.isdigit() and int(row) < len(file):
        return int(row)
    example = f"ids look like {ids[0]!r}, and " if ids else ""
    raise InputError(f"there is no row {row!r}; {example}numbers run from 0 to {len(file) - 1}")
