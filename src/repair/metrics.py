"""Ranking metrics as one number per row, so that a bootstrap can resample them.

Every function reads a `Ranking`, never raw scores, so that ties and NaN mean one thing.  A row
whose label is not on the shortlist is *uncovered*: rates count it as 0, so that the mean over all
rows is the unconditional metric, and the mean over covered rows the paper's conditional one.
NaN marks a row to which a metric does not apply.
"""

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import FloatArray
from repair.class_table import rare_classes
from repair.inputs import check_count
from repair.ranking import Ranking

__all__ = [
    "covered",
    "gap_closure",
    "hardest_rival_flip_rate",
    "hit_rate",
    "negative_log_likelihood",
    "rare_classes",
    "reciprocal_rank",
]


def covered(ranking: Ranking, labels: ArrayLike) -> FloatArray:
    """Return 1 where the label is on the shortlist (the mean is Recall@k), else 0.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.metrics import covered
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 2, n_candidates=2)
    >>> covered(Ranking.from_scores(shortlist, shortlist.scores), [1, 2]).tolist()
    [1.0, 0.0]
    """
    return (ranking.positions(labels) >= 0).astype(np.float64)


def hit_rate(ranking: Ranking, labels: ArrayLike, at: int = 1) -> FloatArray:
    """Return 1 where the label is among the first `at` candidates (Hit@at), else 0.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.metrics import hit_rate
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 2, n_candidates=2)
    >>> hit_rate(Ranking.from_scores(shortlist, shortlist.scores), [1, 0]).tolist()
    [0.0, 1.0]
    """
    positions = ranking.positions(labels)
    return ((positions >= 0) & (positions < check_count(at, "at"))).astype(np.float64)


def reciprocal_rank(ranking: Ranking, labels: ArrayLike) -> FloatArray:
    """Return 1/rank of the label (the mean is MRR), 0 where it is not on the shortlist.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.metrics import reciprocal_rank
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]], n_candidates=3)
    >>> reciprocal_rank(Ranking.from_scores(shortlist, shortlist.scores), [1]).tolist()
    [0.5]
    """
    positions = ranking.positions(labels)
    return np.where(positions >= 0, 1.0 / (np.maximum(positions, 0) + 1.0), 0.0)


def hardest_rival_flip_rate(ranking: Ranking, labels: ArrayLike) -> FloatArray:
    """Return whether the label now stands above the base model's first choice (HFR).

    1 or 0 on covered rows that the base model got wrong, NaN on all others.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.metrics import hardest_rival_flip_rate
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 2, n_candidates=3)
    >>> ranking = Ranking.from_scores(shortlist, [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    >>> hardest_rival_flip_rate(ranking, [1, 0]).tolist()
    [1.0, nan]
    """
    positions = ranking.positions(labels)
    rival = ranking.order.argmin(axis=1)
    return np.where((positions >= 0) & ~_base_is_right(ranking, labels), (positions < rival).astype(np.float64), np.nan)


def negative_log_likelihood(ranking: Ranking, labels: ArrayLike) -> FloatArray:
    """Return −log q of the label under the softmax of the ranking's scores, NaN if uncovered.

    A label whose own score is NaN or −Inf has infinite loss.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.metrics import negative_log_likelihood
    >>> shortlist = Shortlist.from_scores([[1.0, 1.0]], n_candidates=2)
    >>> ranking = Ranking.from_scores(shortlist, shortlist.scores)
    >>> negative_log_likelihood(ranking, [0]).round(4).tolist()
    [0.6931]
    """
    positions = ranking.positions(labels)
    scores = np.where(np.isnan(ranking.scores), -np.inf, ranking.scores)  # a NaN has no share of the mass
    best = scores.max(axis=1)
    best = np.where(np.isneginf(best), 0.0, best)
    mass = np.exp(scores - best[:, None]).sum(axis=1)
    own = scores[np.arange(len(ranking)), np.maximum(positions, 0)]
    loss = np.where(np.isneginf(own), np.inf, np.log(np.where(mass > 0, mass, 1.0)) + best - own)
    return np.where(positions >= 0, loss, np.nan)


def gap_closure(
    ranking: Ranking, labels: ArrayLike, *, unconditional: bool = False, weights: FloatArray | None = None
) -> float:
    """Return ρ, the share of the recoverable gap that was closed; NaN if there was none.

    Conditional form: (Hit@1 − Hit@1 of base) / (1 − Hit@1 of base) on covered rows.
    Unconditional form: (accuracy − base accuracy) / (coverage − base accuracy).  They agree.
    `weights` says what each row counts for; by default all count alike.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> from repair.metrics import gap_closure
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
        accuracy, base, ceiling = (float(np.average(one, weights=weights)) for one in (hits, before, inside))
        return (accuracy - base) / (ceiling - base)
    rows = inside > 0
    rate, base = (float(np.average(one[rows], weights=weights[rows])) for one in (hits, before))
    return (rate - base) / (1.0 - base)


def _base_is_right(ranking: Ranking, labels: ArrayLike) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Say whether the base model's first choice, found through `order`, was the label."""
    positions = ranking.positions(labels)
    rows = np.arange(len(ranking))
    right: np.ndarray[tuple[int], np.dtype[np.bool_]] = (positions >= 0) & (
        ranking.order[rows, np.maximum(positions, 0)] == 0
    )
    return right
