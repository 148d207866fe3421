"""The score gap: how far a candidate leads or trails its rivals."""

from dataclasses import dataclass

from repair._utils.arrays import FloatArray
from repair.terms.registration import register_term
from repair.terms.term import Term
from repair.terms.view import CandidateView

__all__ = ["ScoreGap"]


@register_term
@dataclass(frozen=True)
class ScoreGap(Term):
    """The score gap g_y − g_j, averaged over the rivals j.

    It equals the logarithm of the ratio of their probabilities, because these are a softmax of the
    same scores.  It is therefore also registered as ``log_prob_ratio``.
    """

    name: str = "score_gap"
    multiplicity: float = 1

    def column(self, view: CandidateView) -> FloatArray:
        """Return the mean lead over the rivals."""
        return view.mean_difference(view.scores)

    def add_to(self, total: FloatArray, factor: float, view: CandidateView) -> None:
        """Add `factor` times the column in one pass."""
        view.add_mean_difference(total, factor, view.scores)


register_term(ScoreGap, lambda: ScoreGap(name="log_prob_ratio"), "log_prob_ratio")
