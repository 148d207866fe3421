"""Ranking metrics, with one number per row, so a bootstrap can resample them.

Every function takes a `Ranking` instead of raw scores, so ties and NaN are treated in the same way
everywhere.  A row whose label is not on the shortlist is *uncovered*.  Rates count it as 0, so the
mean over all rows is the unconditional metric, and the mean over covered rows is the paper's
conditional metric.  NaN marks rows for which a metric is not defined.
"""

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import FloatArray, log_sum_exp
from repair.data.ranking import Ranking
from repair.validation.checks import check_count

__all__ = [
    "covered",
    "gap_closure",
    "hardest_rival_flip_rate",
    "hit_rate",
    "negative_log_likelihood",
    "reciprocal_rank",
]


def covered(ranking: Ranking, labels: ArrayLike) -> FloatArray:
    """Return 1 for rows whose label is on the shortlist, else 0.  The mean is the coverage, Recall@k.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.evaluation.metrics import covered
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 2, n_candidates=2)
    >>> covered(Ranking.from_scores(shortlist, shortlist.scores), [1, 2]).tolist()
    [1.0, 0.0]
    """
    return (ranking.positions(labels) >= 0).astype(np.float64)


def hit_rate(ranking: Ranking, labels: ArrayLike, at: int = 1) -> FloatArray:
    """Return 1 for rows whose label is among the first `at` candidates, else 0.  The mean is Hit@at.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.evaluation.metrics import hit_rate
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 2, n_candidates=2)
    >>> hit_rate(Ranking.from_scores(shortlist, shortlist.scores), [1, 0]).tolist()
    [0.0, 1.0]
    """
    positions = ranking.positions(labels)
    return ((positions >= 0) & (positions < check_count(at, "at"))).astype(np.float64)


def reciprocal_rank(ranking: Ranking, labels: ArrayLike) -> FloatArray:
    """Return 1/rank of the label, 0 for uncovered rows.  The mean is the MRR.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.evaluation.metrics import reciprocal_rank
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]], n_candidates=3)
    >>> reciprocal_rank(Ranking.from_scores(shortlist, shortlist.scores), [1]).tolist()
    [0.5]
    """
    positions = ranking.positions(labels)
    return np.where(positions >= 0, 1.0 / (np.maximum(positions, 0) + 1.0), 0.0)


def hardest_rival_flip_rate(ranking: Ranking, labels: ArrayLike) -> FloatArray:
    """Return 1 for rows whose label now ranks above the base model's first choice, else 0.  The mean is the HFR.

    It is defined for covered rows on which the base model is wrong, and NaN for all others.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.evaluation.metrics import hardest_rival_flip_rate
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 2, n_candidates=3)
    >>> ranking = Ranking.from_scores(shortlist, [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    >>> hardest_rival_flip_rate(ranking, [1, 0]).tolist()
    [1.0, nan]
    """
    positions = ranking.positions(labels)
    rival = ranking.order.argmin(axis=1)
    return np.where((positions >= 0) & ~_base_is_right(ranking, labels), (positions < rival).astype(np.float64), np.nan)


def negative_log_likelihood(ranking: Ranking, labels: ArrayLike) -> FloatArray:
    """Return −log q of the label under the softmax of the ranking's scores, NaN for uncovered rows.

    The loss is infinite if the score of the label is NaN or −Inf.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.evaluation.metrics import negative_log_likelihood
    >>> shortlist = Shortlist.from_scores([[1.0, 1.0]], n_candidates=2)
    >>> ranking = Ranking.from_scores(shortlist, shortlist.scores)
    >>> negative_log_likelihood(ranking, [0]).round(4).tolist()
    [0.6931]
    """
    positions = ranking.positions(labels)
    scores = np.where(np.isnan(ranking.scores), -np.inf, ranking.scores)  # a NaN has probability 0
    label_score = scores[np.arange(len(ranking)), np.maximum(positions, 0)]
    loss = np.where(np.isneginf(label_score), np.inf, log_sum_exp(scores) - label_score)
    return np.where(positions >= 0, loss, np.nan)


def gap_closure(
    ranking: Ranking, labels: ArrayLike, *, unconditional: bool = False, weights: FloatArray | None = None
) -> float:
    """Return ρ, the share of the gap between the base and perfect reranking that is closed, NaN without a gap.

    The conditional form is (Hit@1 − Hit@1 of base) / (1 − Hit@1 of base) on covered rows.  The
    unconditional form is (accuracy − base accuracy) / (coverage − base accuracy).  Both are equal.
    `weights` are the row weights, which are equal by default.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.evaluation.metrics import gap_closure
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 2, n_candidates=3)
    >>> ranking = Ranking.from_scores(shortlist, [[0.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    >>> gap_closure(ranking, [1, 2])
    0.5
    """
    hits = hit_rate(ranking, labels)
    before = _base_is_right(ranking, labels).astype(np.float64)
    inside = covered(ranking, labels)
    weights = np.ones(len(hits)) if weights is None else weights
    if not (inside > before).any():
        return float("nan")
    if unconditional:
        accuracy, base, ceiling = (float(np.average(values, weights=weights)) for values in (hits, before, inside))
        return (accuracy - base) / (ceiling - base)
    rows = inside > 0
    rate, base = (float(np.average(values[rows], weights=weights[rows])) for values in (hits, before))
    return (rate - base) / (1.0 - base)


def _base_is_right(ranking: Ranking, labels: ArrayLike) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return whether the base model's first choice is the label, using `order`."""
    positions = ranking.positions(labels)
    rows = np.arange(len(ranking))
    right: np.ndarray[tuple[int], np.dtype[np.bool_]] = (positions >= 0) & (
        ranking.order[rows, np.maximum(positions, 0)] == 0
    )
    return right
