"""The candidate's own score, the column that temperature baselines are fitted with."""

from dataclasses import dataclass

from repair._utils.arrays import FloatArray
from repair.terms.term import Term
from repair.terms.view import CandidateView

__all__ = ["Score"]


@dataclass(frozen=True)
class Score(Term):
    """The candidate's own score, centred on its row.  A weight w means a temperature of 1/(1+w)."""

    name: str = "score"

    def column(self, view: CandidateView) -> FloatArray:
        """Return the score minus the mean of its row.  Subtracting it does not change the softmax."""
        return view.centred(view.scores)
