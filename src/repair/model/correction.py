"""The fitted correction: base score + class offset + weighted terms, for any shortlist."""

from dataclasses import dataclass, field

import numpy as np

from repair._utils.arrays import PAD_SCORE, AnyArray, FloatArray
from repair._utils.lazy import lazy
from repair._utils.parallel import map_row_blocks
from repair.data.class_table import ClassTable
from repair.data.ranking import blocks_of
from repair.data.shortlist import Shortlist
from repair.errors import InputError, Remedy
from repair.kernels import kernels_for
from repair.model.adjustments import Adjustments
from repair.terms.term import Term
from repair.terms.view import CandidateView

__all__ = ["Correction"]

PASS_ALL_SCORES = Remedy("pass-all-scores", "pass the whole (n, K) array, or fit a model on shortlists")


@dataclass(frozen=True, eq=False)
class Correction:
    """The corrected score r = g + strength·(s·(g − τ·log π) + a + Σ θ·column − g).

    Attributes
    ----------
    table : ClassTable
        The class-level inputs.
    tau : float
        Exponent τ of the pre-adjustment.
    offsets : ndarray (K,)
        Class offsets a.
    terms : tuple of Term
    weights : ndarray (d,)
        Weights θ of the terms.
    scale : ndarray (1,) or (K,)
        s, an inverse temperature or one factor per class (τ-normalisation), by default 1.  It is a
        factor instead of a term, because a product keeps the order exactly and g + (s−1)·g does not.
    strength : float in [0, 1], default 1.0
        Share of the correction, including the dial, that is applied.  0 leaves the base scores
        unchanged.  A target prior and class costs are always applied in full.
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
        """Required width of the embeddings, or None if no term uses them."""
        return next((term.embedding_width for term in self.terms if term.embedding_width is not None), None)

    @property
    def holds_rows(self) -> bool:
        """Whether a term keeps data of single rows."""
        return any(term.holds_rows for term in self.terms)

    @property
    def changes_nothing(self) -> bool:
        """Whether every row keeps the base order unless adjusted.  A per-class `scale` is not considered."""
        return self.tau == 0.0 and not self.offsets.any() and not self.weights.any()

    @property
    def learned_shares(self) -> bool:
        """Whether the scores follow the class shares of the calibration rows, because something was fitted on them."""
        return bool(self.offsets.any() or self.weights.any())

    def prepared(self, shortlist: Shortlist, scores: AnyArray | None) -> Shortlist:
        """Return the shortlist with what its terms store about all K scores of each row.

        Parameters
        ----------
        shortlist : Shortlist
        scores : ndarray (n, K) or None
            The scores of all classes.  With None, the shortlist must already have the row vectors
            of every term that needs them.

        Returns
        -------
        Shortlist
        """
        for term, same in self._row_terms:
            if scores is not None:
                computed = term.row_vectors(scores) if same is None else shortlist.row_vectors[same.name]
                shortlist = shortlist.with_row_vectors(term.name, computed)
                continue
            vectors = shortlist.row_vectors.get(term.name)
            if vectors is None or vectors.shape[1] != term.row_width:
                raise InputError(
                    f"this model was fitted on the scores of all classes, and its term {term.name!r} needs them",
                    PASS_ALL_SCORES,
                )
        return shortlist

    @lazy
    def _row_terms(self) -> list[tuple[Term, Term | None]]:
        """Return the terms that use all scores of a row, each with an earlier term whose row vectors are the same."""
        terms = [term for term in self.terms if term.row_width is not None]
        return [
            (term, next((other for other in terms[:place] if term.has_row_vectors_of(other)), None))
            for place, term in enumerate(terms)
        ]

    def contributions(self, shortlist: Shortlist, adjustments: Adjustments) -> list[tuple[str, FloatArray]]:
        """Return the parts of each candidate's final score by name, in the order in which they are added."""
        return self._parts(CandidateView(shortlist, self.table, self.tau), adjustments)

    def _parts(self, view: CandidateView, adjustments: Adjustments) -> list[tuple[str, FloatArray]]:
        parts = self._before_fit(view)
        parts.append(("offset", self.strength * view.per_class(self.offsets)))
        for term, weight in zip(self.terms, self.weights.tolist(), strict=True):
            parts.append((term.name, self.strength * weight * term.column(view)))
        return [*parts, *self._adjusted(view, adjustments)]

    def _before_fit(self, view: CandidateView) -> list[tuple[str, FloatArray]]:
        """Return base scores, pre-adjustment and scale, to which the fitted parts are added."""
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

    def _adjusted(self, view: CandidateView, adjustments: Adjustments) -> list[tuple[str, FloatArray]]:
        """Return the parts of the decision-time adjustments by name."""
        return (adjustments if self.strength == 1.0 else adjustments.scaled(self.strength)).contributions(view)

    def scores_of(self, rows: Shortlist, adjustments: Adjustments) -> FloatArray:
        """Return the final scores of a few rows, aligned with ``rows.ids``, −Inf on padding."""
        view, kernels = CandidateView(rows, self.table, self.tau), kernels_for(rows.ids.size)
        if self.strength == 1.0:
            total = self._scaled(view)
        else:
            (_, total), *further = self._before_fit(view)
            for _, values in further:
                total += values
        view.add_per_class(total, self.strength, self.offsets)
        for term, weight in zip(self.terms, self.weights.tolist(), strict=True):
            term.add_to(total, self.strength * weight, view)
        for _, values in self._adjusted(view, adjustments):
            kernels.add_column(total, 1.0, values)
        return total if rows.is_full else np.where(rows.mask, total, PAD_SCORE)

    def scores(self, shortlist: Shortlist, adjustments: Adjustments) -> FloatArray:
        """Return the final scores of all rows, aligned with ``shortlist.ids``, −Inf on padding."""
        result = np.empty(shortlist.ids.shape)

        def fill(rows: slice) -> None:
            result[rows] = self.scores_of(shortlist.take(rows), adjustments)

        map_row_blocks(fill, blocks_of(shortlist))
        return result
