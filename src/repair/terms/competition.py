"""The paper's competition features, all differences f_y − f_j, so that their mean collapses."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from repair.arrays import FloatArray, read_only
from repair.candidates import CandidateView

__all__ = ["LogFrequencyRatio", "RankGap", "ScoreGap"]


@dataclass(frozen=True)
class ScoreGap:
    """g_y − g_j: how far the candidate leads or trails its rivals."""

    name: str = "score_gap"
    requires: tuple[str, ...] = ()
    copies: float = 1

    def column(self, view: CandidateView) -> FloatArray:
        """Mean lead over the rivals."""
        return view.mean_difference(view.scores)

    def add_to(self, total: FloatArray, factor: float, view: CandidateView) -> None:
        """Add `factor` times the column."""
        view.add_mean_difference(total, factor, view.scores)


@dataclass(frozen=True)
class RankGap:
    """rank(j) − rank(y): by how many places the candidate leads."""

    name: str = "rank_gap"
    requires: tuple[str, ...] = ()
    copies: float = 1

    def column(self, view: CandidateView) -> FloatArray:
        """Mean lead over the rivals, in places."""
        if view.tau == 0.0 and view.is_full:  # the same on every row
            lead = _lead_in_places(view.shortlist.n_candidates)
            return lead if len(view.shortlist) == 1 else np.broadcast_to(lead, view.shortlist.ids.shape)
        return view.mean_difference(-view.ranks.astype(np.float64))


@cache
def _lead_in_places(k: int) -> FloatArray:
    """Return the mean lead of each of k candidates in base order."""
    places = np.arange(k, dtype=np.float64)
    return read_only((places.sum() / k - places) * (k / max(k - 1, 1)))[None]


@dataclass(frozen=True)
class LogFrequencyRatio:
    """log (n_y+1)/(n_j+1): how much more common the candidate is."""

    name: str = "log_freq_ratio"
    requires: tuple[str, ...] = ("class_counts",)
    copies: float = 1

    def column(self, view: CandidateView) -> FloatArray:
        """Mean log-ratio of training counts to the rivals'."""
        return view.mean_difference(view.per_class(view.table.log_counts))

    def add_to(self, total: FloatArray, factor: float, view: CandidateView) -> None:
        """Add `factor` times the column."""
        view.add_class_difference(total, factor, view.table.log_counts)
