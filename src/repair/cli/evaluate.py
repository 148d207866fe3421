"""``repair evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Dial, Embeddings, Json, NewClasses, RowOptions

if TYPE_CHECKING:
    from repair._utils.arrays import IntArray
    from repair.evaluation.evaluate import Evaluation
    from repair.stats.paired_gains import PairedGain

__all__ = ["evaluate"]


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model written by `repair fit`.", show_default=False)],
    test: Annotated[Path, typer.Argument(help="Labelled rows that the model was not fitted on.", show_default=False)],
    rows: RowOptions,
    classes: NewClasses = None,
    embeddings: Embeddings = None,
    dial: Dial = None,
    json: Json = False,
) -> None:
    """Compare a model with the base order on labelled rows: all metrics, and the gain with its interval."""
    from repair._utils.progress import progress_bar
    from repair.cli.inputs import read_for_model, warn_of_fitted_rows
    from repair.cli.output import note, show, show_json
    from repair.cli.vectors import with_vectors_for
    from repair.data.ranking import Ranking
    from repair.evaluation.evaluate import evaluate as score
    from repair.rerankers.loading import load
    from repair.validation.checks import check_group_codes

    with progress_bar("evaluating", 2, show=True) as step:
        reranker, file = read_for_model(load(model), test, rows, classes)
        given = with_vectors_for(reranker, file, embeddings).rows
        warn_of_fitted_rows(reranker, given)
        step()
        shortlist = given.shortlist(reranker.state.n_candidates, None, reranker.state.scale)
        rankings = {
            "base": Ranking.from_corrected(shortlist, shortlist.scores),
            "model": reranker.rerank(given.scores, embeddings=given.embeddings, dial=dial),
        }
        assert given.labels is not None  # a file without labels has raised an error already
        results = {
            name: score(ranking, given.labels, reranker.class_counts_, file.class_names, given.groups)
            for name, ranking in rankings.items()
        }
        step()
    if given.sample_weight is not None:
        note("row weights are ignored: an evaluation weighs all rows, or all groups, equally")
    groups = None if given.groups is None else check_group_codes(given.groups, "groups", len(given))
    gains = _gains(results, groups)
    if json:
        show_json({"model": str(model), "mode": reranker.mode_, **_numbers(results), "difference": gains})
    else:
        show(_describe(results, gains, reranker.mode_))


def _gains(results: dict[str, Evaluation], groups: IntArray | None) -> dict[str, PairedGain]:
    """Return paired differences in accuracy over all rows, and over rows of rare and of frequent classes."""
    import numpy as np

    from repair.stats.paired_gains import paired_gain

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
    model = results["model"]
    numbers: dict[str, Any] = {"n_rows": model.n_rows, "n_covered": model.n_covered}
    for name, result in results.items():
        numbers[name] = {"conditional": result.conditional, "unconditional": result.unconditional}
    return numbers


def _describe(results: dict[str, Evaluation], gains: dict[str, PairedGain], mode: str) -> str:
    from repair._utils.text_tables import text_table
    from repair.cli.output import points
    from repair.evaluation.metric_table import METRICS, UNITS, format_metric
    from repair.rerankers.methods import title_of

    base, model = results["base"], results["model"]
    lines = []
    for name in model.conditional:
        cells = [base.conditional[name], model.conditional[name], base.unconditional.get(name), None]
        cells[3] = model.unconditional.get(name)
        lines.append([METRICS[name].title, *("" if cell is None else format_metric(cell, name) for cell in cells)])
    title = title_of(mode)
    header = ["metric", "Base, covered", f"{title}, covered", "Base, all rows", f"{title}, all rows"]
    titles = {"accuracy": "Accuracy", "rare": "Rare classes", "frequent": "Frequent classes"}
    differences = "\n".join(f"{titles[name]}: {points(gain)}" for name, gain in gains.items())
    grouped = "" if (model.weights == 1.0).all() else ". Every group counts once: its rows weigh 1/(group size)"
    return (
        f"{text_table(header, lines)}\n{_covered(base, model, title)}{grouped}\n{UNITS}\n\n"
        f"Difference from Base in accuracy over all rows, with 95 % interval:\n{differences}"
    )


def _covered(base: Evaluation, model: Evaluation, mode: str) -> str:
    """Return a sentence about covered rows.  A model may build its own shortlists, which cover other rows."""
    if (base.rows["covered"] == model.rows["covered"]).all():
        return f"{model.n_covered} of {model.n_rows} rows covered"
    return (
        f"{base.n_covered} of {base.n_rows} rows covered by Base, {model.n_covered} by {mode}, which builds its own "
        "shortlists. Compare the columns over all rows"
    )
