"""The rank gap: by how many ranks a candidate leads its rivals."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from repair._utils.arrays import FloatArray, read_only
from repair.terms.registration import register_term
from repair.terms.term import Term
from repair.terms.view import CandidateView

__all__ = ["RankGap"]


@register_term
@dataclass(frozen=True)
class RankGap(Term):
    """The rank gap rank(j) − rank(y), averaged over the rivals j."""

    name: str = "rank_gap"

    def column(self, view: CandidateView) -> FloatArray:
        """Return the mean lead over the rivals, in ranks."""
        if view.tau == 0.0 and view.is_full:  # the same on every row
            lead = _lead_in_ranks(view.shortlist.n_candidates)
            return lead if len(view.shortlist) == 1 else np.broadcast_to(lead, view.shortlist.ids.shape)
        return view.mean_difference(-view.ranks.astype(np.float64))


@cache
def _lead_in_ranks(k: int) -> FloatArray:
    """Return the mean lead of each of k candidates in base order."""
    ranks = np.arange(k, dtype=np.float64)
    return read_only((ranks.sum() / k - ranks) * (k / max(k - 1, 1)))[None]
