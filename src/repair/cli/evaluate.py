"""``repair evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Dial, Embeddings, Json, NewClasses, RowOptions, StrataRule

if TYPE_CHECKING:
    from repair.data.score_set import ScoreSet
    from repair.diagnosis.checks import Check
    from repair.diagnosis.verdict import Verdict
    from repair.evaluation.evaluate import Evaluation
    from repair.rerankers.base import ShortlistReranker

__all__ = ["evaluate"]


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model written by `repair fit`.", show_default=False)],
    test: Annotated[Path, typer.Argument(help="Labelled rows that the model was not fitted on.", show_default=False)],
    rows: RowOptions,
    classes: NewClasses = None,
    embeddings: Embeddings = None,
    dial: Dial = None,
    strata: StrataRule = None,
    json: Json = False,
) -> None:
    """Compare a model with the base order on labelled rows: the gain with its interval, and all metrics."""
    from repair._utils.progress import progress_bar
    from repair.cli.inputs import read_for_model, warn_of_fitted_rows
    from repair.cli.output import note, show, show_json
    from repair.cli.vectors import with_vectors_for
    from repair.data.ranking import Ranking
    from repair.evaluation.evaluate import evaluate as score
    from repair.rerankers.loading import load

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
            name: score(
                ranking,
                given.labels,
                reranker.class_counts_,
                file.class_names,
                given.groups,
                strata=strata,
                base=False,
            )
            for name, ranking in rankings.items()
        }
        step()
    if given.sample_weight is not None:
        note("row weights are ignored: an evaluation weighs all rows, or all groups, equally")
    verdict = _judge(results, reranker, given, dial, strata)
    if json:
        show_json({"model": str(model), "mode": reranker.mode_, "verdict": verdict, **_numbers(results)})
    else:
        show(f"{verdict}\n\n{_describe(results, reranker.mode_)}")


def _judge(
    results: dict[str, Evaluation],
    model: ShortlistReranker,
    given: ScoreSet,
    dial: float | str | None,
    strata: str | None,
) -> Verdict:
    """Return the verdict on these rows."""
    from repair.diagnosis.judging import judge
    from repair.diagnosis.measured_rows import Basis, MeasuredRows
    from repair.model.adjustments import MACRO
    from repair.stats.row_weights import number_of_units
    from repair.validation.checks import check_group_codes

    before, after = results["base"], results["model"]
    groups = None if given.groups is None else check_group_codes(given.groups, "groups", len(given))
    n_groups = None if groups is None else number_of_units(len(given), groups)
    rows = MeasuredRows(
        before.rows["hit@1"],
        after.rows["hit@1"],
        after.ids,
        after.weights,
        groups,
        model.class_counts_,
        Basis(after.n_rows, after.n_covered, n_groups, None),
        strata,
    )
    macro = (model.dial_ if dial is None else dial) == MACRO
    return judge(rows, model.mode_, checks=_failed_checks(model, given, before), macro=macro)


def _failed_checks(model: ShortlistReranker, given: ScoreSet, base: Evaluation) -> tuple[Check, ...]:
    """Return the failed checks of these rows: rows of the fit, and labels, scores and counts in another order."""
    import numpy as np

    from repair.cli.inputs import fitted_rows_problem
    from repair.data.class_order import order_problems
    from repair.diagnosis.checks import failed_check

    state = model.state
    shortlist = given.shortlist(state.n_candidates, None, state.scale)
    table = state.correction.table
    label_counts = np.bincount(base.ids[base.ids >= 0], minlength=table.n_classes).astype(np.float64)
    # Distances are converted, so their sign is that of the shortlist.
    dense = given.scores if isinstance(given.scores, np.ndarray) and not state.scale.converts else None
    problems = {"RP110": fitted_rows_problem(model, given)}
    found = order_problems(shortlist, base.ids, table, label_counts, dense)
    problems |= dict(zip(("RP115", "RP116", "RP117"), found, strict=True))
    return tuple(
        failed_check(code, f"{problem[0].upper()}{problem[1:]}.") for code, problem in problems.items() if problem
    )


def _numbers(results: dict[str, Evaluation]) -> dict[str, Any]:
    model = results["model"]
    numbers: dict[str, Any] = {"n_rows": model.n_rows, "n_covered": model.n_covered}
    for name, result in results.items():
        numbers[name] = {"conditional": result.conditional, "unconditional": result.unconditional}
    return numbers


def _describe(results: dict[str, Evaluation], mode: str) -> str:
    from repair._utils.text_tables import text_table
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
    grouped = "" if (model.weights == 1.0).all() else ". Every group counts once: its rows weigh 1/(group size)"
    return f"{text_table(header, lines)}\n{_covered(base, model, title)}{grouped}\n{UNITS}"


def _covered(base: Evaluation, model: Evaluation, mode: str) -> str:
    """Return a sentence about covered rows.  A model may build its own shortlists, which cover other rows."""
    if (base.rows["covered"] == model.rows["covered"]).all():
        return f"{model.n_covered} of {model.n_rows} rows covered"
    return (
        f"{base.n_covered} of {base.n_rows} rows covered by Base, {model.n_covered} by {mode}, which builds its own "
        "shortlists. Compare the columns over all rows"
    )
