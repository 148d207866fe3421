"""The fitted correction: base score + offset + weighted terms, for any shortlist."""

from dataclasses import dataclass, field

import numpy as np

from repair.arrays import PAD_SCORE, AnyArray, FloatArray
from repair.candidates import CandidateView
from repair.class_table import ClassTable
from repair.decision import Decision
from repair.errors import InputError
from repair.kernels import kernels_for
from repair.parallel import map_row_blocks
from repair.profiles import profiles_of_scores
from repair.ranking import blocks_of
from repair.shortlist import Shortlist
from repair.terms import Term, add_term
from repair.terms.context import Context

__all__ = ["Correction"]


@dataclass(frozen=True, eq=False)
class Correction:
    """r = g + strength·(s·(g − τ·log π) + a + Σ θ·column − g), with everything needed to compute it.

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
    strength : float in [0, 1]
        Share of the whole correction, with the dial, that is applied: 0 leaves the base scores.
        A target prior and class costs are the user's own wishes and stay as they are.
    """

    table: ClassTable
    tau: float
    offsets: FloatArray
    terms: tuple[Term, ...]
    weights: FloatArray
    scale: FloatArray = field(default_factory=lambda: np.ones(1))
    strength: float = 1.0

    @property
    def embedding_width(self) -> int | None:
        """How many numbers an embedding has, if a term looks at embeddings."""
        widths = [getattr(term, "embedding_width", None) for term in self.terms]
        return next((width for width in widths if width is not None), None)

    def profiled(self, shortlist: Shortlist, scores: AnyArray | None) -> Shortlist:
        """Return the shortlist with what a term makes of all the scores, if one looks at them.

        Without the scores, what the shortlist brings along has to do.
        """
        term = next((term for term in self.terms if isinstance(term, Context) and term.reads == "scores"), None)
        if term is None:
            return shortlist
        if scores is not None:
            return shortlist.with_profiles(profiles_of_scores(scores, term.basis))
        if shortlist.profiles is None or shortlist.profiles.shape[1] != term.basis.shape[1]:
            raise InputError(
                "this model was fitted on the scores of all classes, and its term 'context' looks at them; "
                "pass the whole (n, K) array (on the command line, a file with one column per class), "
                "or fit a model on shortlists"
            )
        return shortlist

    def contributions(self, shortlist: Shortlist, decision: Decision) -> list[tuple[str, FloatArray]]:
        """Return what makes up each candidate's final score, by name, in the order it is added."""
        return self._parts(CandidateView(shortlist, self.table, self.tau), decision)

    def _parts(self, view: CandidateView, decision: Decision) -> list[tuple[str, FloatArray]]:
        parts = self._before_fit(view)
        parts.append(("offset", self.strength * view.per_class(self.offsets)))
        for term, weight in zip(self.terms, self.weights.tolist(), strict=True):
            parts.append((term.name, self.strength * weight * term.column(view)))
        return [*parts, *self._wishes(view, decision)]

    def _before_fit(self, view: CandidateView) -> list[tuple[str, FloatArray]]:
        """Return base scores, pre-adjustment and scale: what the fitted parts are added to."""
        parts = [("base", np.where(view.mask, view.shortlist.scores, 0.0))]
        if self.tau != 0.0:
            parts.append(("tau", self.strength * view.pre_adjustment))
        if (self.scale != 1.0).any():
            parts.append(("scale", self.strength * (self._scaled(view) - view.scores)))
        return parts

    def _scaled(self, view: CandidateView) -> FloatArray:
        if len(self.scale) == 1:
            return view.scores * float(self.scale[0])
        return view.scores * view.per_class(self.scale)

    def _wishes(self, view: CandidateView, decision: Decision) -> list[tuple[str, FloatArray]]:
        """Return what the user's wishes at decision time add, by name."""
        return (decision if self.strength == 1.0 else decision.scaled(self.strength)).contributions(view)

    def scores_of(self, rows: Shortlist, decision: Decision) -> FloatArray:
        """Return the final scores of a few rows, aligned with ``rows.ids``; −Inf on padding."""
        view, kernels = CandidateView(rows, self.table, self.tau), kernels_for(rows.ids.size)
        if self.strength == 1.0:
            total = self._scaled(view)
        else:
            (_, total), *others = self._before_fit(view)
            for _, values in others:
                total += values
        view.add_per_class(total, self.strength, self.offsets)
        for term, weight in zip(self.terms, self.weights.tolist(), strict=True):
            add_term(term, total, self.strength * weight, view)
        for _, values in self._wishes(view, decision):
            kernels.add_column(total, 1.0, values)
        return total if rows.is_full else np.where(rows.mask, total, PAD_SCORE)

    def scores(self, shortlist: Shortlist, decision: Decision) -> FloatArray:
        """Return the final scores of all rows, aligned with ``shortlist.ids``; −Inf on padding."""
        result = np.empty(shortlist.ids.shape)

        def fill(rows: slice) -> None:
            result[rows] = self.scores_of(shortlist.take(rows), decision)

        map_row_blocks(fill, blocks_of(shortlist))
        return result
