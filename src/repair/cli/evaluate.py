"""``repair evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Dial, Embeddings, Json, RowOptions

if TYPE_CHECKING:
    from repair.arrays import IntArray
    from repair.evaluation import Evaluation
    from repair.statistics import PairedGain

__all__ = ["evaluate"]


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model that `repair fit` wrote.", show_default=False)],
    test: Annotated[Path, typer.Argument(help="Scores with labels that were not fitted on.", show_default=False)],
    rows: RowOptions,
    classes: Annotated[
        Path | None, typer.Option(help="Class table with groups, for classes that are new to the model.")
    ] = None,
    embeddings: Embeddings = None,
    dial: Dial = None,
    json: Json = False,
) -> None:
    """Score a model on labelled rows, beside the base order, with the interval of the difference."""
    from repair.artifact import load
    from repair.calibration import as_shortlist
    from repair.cli.inputs import read_for_model
    from repair.cli.output import note, show, show_json
    from repair.cli.vectors import with_vectors_for
    from repair.evaluation import evaluate as score
    from repair.inputs import check_group_codes
    from repair.progress import progress_bar
    from repair.ranking import Ranking

    with progress_bar("evaluating", 2, show=True) as step:
        reranker, file = read_for_model(load(model), test, rows, classes)
        given = with_vectors_for(reranker, file, embeddings).rows
        step()
        shortlist = as_shortlist(given.scores, reranker._fitted().n_candidates)
        rankings = {
            "base": Ranking.from_corrected(shortlist, shortlist.scores),
            "model": reranker.rerank(given.scores, embeddings=given.embeddings, dial=dial),
        }
        results = {
            name: score(ranking, given.labels, reranker.class_counts_, file.class_names, given.groups)
            for name, ranking in rankings.items()
        }
        step()
    if given.sample_weight is not None:
        note("row weights are left out: an evaluation weighs all rows, or groups, alike")
    groups = None if given.groups is None else check_group_codes(given.groups, "groups", len(given))
    gains = _gains(results, groups)
    if json:
        show_json({"model": str(model), "mode": reranker.mode_, **_numbers(results), "difference": gains})
    else:
        show(_described(results, gains, reranker.mode_))


def _gains(results: dict[str, Evaluation], groups: IntArray | None) -> dict[str, PairedGain]:
    """Return paired differences in accuracy over all rows, and over those of rare and frequent classes."""
    import numpy as np

    from repair.statistics import paired_gain

    first, second = results["base"], results["model"]
    difference = second.rows["hit@1"] - first.rows["hit@1"]
    everywhere = np.ones(len(difference), dtype=bool)
    strata = {"accuracy": everywhere, "rare": first.rows["rare"], "frequent": first.rows["frequent"]}
    return {
        name: paired_gain(difference[which], first.weights[which], None if groups is None else groups[which])
        for name, which in strata.items()
        if which.any()
    }


def _numbers(results: dict[str, Evaluation]) -> dict[str, Any]:
    one = results["model"]
    numbers: dict[str, Any] = {"n_rows": one.n_rows, "n_covered": one.n_covered}
    for name, result in results.items():
        numbers[name] = {"conditional": result.conditional, "unconditional": result.unconditional}
    return numbers


def _described(results: dict[str, Evaluation], gains: dict[str, PairedGain], mode: str) -> str:
    from repair.cli.output import points
    from repair.tables import text_table

    base, model = results["base"], results["model"]
    lines = []
    for name in model.conditional:
        cells = [base.conditional[name], model.conditional[name], base.unconditional.get(name), None]
        cells[3] = model.unconditional.get(name)
        lines.append([name, *("" if one is None else f"{one:.4f}" for one in cells)])
    header = ["metric", "Base, covered", f"{mode}, covered", "Base, all rows", f"{mode}, all rows"]
    titles = {"accuracy": "Accuracy", "rare": "Rare classes", "frequent": "Frequent classes"}
    differences = "\n".join(f"{titles[name]}: {points(gain)}" for name, gain in gains.items())
    grouped = "" if (model.weights == 1.0).all() else "; every group counts once, so its rows weigh 1/(group size)"
    return (
        f"{text_table(header, lines)}\n{_covered(base, model, mode)}{grouped}\n\n"
        f"Difference to Base in accuracy over all rows, with 95 % interval:\n{differences}"
    )


def _covered(base: Evaluation, model: Evaluation, mode: str) -> str:
    """Say how many rows are covered; a model may take shortlists of its own, which cover other rows."""
    if (base.rows["covered"] == model.rows["covered"]).all():
        return f"{model.n_covered} of {model.n_rows} rows covered"
    return (
        f"{base.n_covered} of {base.n_rows} rows covered by Base, {model.n_covered} by {mode}, which takes shortlists "
        "of its own: compare over all rows"
    )
