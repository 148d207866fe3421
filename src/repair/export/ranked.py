"""From candidates to what an export returns."""

from __future__ import annotations

from repair.export.candidates import Candidates
from repair.export.corrected import corrected_scores
from repair.export.ops import Array, Ops
from repair.export.plan import Plan
from repair.export.rows import masked_softmax

__all__ = ["adjusted_logits", "ranked"]


def ranked(ops: Ops, plan: Plan, candidates: Candidates) -> tuple[Array, Array, Array]:
    """Return ids, scores and probabilities of each row's candidates, best first.

    Equal scores keep the base order, NaN comes after all numbers, and padding (id −1, score −Inf, probability 0) comes
    last.
    """
    final, beliefs = corrected_scores(ops, plan, candidates)
    key = ops.where(~ops.is_nan(final), final, ops.lowest)
    order = ops.order(ops.where(candidates.mask, key, float("-inf")))
    if plan.cuts:
        order = _first(ops, plan, order)
    real, beliefs = ops.along(candidates.mask, order), ops.along(beliefs, order)
    known = real & ~ops.is_nan(beliefs)
    shares = masked_softmax(ops, beliefs, known)
    ids = ops.along(candidates.ids, order)
    scores = ops.where(real, ops.along(final, order), float("-inf"))
    return ids, scores, shares


def adjusted_logits(ops: Ops, plan: Plan, candidates: Candidates) -> Array:
    """Return the corrected scores in the columns of their classes (n, K), and −Inf for all other classes."""
    ids, scores, _ = ranked(ops, plan, candidates)
    places = ops.where(ids >= 0, ids, plan.n_classes)  # one more column, for padding
    return ops.columns(ops.spread(scores, places, plan.n_classes + 1, float("-inf")), 0, plan.n_classes)


def _first(ops: Ops, plan: Plan, order: Array) -> Array:
    """Keep the best candidates, and the base model's first choice, if need be in the last place."""
    number = plan.n_candidates
    if number == 1:
        return ops.columns(order, 0, 1)
    is_base = ops.cast(ops.equal(order, 0), "int64")
    place = ops.total(ops.positions(order) * is_base)
    last = ops.where(place >= number, place * 0, ops.columns(order, number - 1, number))  # the base choice is place 0
    return ops.joined([ops.columns(order, 0, number - 1), last])
