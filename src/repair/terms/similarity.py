"""Class similarity: the paper's one feature that is a true average over rivals."""

from dataclasses import dataclass

from repair.arrays import FloatArray
from repair.candidates import CandidateView

__all__ = ["MeanSimilarity"]


@dataclass(frozen=True)
class MeanSimilarity:
    """Mean similarity of the candidate to the rivals on its shortlist."""

    name: str = "similarity"
    requires: tuple[str, ...] = ("similarity",)
    copies: float = 1

    def column(self, view: CandidateView) -> FloatArray:
        """Mean over the rivals of s(y, j)."""
        assert view.table.similarity is not None
        return view.table.similarity.average_over_rivals(view.shortlist.ids, view.lengths)
