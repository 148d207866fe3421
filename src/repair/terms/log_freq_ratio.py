"""The log-frequency ratio: how much more frequent a candidate is than its rivals."""

from dataclasses import dataclass

from repair._utils.arrays import FloatArray
from repair.terms.registration import register_term
from repair.terms.term import Term
from repair.terms.view import CandidateView

__all__ = ["LogFrequencyRatio"]


@register_term
@dataclass(frozen=True)
class LogFrequencyRatio(Term):
    """The log-frequency ratio log (n_y+1)/(n_j+1), averaged over the rivals j."""

    name: str = "log_freq_ratio"
    requires: tuple[str, ...] = ("class_counts",)

    def column(self, view: CandidateView) -> FloatArray:
        """Return the mean log-ratio of the candidate's training count to those of its rivals."""
        return view.mean_difference(view.per_class(view.table.log_counts))

    def add_to(self, total: FloatArray, factor: float, view: CandidateView) -> None:
        """Add `factor` times the column in one pass."""
        view.add_class_difference(total, factor, view.table.log_counts)
