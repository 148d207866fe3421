"""``repair rerank``."""

from pathlib import Path
from typing import Annotated

import typer

from repair.cli.options import Dial, Embeddings, Json, NewClasses, RowOptions

__all__ = ["rerank"]


def rerank(
    model: Annotated[Path, typer.Argument(help="A model written by `repair fit`.", show_default=False)],
    scores: Annotated[
        Path, typer.Argument(help="New rows with scores, in any layout. - is standard input.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write. Its ending determines the format. - prints CSV.", show_default=False
        ),
    ],
    rows: RowOptions,
    classes: NewClasses = None,
    layout: Annotated[
        str | None,
        typer.Option(
            help="Layout of the output: lists (one line per row) or long (one line per candidate). "
            "Default: long if the input is long, else lists."
        ),
    ] = None,
    embeddings: Embeddings = None,
    dial: Dial = None,
    json: Json = False,
) -> None:
    """Rerank the candidates of each row, and write them together with the other columns of the input."""
    import numpy as np

    from repair._utils.progress import progress_bar
    from repair.cli.inputs import check_output, kept_columns, read_for_model
    from repair.cli.output import note, show, show_json
    from repair.cli.pipes import PIPE, to_pipe
    from repair.cli.vectors import with_vectors_for
    from repair.io import write_ranking
    from repair.io.formats import format_of
    from repair.rerankers.loading import load
    from repair.validation.checks import check_choice

    if out != PIPE:
        check_output(out, model, scores, classes, rows, embeddings)
    if layout is not None:
        check_choice(layout, "layout", ("lists", "long"))
    arrays = out != PIPE and format_of(out).is_arrays
    with to_pipe(out) as target, progress_bar("reranking", 3, show=True) as step:
        reranker, file = read_for_model(load(model), scores, rows, classes, need_labels=False)
        file = with_vectors_for(reranker, file, embeddings)
        step()
        shortlist = reranker.shortlist(file.rows)
        ranking = reranker.rerank(shortlist, dial=dial)
        step()
        write_ranking(
            target,
            ranking,
            class_names=reranker.state.correction.table.class_names,
            probabilities=ranking.probabilities,
            row_ids=file.row_ids,
            other=kept_columns(file, rows, arrays=arrays),
            layout=layout or ("long" if file.layout == "long" else "lists"),
            row_name=file.row_name or "row",
            columns=file.columns,
            base_scores=reranker.state.scale.undo(np.take_along_axis(shortlist.scores, ranking.order, axis=1)),
        )
        step()
    changed = int((ranking.order[:, 0] > 0).sum())
    if out == PIPE:
        note(f"reranked {len(ranking)} rows; the first class changed on {changed} of them")
    elif json:
        show_json({"out": str(out), "rows": len(ranking), "changed": changed, "new_classes": file.new_classes})
    else:
        show(f"Wrote {len(ranking)} rows to {out}. The first class changed on {changed} of them.")
