"""The demonstration on the paper's synthetic problem: every method compared with the oracle."""

from collections.abc import Iterator

import numpy as np

from repair._utils.text_tables import text_table
from repair.datasets.synthetic import SyntheticProblem, SyntheticSettings, make_synthetic
from repair.demo.synthetic_methods import fit_and_score, usual_methods
from repair.evaluation.evaluate import Evaluation
from repair.evaluation.metric_table import METRICS, format_metric
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import title_of

__all__ = ["comparison_table", "evaluate_methods", "run_synthetic"]

COLUMNS = ("coverage", "hit@1", "hit@3", "mrr", "rare", "frequent", "hfr", "gap_closure")


def evaluate_methods(problem: SyntheticProblem) -> tuple[dict[str, Evaluation], dict[str, ShortlistReranker]]:
    """Fit every method on the calibration part, and evaluate it and the oracle on the test part."""
    return fit_and_score(problem, usual_methods())


def run_synthetic(seed: int = 0, *, separable: bool = False) -> Iterator[str]:
    """Run the paper's synthetic problem, and yield the texts to print, one after the other.

    Parameters
    ----------
    seed : int, default 0
        Seed for the random draw of the problem.
    separable : bool, default False
        Whether to leave out the contradictory pairs.

    Yields
    ------
    str

    Examples
    --------
    >>> from repair.demo import run_synthetic
    >>> print(next(run_synthetic(seed=3, separable=True)))
    The paper's synthetic problem: K = 100 classes with a Zipf prior, k = 10, class-separable,
    5000 calibration rows, 2000 test rows, seed 3.
    """
    settings = SyntheticSettings(seed=seed, n_pairs=0 if separable else SyntheticSettings.n_pairs)
    regime = "class-separable" if separable else f"{settings.n_pairs} contradictory pairs"
    yield (
        f"The paper's synthetic problem: K = {settings.n_classes} classes with a Zipf prior, k = "
        f"{settings.n_candidates}, {regime},\n{settings.n_calibration} calibration rows, "
        f"{settings.n_test} test rows, seed {seed}."
    )
    problem = make_synthetic(settings)
    results, fitted = evaluate_methods(problem)
    yield comparison_table(results)
    tau = fitted["logit_adjustment"].tau_
    yield (
        f"All methods were fitted on the calibration rows only. LogitAdj chose tau = {tau:g}. Hit@1 and the columns\n"
        "after it are over covered rows (true class on the shortlist); accuracy is over all rows. Gap closed is the\n"
        "share of the gap between the base order and perfect reranking that is closed. The oracle ranks the same\n"
        "shortlists by the true posterior. No reranker does better on average."
    )
    row = _overtaking_row(fitted["pairwise"], problem)
    if row is not None:
        yield f"Why Pairwise changed test row {row} (true class {problem.test.labels[row]}):"
        yield str(fitted["pairwise"].explain(problem.test.scores[row]))


def comparison_table(results: dict[str, Evaluation]) -> str:
    """Return a table with one line per method."""
    rows = []
    for name, result in results.items():
        cells = [format_metric(result.conditional[key], key) for key in COLUMNS]
        rows.append([title_of(name), *cells, format_metric(result.unconditional["hit@1"], "hit@1")])
    return text_table(["method", *(METRICS[key].title for key in COLUMNS), "Accuracy"], rows)


def _overtaking_row(model: ShortlistReranker, problem: SyntheticProblem) -> int | None:
    """Return the first test row that the base order gets wrong and the model gets right, or None."""
    ranking = model.rerank(problem.test.scores)
    fixed = (ranking.best == problem.test.labels) & (ranking.order[:, 0] > 0)
    return int(np.argmax(fixed)) if fixed.any() else None
