"""``evaluate``: all metrics of one ranking, over covered rows and over all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.text_tables import text_table
from repair.data.class_order import order_problems
from repair.data.class_table import ClassTable
from repair.data.ranking import Ranking
from repair.data.shortlist import Shortlist
from repair.data.suspicious_inputs import label_ids
from repair.errors import InputError, InputWarning, warn_user
from repair.evaluation.metric_table import METRICS, UNITS, format_metric
from repair.evaluation.metrics import (
    covered,
    gap_closure,
    hardest_rival_flip_rate,
    hit_rate,
    negative_log_likelihood,
    reciprocal_rank,
)
from repair.stats.row_weights import equal_group_weights
from repair.stats.strata import STRATA, class_strata
from repair.validation.checks import check_choice, check_class_names, check_group_codes
from repair.validation.names import class_vector

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The metrics of one ranking.  It prints as a table.

    Attributes
    ----------
    rows : dict of ndarray (n,)
        One value per row: ``covered``, ``hit@1``, ``hit@3``, ``hit@5``, ``mrr``, ``hfr``, ``nll``,
        and a mask per stratum, ``rare`` and ``frequent`` by default.
    conditional : dict of float
        Means over covered rows, as the paper reports them.  ``nll`` is computed from the softmax of
        the ranking's scores.  A dial or class costs change these scores and usually increase it.
    unconditional : dict of float
        Means over all rows, where uncovered rows count as misses.  ``hfr`` and ``nll`` are defined
        only for covered rows and are left out.
    n_rows, n_covered : int
        Number of rows and of covered rows.
    weights : ndarray (n,)
        Weight of each row: 1, or 1/(group size).
    ids : ndarray of int (n,)
        The labels as class ids, −1 if a label is not a known class.
    strata : tuple of str
        The names of the strata.
    strata_rule : str
        Which classes they are, in one sentence, or an empty string without class counts.
    base : Evaluation or None
        The same candidates in base order.  None if the base scores are not known, or if the order is the
        same.
    """

    rows: dict[str, AnyArray]
    conditional: dict[str, float]
    unconditional: dict[str, float]
    n_rows: int
    n_covered: int
    weights: FloatArray
    ids: IntArray
    strata: tuple[str, ...] = STRATA["paper"]
    strata_rule: str = ""
    base: Evaluation | None = None

    def __str__(self) -> str:
        """Return the table, with Base next to the ranking."""
        parts = [self] if self.base is None else [self.base, self]
        rows = []
        for name in self.conditional:
            values = [part.conditional[name] for part in parts] + [part.unconditional.get(name) for part in parts]
            cells = ["" if value is None else format_metric(value, name) for value in values]
            rows.append([METRICS[name].title, *cells])
        header = ["metric", "covered rows", "all rows"]
        if self.base is not None:
            header = ["metric", "Base, covered", "covered rows", "Base, all rows", "all rows"]
        table = text_table(header, rows)
        rule = f"\n{self.strata_rule}" if self.strata_rule else ""
        compared = "" if self.base is None else "; Base is the same candidates in base order"
        return f"{table}\n{self.n_covered} of {self.n_rows} rows covered{compared}; {UNITS}{rule}"


def evaluate(
    ranking: Ranking,
    labels: ArrayLike,
    class_counts: ArrayLike | None = None,
    class_names: object = None,
    groups: object = None,
    *,
    strata: str | None = None,
    base: bool = True,
) -> Evaluation:
    """Score a ranking against the true labels.

    The result of a model's ``rerank`` is shown next to Base, the same candidates in base order.  ``repair
    evaluate`` gives Base its own shortlists, which differ if the model builds others.  Accuracy is the same,
    because the base's best class is on both.  Rows that the model was fitted on, and labels or counts that
    seem to be in another class order, raise a warning.

    Parameters
    ----------
    ranking : Ranking
        A ranking from any reranker's ``rerank``, or from `Ranking.from_scores`.
    labels : array_like (n,)
        True class ids, or names if the class names are known.  Rows whose label is −1 or an unknown
        name count as uncovered.
    class_counts : array_like (K,), optional
        Training examples per class, which define rare and frequent classes.  By default those of the
        model that made the ranking.  If there are none, ``rare`` and ``frequent`` are NaN.
    class_names : sequence of str, optional
        One name per class.  By default the names of the ranking, which it has from its model.  Pass it
        if the labels are names and the ranking comes from `Ranking.from_scores`.
    groups : array_like (n,), optional
        Group of each row, such as its patient, document or session.  Pass it if rows are not
        independent: each row then weighs 1/(group size), so every group counts once.
    strata : {"paper", "mass", "counts"}, optional
        How classes are divided by their counts, as in `class_strata`.  Use ``"paper"`` to reproduce the
        paper, and ``"counts"`` for few, medium and many examples instead of rare and frequent.
    base : bool, default True
        Whether to evaluate the base order of the same candidates too.  Set it to False to save time.

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
    if class_counts is None:
        class_counts = ranking.class_counts
    known = ranking.class_names
    if class_names is not None:
        known = check_class_names(class_names, ranking.n_classes)
    if strata is not None:
        check_choice(strata, "strata", tuple(STRATA))
    ids = label_ids(labels, len(ranking), ranking.n_classes, known)
    counts = None if class_counts is None else class_vector(class_counts, "class_counts", ranking.n_classes, known)
    rows: dict[str, AnyArray] = {
        "covered": covered(ranking, ids),
        "hit@1": hit_rate(ranking, ids, 1),
        "hit@3": hit_rate(ranking, ids, 3),
        "hit@5": hit_rate(ranking, ids, 5),
        "mrr": reciprocal_rank(ranking, ids),
        "hfr": hardest_rival_flip_rate(ranking, ids),
        "nll": negative_log_likelihood(ranking, ids),
    }
    names, rule = STRATA[strata or "paper"], ""
    if counts is None:
        rows |= {name: np.zeros(len(ids), dtype=bool) for name in names}
    else:
        divided = class_strata(counts, strata)
        names, rule = tuple(divided.classes), divided.description
        rows |= divided.rows(ids)
    codes = None if groups is None else check_group_codes(groups, "groups", len(ids))
    weights = equal_group_weights(len(ids), codes)
    inside = rows["covered"] > 0
    if not inside.any():
        raise InputError(
            f"none of the {len(ranking)} rows has its label on the shortlist; "
            "check that labels and classes are in the same order, or use more candidates"
        )
    everywhere = np.ones(len(ids), dtype=bool)
    coverage = {"coverage": mean_where(rows["covered"], everywhere, weights)}
    conditional = {**coverage, **_means(rows, names, ids, inside, weights)}
    conditional["hfr"] = mean_where(rows["hfr"], ~np.isnan(rows["hfr"]), weights)
    conditional["gap_closure"] = gap_closure(ranking, ids, weights=weights)
    conditional["nll"] = mean_where(rows["nll"], inside, weights)
    unconditional = {**coverage, **_means(rows, names, ids, everywhere, weights)}
    unconditional["gap_closure"] = gap_closure(ranking, ids, unconditional=True, weights=weights)
    unranked = ranking.in_base_order() if base else None
    if base:
        _warn_suspicious(ranking, ids, counts)
    compared = None
    if unranked is not None:
        compared = evaluate(replace(unranked, class_names=None), ids, counts, groups=codes, strata=strata, base=False)
    return Evaluation(
        rows, conditional, unconditional, len(ids), int(inside.sum()), weights, ids, names, rule, compared
    )


def _warn_suspicious(ranking: Ranking, ids: IntArray, counts: FloatArray | None) -> None:
    """Warn if the rows were used for the fit, or if labels, classes and counts seem to be in different orders."""
    problems = [None if ranking.fitted_rows_problem is None else ranking.fitted_rows_problem()]
    base_scores = ranking.base_scores
    if base_scores is not None:
        shortlist = Shortlist(ranking.ids, base_scores, ranking.n_classes)  # in base order
        label_counts = np.bincount(ids[ids >= 0], minlength=ranking.n_classes).astype(np.float64)
        table = ClassTable(ranking.n_classes, class_names=ranking.class_names, class_counts=counts)
        problems += order_problems(shortlist, ids, table, label_counts, None)
    for problem in problems:
        if problem is not None:
            warn_user(problem, InputWarning)


def _means(
    rows: dict[str, AnyArray], strata: tuple[str, ...], ids: IntArray, which: AnyArray, weights: FloatArray
) -> dict[str, float]:
    means = {name: mean_where(rows[name], which, weights) for name in ("hit@1", "hit@3", "hit@5", "mrr")}
    means |= {name: mean_where(rows["hit@1"], which & rows[name], weights) for name in strata}
    means["macro"] = _class_mean(rows["hit@1"], ids, which & (ids >= 0), weights)
    return means


def _class_mean(values: FloatArray, ids: IntArray, which: AnyArray, weights: FloatArray) -> float:
    """Return the mean of the class means, over the classes that occur."""
    if not which.any():
        return float("nan")
    _, codes = np.unique(ids[which], return_inverse=True)
    mass = np.bincount(codes, weights[which])
    return float((np.bincount(codes, weights[which] * values[which]) / mass).mean())


def mean_where(values: FloatArray, which: AnyArray, weights: FloatArray) -> float:
    """Return the weighted mean of the selected values, NaN if there are none."""
    return float(np.average(values[which], weights=weights[which])) if which.any() else float("nan")
