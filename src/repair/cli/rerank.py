"""``repair rerank``."""

from pathlib import Path
from typing import Annotated

import typer

from repair.cli.options import Dial, Embeddings, Json, RowOptions

__all__ = ["rerank"]


def rerank(
    model: Annotated[Path, typer.Argument(help="A model that `repair fit` wrote.", show_default=False)],
    scores: Annotated[Path, typer.Argument(help="Scores of new rows, in any layout.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where to write; the ending says the format.", show_default=False)
    ],
    rows: RowOptions,
    classes: Annotated[
        Path | None, typer.Option(help="Class table with groups, for classes that are new to the model.")
    ] = None,
    layout: Annotated[
        str | None, typer.Option(help="lists (one line per row) or long (one per candidate); else as the input.")
    ] = None,
    embeddings: Embeddings = None,
    dial: Dial = None,
    json: Json = False,
) -> None:
    """Rerank each row's candidates and write them beside the columns they came with."""
    import numpy as np

    from repair.artifact import load
    from repair.cli.inputs import check_output, kept_columns, read_for_model
    from repair.cli.output import show, show_json
    from repair.cli.vectors import with_vectors_for
    from repair.inputs import check_choice
    from repair.io import write_ranking
    from repair.io.formats import format_of
    from repair.progress import progress_bar

    check_output(out, model, scores, classes, rows, embeddings)
    if layout is not None:
        check_choice(layout, "layout", ("lists", "long"))
    arrays = format_of(out).is_arrays
    with progress_bar("reranking", 3, show=True) as step:
        reranker, file = read_for_model(load(model), scores, rows, classes, need_labels=False)
        file = with_vectors_for(reranker, file, embeddings)
        step()
        shortlist = reranker._shortlist(file.rows.scores, file.rows.embeddings)
        ranking = reranker.rerank(shortlist, dial=dial)
        probabilities = reranker.predict_proba(shortlist, dial=dial)
        step()
        write_ranking(
            out,
            ranking,
            class_names=reranker._fitted().correction.table.class_names,
            probabilities=probabilities,
            row_ids=file.row_ids,
            other=kept_columns(file, rows, arrays=arrays),
            layout=layout or ("long" if file.layout == "long" else "lists"),
            row_name=file.row_name or "row",
            base_scores=np.take_along_axis(shortlist.scores, ranking.order, axis=1),
        )
        step()
    changed = int((ranking.order[:, 0] > 0).sum())
    if json:
        show_json({"out": str(out), "rows": len(ranking), "changed": changed, "new_classes": file.new_classes})
    else:
        show(f"Wrote {len(ranking)} rows to {out}; {changed} have another first class than before.")
