"""The fitted correction: base score + offset + weighted terms, for any shortlist."""

from dataclasses import dataclass, field

import numpy as np

from repair.arrays import PAD_SCORE, FloatArray
from repair.candidates import CandidateView
from repair.class_table import ClassTable
from repair.decision import Decision
from repair.parallel import map_row_blocks, row_blocks
from repair.ranking import SLOTS_PER_BLOCK
from repair.shortlist import Shortlist
from repair.terms import Term

__all__ = ["Correction"]


@dataclass(frozen=True, eq=False)
class Correction:
    """r = s·(g − τ·log π) + a + Σ θ·column, with everything needed to compute it.

    Attributes
    ----------
    table : ClassTable
    tau : float
    offsets : ndarray (K,)
    terms : tuple of Term
    weights : ndarray (d,)
    scale : ndarray (1,) or (K,)
        s: an inverse temperature, or one factor per class (τ-normalisation).  A factor of its
        own rather than a term, because a product keeps the order to the last bit and g + (s−1)·g
        does not.
    """

    table: ClassTable
    tau: float
    offsets: FloatArray
    terms: tuple[Term, ...]
    weights: FloatArray
    scale: FloatArray = field(default_factory=lambda: np.ones(1))

    def contributions(self, shortlist: Shortlist, decision: Decision) -> list[tuple[str, FloatArray]]:
        """Return what makes up each candidate's final score, by name, in the order it is added."""
        view = CandidateView(shortlist, self.table, self.tau)
        parts = [("base", np.where(view.mask, shortlist.scores, 0.0))]
        if self.tau != 0.0:
            parts.append(("tau", view.pre_adjustment))
        if (self.scale != 1.0).any():
            parts.append(("scale", self._scaled(view) - view.scores))
        return parts + self._additions(view, decision)

    def _scaled(self, view: CandidateView) -> FloatArray:
        if len(self.scale) == 1:
            return view.scores * float(self.scale[0])
        return view.scores * view.per_class(self.scale)

    def _additions(self, view: CandidateView, decision: Decision) -> list[tuple[str, FloatArray]]:
        parts = [("offset", view.per_class(self.offsets))]
        for term, weight in zip(self.terms, self.weights, strict=True):
            parts.append((term.name, float(weight) * term.column(view)))
        return parts + decision.contributions(view)

    def scores(self, shortlist: Shortlist, decision: Decision) -> FloatArray:
        """Return the final scores, aligned with ``shortlist.ids``; −Inf on padding."""
        result = np.empty(shortlist.ids.shape)

        def fill(rows: slice) -> None:
            part = shortlist if len(blocks) == 1 else shortlist.take(rows)
            view = CandidateView(part, self.table, self.tau)
            total = self._scaled(view)
            for _, values in self._additions(view, decision):
                total += values
            result[rows] = np.where(part.mask, total, PAD_SCORE)

        blocks = row_blocks(len(shortlist), SLOTS_PER_BLOCK // shortlist.n_candidates)
        map_row_blocks(fill, blocks)
        return result
