"""The column of each term, by the name of its formula."""

from __future__ import annotations

from collections.abc import Callable

from repair.export.ops import Array
from repair.export.plan import TermPlan
from repair.export.rows import Rows

__all__ = ["COLUMNS"]


def _score_gap(rows: Rows, term: TermPlan) -> Array:
    return rows.mean_difference(rows.scores)


def _rank_gap(rows: Rows, term: TermPlan) -> Array:
    ranks = rows.ops.cast(rows.ranks(), "work")
    return rows.mean_difference(rows.real(rows.ops.apply("neg", ranks)))


def _log_freq_ratio(rows: Rows, term: TermPlan) -> Array:
    return rows.mean_difference(rows.per_class(term.arrays["log_counts"]))


def _similarity(rows: Rows, term: TermPlan) -> Array:
    ops, ids, mask = rows.ops, rows.safe_ids, rows.candidates.mask
    n_classes = rows.plan.n_classes
    pairs = ops.expanded(ids * n_classes, 2) + ops.expanded(ids, 1)
    values = ops.cast(ops.take(ops.constant(term.arrays["matrix"]), pairs), "work")
    places = ops.positions(ids)
    other = ~ops.equal(ops.expanded(places, 2), ops.expanded(places, 1)) & ops.expanded(mask, 1)
    summed = ops.row_sum(ops.where(other, values, 0.0))  # rival by rival
    return rows.real(ops.squeezed(summed) / rows.at_least_one_rival)


def _score_by_frequency(rows: Rows, term: TermPlan) -> Array:
    return rows.centred(rows.scores) * rows.per_class(term.arrays["relative_log_counts"])


def _context(rows: Rows, term: TermPlan) -> Array:
    ops = rows.ops
    landmarks = ops.transposed(ops.constant(term.arrays["landmarks"]))
    return rows.dots(ops.apply("exp", ops.matmul(_profiles(rows, term), landmarks) - 1.0), term.arrays["matrix"])


def _score_head(rows: Rows, term: TermPlan) -> Array:
    return rows.dots(_with_constant(rows, _profiles(rows, term), term), term.arrays["matrix"])


def _head(rows: Rows, term: TermPlan) -> Array:
    return rows.dots(_with_constant(rows, rows.embeddings, term), term.arrays["matrix"])


def _profiles(rows: Rows, term: TermPlan) -> Array:
    return rows.profiles(term.arrays["basis"], reads_all=term.numbers["reads_all"])


def _with_constant(rows: Rows, vectors: Array, term: TermPlan) -> Array:
    constant = rows.ops.columns(vectors, 0, 1) * 0.0 + term.numbers["constant"]
    return rows.ops.joined([vectors, constant])


def _score_neighbours(rows: Rows, term: TermPlan) -> Array:
    return _votes(rows, _of_candidates(rows, _similarities(rows, _profiles(rows, term), term), term), term)


def _neighbours(rows: Rows, term: TermPlan) -> Array:
    similarities = _similarities(rows, rows.embeddings, term)
    if term.numbers["of_candidates"]:
        similarities = _of_candidates(rows, similarities, term)
    return _votes(rows, similarities, term)


def _of_candidates(rows: Rows, similarities: Array, term: TermPlan) -> Array:
    """Return the similarities to rows whose label is a candidate, and −Inf for all others, which do not vote."""
    ops, n_classes = rows.ops, rows.plan.n_classes
    places = ops.where(rows.candidates.mask, rows.candidates.ids, n_classes)  # one more column, for padding
    is_candidate = ops.spread(ops.cast(rows.candidates.mask, "float32"), places, n_classes + 1, 0.0)
    may_vote = ops.take(is_candidate, ops.constant(term.arrays["labels"]), axis=1) > 0.0
    return ops.where(may_vote, similarities, float("-inf"))


def _similarities(rows: Rows, vectors: Array, term: TermPlan) -> Array:
    return rows.ops.matmul(vectors, rows.ops.transposed(rows.ops.constant(term.arrays["vectors"])))


def _votes(rows: Rows, similarities: Array, term: TermPlan) -> Array:
    """Return the mixture of the log shares of the votes of the most similar rows."""
    ops = rows.ops
    nearest, places = ops.top(similarities, term.numbers["searched"])
    voted = ops.take(ops.constant(term.arrays["labels"]), places)
    distances = ops.cast(nearest, "work") - 1.0
    matches = ops.equal(ops.expanded(rows.candidates.ids, 2), ops.expanded(voted, 1))
    column = rows.scores * 0.0
    for number, width, share in term.numbers["votes"]:
        number = min(number, term.numbers["searched"])
        weights = ops.apply("exp", ops.columns(distances, 0, number) / width)
        totals = ops.total(weights)
        for_candidate = ops.where(ops.columns(matches, 0, number), ops.expanded(weights, 1), 0.0)
        sums = ops.squeezed(ops.total(for_candidate)) / ops.where(totals > 0.0, totals, 1.0)
        column = column + ops.apply("log", sums + 1.0 / number) * share
    return rows.real(column)


COLUMNS: dict[str, Callable[[Rows, TermPlan], Array]] = {
    "score_gap": _score_gap,
    "rank_gap": _rank_gap,
    "log_freq_ratio": _log_freq_ratio,
    "similarity": _similarity,
    "score_by_frequency": _score_by_frequency,
    "context": _context,
    "score_head": _score_head,
    "score_neighbours": _score_neighbours,
    "neighbours": _neighbours,
    "head": _head,
}
