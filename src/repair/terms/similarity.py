"""Class similarity, the only feature of the paper that must be averaged over the rivals pair by pair."""

from dataclasses import dataclass

from repair._utils.arrays import FloatArray
from repair.terms.registration import register_term
from repair.terms.term import Term
from repair.terms.view import CandidateView

__all__ = ["MeanSimilarity"]


@register_term
@dataclass(frozen=True)
class MeanSimilarity(Term):
    """The mean similarity of the candidate to its rivals on the shortlist."""

    name: str = "similarity"
    requires: tuple[str, ...] = ("similarity",)

    def column(self, view: CandidateView) -> FloatArray:
        """Return the mean of s(y, j) over the rivals j."""
        assert view.table.similarity is not None
        return view.table.similarity.average_over_rivals(view.shortlist.ids, view.lengths)
