"""The metrics of a comparison, and bootstrap resamples of all of them together."""

from collections.abc import Sequence

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.evaluation.evaluate import Evaluation
from repair.stats.paired_gains import bootstrap_ratios

__all__ = ["COMPARED", "LOWER_IS_BETTER", "QUESTIONS", "metric_ratios", "metric_values", "resample_metrics"]


#: The metrics of a comparison, and the question that each answers.  If all methods have the same shortlists, gap
#: closure and accuracy order two methods exactly as Hit@1 does.  They then answer the same question, so Holm's
#: correction counts them once.  Coverage depends only on the shortlists and answers no question about the methods.
QUESTIONS = {
    "coverage": "",
    "hit@1": "hit@1",
    "hit@3": "hit@3",
    "mrr": "mrr",
    "rare": "rare",
    "frequent": "frequent",
    "macro": "macro",
    "hfr": "hfr",
    "gap_closure": "hit@1",
    "nll": "nll",
    "accuracy": "hit@1",
    "accuracy_rare": "rare",
    "accuracy_frequent": "frequent",
}
COMPARED = tuple(QUESTIONS)
LOWER_IS_BETTER = ("nll",)
UNCONDITIONAL = {"accuracy": "hit@1", "accuracy_rare": "rare", "accuracy_frequent": "frequent"}


def metric_values(result: Evaluation) -> dict[str, float]:
    """Return the metrics of one evaluation by the names used in comparisons.

    Examples
    --------
    >>> from repair import Ranking, Shortlist, evaluate
    >>> from repair.comparison.resampled_metrics import metric_values
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]], n_candidates=2)
    >>> values = metric_values(evaluate(Ranking.from_scores(shortlist, shortlist.scores), [0, 2]))
    >>> values["hit@1"], values["accuracy"]
    (1.0, 0.5)
    """
    return {
        name: result.unconditional[UNCONDITIONAL[name]] if name in UNCONDITIONAL else result.conditional[name]
        for name in COMPARED
    }


def metric_ratios(rows: dict[str, AnyArray]) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return each metric except macro as (numerators, denominators).  The metric is the ratio of their sums.

    Examples
    --------
    >>> from repair import Ranking, Shortlist, evaluate
    >>> from repair.comparison.resampled_metrics import metric_ratios
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]], n_candidates=2)
    >>> result = evaluate(Ranking.from_scores(shortlist, shortlist.scores), [0, 2])
    >>> [part.tolist() for part in metric_ratios(result.rows)["hit@1"]]
    [[1.0, 0.0], [1.0, 0.0]]
    """
    covered, hits = rows["covered"], rows["hit@1"]
    everything = np.ones(len(hits))
    rare, frequent = rows["rare"].astype(np.float64), rows["frequent"].astype(np.float64)
    base_wrong = (~np.isnan(rows["hfr"])).astype(np.float64)  # HFR is defined on exactly these rows
    return {
        "coverage": (covered, everything),
        "hit@1": (hits, covered),
        "hit@3": (rows["hit@3"], covered),
        "mrr": (rows["mrr"], covered),
        "rare": (hits * rare, covered * rare),
        "frequent": (hits * frequent, covered * frequent),
        "hfr": (np.where(base_wrong > 0, rows["hfr"], 0.0), base_wrong),
        "gap_closure": (hits - (covered - base_wrong), base_wrong),
        "nll": (np.where(covered > 0, rows["nll"], 0.0), covered),
        "accuracy": (hits, everything),
        "accuracy_rare": (hits * rare, rare),
        "accuracy_frequent": (hits * frequent, frequent),
    }


def resample_metrics(
    methods: Sequence[dict[str, AnyArray]],
    weights: FloatArray,
    groups: IntArray | None,
    resamples: int,
    seed: int,
) -> FloatArray:
    """Return every metric of every method in the same bootstrap resamples of the test rows.

    Macro is left out.  A resample loses about a third of the classes that have a single row, and
    cannot measure variation within them.  With 60 classes on 300 long-tailed rows, nominal 95 %
    intervals contained the true value in 93 %, 87 % and, for a difference, 91 % of 500 simulations.
    Centring the intervals made this worse.

    Parameters
    ----------
    methods : sequence of dict
        The ``rows`` of one `Evaluation` per method.
    weights : ndarray (n,)
        Weight of each row.
    groups : ndarray of int (n,) or None
        Group codes of the rows.  Whole groups are drawn if they are given, else rows.
    resamples : int
        Number of resamples.
    seed : int
        Seed for the random draws.

    Returns
    -------
    ndarray (resamples, methods, metrics)
        Metrics in the order of `COMPARED`, NaN for macro and if a metric is not defined in a resample.

    Examples
    --------
    >>> from repair import Ranking, Shortlist, evaluate
    >>> from repair.comparison.resampled_metrics import resample_metrics
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]], n_candidates=2)
    >>> result = evaluate(Ranking.from_scores(shortlist, shortlist.scores), [0, 1])
    >>> resample_metrics([result.rows], result.weights, None, resamples=100, seed=0).shape
    (100, 1, 13)
    """
    ratios = [metric_ratios(rows) for rows in methods]
    numerators, denominators = (
        weights[:, None] * np.column_stack([ratio[part] for metrics in ratios for ratio in metrics.values()])
        for part in (0, 1)
    )
    # All methods and metrics use the same draws, so differences are paired.
    drawn = bootstrap_ratios(numerators, denominators, groups, resamples, seed)
    result = np.full((resamples, len(methods), len(COMPARED)), np.nan)
    columns = [COMPARED.index(name) for name in ratios[0]]
    result[:, :, columns] = drawn.reshape(resamples, len(methods), len(columns))
    return result
