"""The corrected scores of candidates, as `Correction.scores_of` computes them."""

from __future__ import annotations

from repair.export.candidates import Candidates
from repair.export.columns import COLUMNS
from repair.export.ops import Array, Ops
from repair.export.plan import Plan
from repair.export.rows import Rows

__all__ = ["corrected_scores"]


def corrected_scores(ops: Ops, plan: Plan, candidates: Candidates) -> tuple[Array, Array]:
    """Return the scores that set the order and those behind the probabilities, in base order.

    The sums run in the order of the numpy path, so that exact ties stay exact ties.
    """
    rows = Rows(ops, plan, candidates)
    columns = [COLUMNS[term.kind](rows, term) for term in plan.terms]
    final = _total(rows, columns, plan.strength, plan.adjustments)
    if plan.beliefs is None:
        return final, final
    return final, _total(rows, columns, 1.0, plan.beliefs)


def _total(rows: Rows, columns: list[Array], strength: float, adjustments: tuple[str, ...]) -> Array:
    plan = rows.plan
    total = _before_fit(rows, strength)
    if "offsets" in plan.constants:
        total = total + rows.per_class("offsets") * strength
    for term, column in zip(plan.terms, columns, strict=True):
        total = total + column * (strength * term.weight)
    for name in adjustments:
        total = total + rows.per_class(name)
    return total


def _before_fit(rows: Rows, strength: float) -> Array:
    """Return base scores, pre-adjustment and scale."""
    scaled = rows.scores * rows.scale() if "scale" in rows.plan.constants else rows.scores
    if strength == 1.0:
        return scaled
    total = rows.candidates.scores
    if "pre_adjustment" in rows.plan.constants:
        total = total + rows.per_class("pre_adjustment") * strength
    if "scale" in rows.plan.constants:
        total = total + (scaled - rows.scores) * strength
    return total
