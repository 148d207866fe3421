"""One ranking against its labels: every metric, conditional and unconditional side by side."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.calibration import describe_unknown
from repair.class_table import rare_classes
from repair.errors import InputError, InputWarning, warn_user
from repair.inputs import check_class_names, check_class_vector, check_group_codes, check_labels
from repair.metrics import (
    covered,
    gap_closure,
    hardest_rival_flip_rate,
    hit_rate,
    negative_log_likelihood,
    reciprocal_rank,
)
from repair.named import align_to_classes
from repair.ranking import Ranking
from repair.tables import text_table

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The metrics of one ranking; prints as a table.

    Attributes
    ----------
    rows : dict of ndarray (n,)
        One value per row: ``covered``, ``hit@1``, ``hit@3``, ``hit@5``, ``mrr``, ``hfr``, ``nll``,
        and the masks ``rare`` and ``frequent``.
    conditional : dict of float
        Means over covered rows, as the paper reports them.  ``nll`` is that of the softmax of the
        ranking's scores: with a dial or costs those express wishes, and it grows.
    unconditional : dict of float
        Means over all rows; an uncovered row is a miss.  ``hfr`` and ``nll`` exist only for
        covered rows and are left out.
    n_rows, n_covered : int
    weights : ndarray (n,)
        What each row counts for: 1, or 1/(group size).
    """

    rows: dict[str, AnyArray]
    conditional: dict[str, float]
    unconditional: dict[str, float]
    n_rows: int
    n_covered: int
    weights: FloatArray

    def __str__(self) -> str:
        """Return the table."""
        rows = []
        for name, value in self.conditional.items():
            other = self.unconditional.get(name)
            rows.append([name, f"{value:.4f}", "" if other is None else f"{other:.4f}"])
        table = text_table(["metric", "covered rows", "all rows"], rows)
        return f"{table}\n{self.n_covered} of {self.n_rows} rows covered"


def evaluate(
    ranking: Ranking,
    labels: ArrayLike,
    class_counts: ArrayLike | None = None,
    class_names: object = None,
    groups: object = None,
) -> Evaluation:
    """Score a ranking against the true labels.

    Parameters
    ----------
    ranking : Ranking
        From any reranker's ``rerank``, or `Ranking.from_scores`.
    labels : array_like (n,)
        True class ids, or names if `class_names` is given; −1 or an unknown name is uncovered.
    class_counts : array_like (K,), optional
        Training examples per class, to tell rare from frequent; without them ``rare`` and
        ``frequent`` are NaN.  A fitted model offers them as ``class_counts_``.
    class_names : sequence of str, optional
        By default those that the ranking brings from its model.
    groups : array_like (n,), optional
        Rows that share a patient, document or session.  Each row then counts 1/(group size), so
        that no group counts more than another.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from repair import Ranking, Shortlist, evaluate
    >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]], n_candidates=2)
    >>> result = evaluate(Ranking.from_scores(shortlist, shortlist.scores), [0, 2])
    >>> result.conditional["hit@1"], result.unconditional["hit@1"], result.conditional["coverage"]
    (1.0, 0.5, 0.5)
    """
    if not isinstance(ranking, Ranking):
        raise InputError(
            f"evaluate takes the Ranking that rerank() returns, but got {type(ranking).__name__}; "
            "for scores from elsewhere use Ranking.from_scores(shortlist, scores)"
        )
    names = ranking.class_names
    if class_names is not None:
        names = check_class_names(class_names, ranking.n_classes)
    ids, unknown = check_labels(labels, len(ranking), ranking.n_classes, names)
    if unknown:
        warn_user(describe_unknown(unknown), InputWarning)
    class_counts = align_to_classes(class_counts, "class_counts", ranking.n_classes, names)
    rows: dict[str, AnyArray] = {
        "covered": covered(ranking, ids),
        "hit@1": hit_rate(ranking, ids, 1),
        "hit@3": hit_rate(ranking, ids, 3),
        "hit@5": hit_rate(ranking, ids, 5),
        "mrr": reciprocal_rank(ranking, ids),
        "hfr": hardest_rival_flip_rate(ranking, ids),
        "nll": negative_log_likelihood(ranking, ids),
        **_strata(ids, class_counts, ranking.n_classes),
    }
    codes = None if groups is None else check_group_codes(groups, "groups", len(ids))
    weights = np.ones(len(ids)) if codes is None else 1.0 / np.bincount(codes)[codes]
    inside = rows["covered"] > 0
    if not inside.any():
        raise InputError(f"none of the {len(ranking)} rows has its label on the shortlist; nothing to evaluate")
    everywhere = np.ones(len(ids), dtype=bool)
    coverage = {"coverage": mean_where(rows["covered"], everywhere, weights)}
    conditional = {**coverage, **_means(rows, ids, inside, weights)}
    conditional["hfr"] = mean_where(rows["hfr"], ~np.isnan(rows["hfr"]), weights)
    conditional["gap_closure"] = gap_closure(ranking, ids, weights=weights)
    conditional["nll"] = mean_where(rows["nll"], inside, weights)
    unconditional = {**coverage, **_means(rows, ids, everywhere, weights)}
    unconditional["gap_closure"] = gap_closure(ranking, ids, unconditional=True, weights=weights)
    return Evaluation(rows, conditional, unconditional, len(ids), int(inside.sum()), weights)


def _strata(ids: IntArray, class_counts: ArrayLike | None, n_classes: int) -> dict[str, AnyArray]:
    if class_counts is None:
        nobody = np.zeros(len(ids), dtype=bool)
        return {"rare": nobody, "frequent": nobody}
    rare = rare_classes(check_class_vector(class_counts, "class_counts", n_classes))
    return {"rare": (ids >= 0) & rare[ids], "frequent": (ids >= 0) & ~rare[ids]}


def _means(rows: dict[str, AnyArray], ids: IntArray, which: AnyArray, weights: FloatArray) -> dict[str, float]:
    means = {name: mean_where(rows[name], which, weights) for name in ("hit@1", "hit@3", "hit@5", "mrr")}
    means["rare"] = mean_where(rows["hit@1"], which & rows["rare"], weights)
    means["frequent"] = mean_where(rows["hit@1"], which & rows["frequent"], weights)
    means["macro"] = _class_mean(rows["hit@1"], ids, which & (ids >= 0), weights)
    return means


def _class_mean(values: FloatArray, ids: IntArray, which: AnyArray, weights: FloatArray) -> float:
    """Mean over the classes that occur of the class's own mean."""
    if not which.any():
        return float("nan")
    _, codes = np.unique(ids[which], return_inverse=True)
    mass = np.bincount(codes, weights[which])
    return float((np.bincount(codes, weights[which] * values[which]) / mass).mean())


def mean_where(values: FloatArray, which: AnyArray, weights: FloatArray) -> float:
    """Weighted mean of the chosen values, NaN if there is none."""
    return float(np.average(values[which], weights=weights[which])) if which.any() else float("nan")
