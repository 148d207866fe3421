"""The candidates of each row in base order, from scores of all classes or from given candidates."""

from __future__ import annotations

from dataclasses import dataclass

from repair.export.ops import LARGEST_SCORE, Array, Ops
from repair.export.plan import Plan

__all__ = ["Candidates", "from_candidates", "from_scores"]

LOWEST = float("-inf")


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates in base order.

    Attributes
    ----------
    ids : array of int64 (n, k)
        Class ids, −1 on padding.
    scores : array (n, k)
        Base scores, 0 on padding.
    mask : array of bool (n, k)
        Where there is a candidate.
    all_scores : array (n, K) or None
        The scores of all classes, if they are known.
    embeddings : array (n, d) or None
    """

    ids: Array
    scores: Array
    mask: Array
    all_scores: Array | None
    embeddings: Array | None


def from_scores(ops: Ops, plan: Plan, scores: Array, embeddings: Array | None = None) -> Candidates:
    """Choose the candidates of each row from the scores (n, K) of all classes."""
    if "list_adjustment" in plan.constants:
        ids, best = _adjusted(ops, plan, scores)
    else:
        best, ids = ops.top(scores, plan.width)
    return _candidates(ops, ids, ops.cast(best, "work"), scores, embeddings)


def from_candidates(ops: Ops, plan: Plan, ids: Array, scores: Array, embeddings: Array | None = None) -> Candidates:
    """Sort given candidates by descending score, then by class id, and keep as many as the model ranks.

    The others, padding, unusable scores, unknown ids and repeated ids are no candidates.
    """
    values = ops.cast(scores, "work")
    usable = (ids >= 0) & (ids < plan.n_classes) & (ops.apply("abs", values) <= LARGEST_SCORE)
    codes = ops.where(usable, ids, plan.n_classes)
    by_id = ops.ascending(codes)
    codes, values = ops.along(codes, by_id), ops.along(values, by_id)
    places = ops.positions(codes)
    repeated = (places > 0) & ops.equal(codes, ops.along(codes, ops.where(places > 0, places - 1, 0)))
    kept = (codes < plan.n_classes) & ~repeated
    values = ops.where(kept, values, LOWEST)
    by_score = ops.order(values)
    codes, values = ops.along(codes, by_score), ops.along(values, by_score)
    # Longer lists keep their width, because a graph's widths must not depend on the number of columns that come in.
    values = ops.where(ops.positions(codes) < plan.width, values, LOWEST)
    return _candidates(ops, codes, values, None, embeddings)


def _candidates(ops: Ops, ids: Array, values: Array, all_scores: Array | None, embeddings: Array | None) -> Candidates:
    mask = ops.apply("abs", values) <= LARGEST_SCORE
    return Candidates(ops.where(mask, ids, -1), ops.where(mask, values, 0.0), mask, all_scores, embeddings)


def _adjusted(ops: Ops, plan: Plan, scores: Array) -> tuple[Array, Array]:
    """Return the ids and base scores of candidates that were chosen by adjusted scores.

    The base model's best class replaces the last candidate if it would be lost.
    """
    chosen_by, ids = ops.top(scores + ops.cast_like(ops.constant("list_adjustment"), scores), plan.width)
    ids = ops.where(chosen_by >= -LARGEST_SCORE, ids, plan.n_classes)
    _, best = ops.top(scores, 1)
    listed = ops.total(ops.cast(ops.equal(ids, best), "int64")) > 0
    last = ops.columns(ids, -1, None)
    empty = ops.equal(ops.columns(ids, 0, 1), plan.n_classes)
    last = ops.where(listed | empty, last, best)
    ids = last if plan.width == 1 else ops.joined([ops.columns(ids, 0, -1), last])
    ids = ops.along(ids, ops.ascending(ids))
    real = ids < plan.n_classes
    raw = ops.where(real, ops.along(scores, ops.where(real, ids, 0)), LOWEST)
    order = ops.order(raw)
    return ops.along(ids, order), ops.along(raw, order)
