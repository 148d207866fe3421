"""The candidate's own score: the column by which temperature baselines are fitted."""

from dataclasses import dataclass

from repair.arrays import FloatArray
from repair.candidates import CandidateView

__all__ = ["Score"]


@dataclass(frozen=True)
class Score:
    """The candidate's own score, centred on its row: weight w means temperature 1/(1+w)."""

    name: str = "score"
    requires: tuple[str, ...] = ()
    copies: float = 1

    def column(self, view: CandidateView) -> FloatArray:
        """Score minus the row's mean, which a softmax does not see."""
        return view.centred(view.scores)
