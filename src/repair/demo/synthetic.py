"""The paper's synthetic problem, every method beside the oracle."""

from collections.abc import Iterator

import numpy as np

from repair.bench.synthetic import SyntheticProblem, SyntheticSettings, make_synthetic
from repair.bench.synthetic_methods import fit_and_score, usual_methods
from repair.estimator import ShortlistReranker
from repair.evaluation import Evaluation
from repair.tables import text_table

__all__ = ["comparison_table", "evaluate_methods", "run_synthetic"]

COLUMNS = {
    "coverage": "coverage",
    "hit@1": "Hit@1",
    "hit@3": "Hit@3",
    "mrr": "MRR",
    "rare": "Rare",
    "frequent": "Frequent",
    "hfr": "HFR",
    "gap_closure": "gap closed",
}
PERCENT = ("coverage", "hit@1", "hit@3", "rare", "frequent")


def evaluate_methods(problem: SyntheticProblem) -> tuple[dict[str, Evaluation], dict[str, ShortlistReranker]]:
    """Fit every method on the calibration part and score it, and the oracle, on the test part."""
    return fit_and_score(problem, usual_methods())


def run_synthetic(seed: int = 0, *, separable: bool = False) -> Iterator[str]:
    """Run the paper's synthetic problem and yield what to print, piece by piece.

    Parameters
    ----------
    seed : int, default 0
        Which problem to draw.
    separable : bool, default False
        Leave the contradictory pairs out.

    Yields
    ------
    str

    Examples
    --------
    >>> from repair.demo import run_synthetic
    >>> print(next(run_synthetic(seed=3, separable=True)))
    Synthetic problem after the paper: K = 100 classes with a Zipf prior, k = 10, class-separable,
    5000 calibration rows, 2000 test rows, seed 3.
    """
    settings = SyntheticSettings(seed=seed, n_pairs=0 if separable else SyntheticSettings.n_pairs)
    regime = "class-separable" if separable else f"{settings.n_pairs} contradictory pairs"
    yield (
        f"Synthetic problem after the paper: K = {settings.n_classes} classes with a Zipf prior, k = "
        f"{settings.n_candidates}, {regime},\n{settings.n_calibration} calibration rows, "
        f"{settings.n_test} test rows, seed {seed}."
    )
    problem = make_synthetic(settings)
    results, fitted = evaluate_methods(problem)
    yield comparison_table(results)
    yield (
        f"Fitted on the calibration rows only; LogitAdj chose tau = {fitted['LogitAdj'].tau_:g} there. Hit@1 and all\n"
        "that follow are over covered rows (true class on the shortlist), accuracy over all rows; gap closed is the\n"
        "share of base errors on covered rows that is mended. The oracle ranks the same shortlists by the true\n"
        "posterior: no reranker does better on average."
    )
    row = _overtaking_row(fitted["REPAIR"], problem)
    if row is not None:
        yield f"Why REPAIR changed test row {row} (true class {problem.test.labels[row]}):"
        yield str(fitted["REPAIR"].explain(problem.test.scores[row]))


def comparison_table(results: dict[str, Evaluation]) -> str:
    """Return one line per method."""
    rows = []
    for name, result in results.items():
        cells = [
            f"{100 * result.conditional[key]:.1f}" if key in PERCENT else f"{result.conditional[key]:.3f}"
            for key in COLUMNS
        ]
        rows.append([name, *cells, f"{100 * result.unconditional['hit@1']:.1f}"])
    return text_table(["method", *COLUMNS.values(), "accuracy"], rows)


def _overtaking_row(model: ShortlistReranker, problem: SyntheticProblem) -> int | None:
    """Return the first test row that the base model gets wrong and the model gets right."""
    ranking = model.rerank(problem.test.scores)
    mended = (ranking.best == problem.test.labels) & (ranking.order[:, 0] > 0)
    return int(np.argmax(mended)) if mended.any() else None
