"""Why a candidate stands where it stands: every contribution, adding up to its final score."""

from dataclasses import dataclass

from repair.class_table import ClassTable
from repair.correction import Correction
from repair.decision import Decision
from repair.ranking import Ranking
from repair.shortlist import Shortlist
from repair.tables import text_table

__all__ = ["CandidateExplanation", "Explanation", "explain_row"]


@dataclass(frozen=True)
class CandidateExplanation:
    """One candidate's account.

    Attributes
    ----------
    class_id : int
    name : str
        The class's name, or its id as text.
    base_rank, rank : int
        Place before and after, 1 is best.
    contributions : dict
        ``"base"``, ``"offset"``, every term's and every decision-time share, in the order added.
    score : float
        Final score: the sum of the contributions.
    overtook : tuple of int
        Class ids that stood above it before and stand below it now.
    """

    class_id: int
    name: str
    base_rank: int
    rank: int
    contributions: dict[str, float]
    score: float
    overtook: tuple[int, ...]


@dataclass(frozen=True)
class Explanation:
    """One row's candidates, best first; prints as a table."""

    candidates: tuple[CandidateExplanation, ...]
    names: dict[int, str]

    def __str__(self) -> str:
        """Return the table: ranks, class, contributions, score and who was overtaken."""
        if not self.candidates:
            return "no candidates on this row"
        parts = list(self.candidates[0].contributions)
        rows = []
        for one in self.candidates:
            numbers = [f"{one.contributions[part]:+.3f}" for part in parts]
            overtaken = ", ".join(self.names[rival] for rival in one.overtook) or "-"
            rows.append([str(one.rank), str(one.base_rank), one.name, *numbers, f"{one.score:.3f}", overtaken])
        header = ["rank", "was", "class", *parts, "score", "overtook"]
        return text_table(header, rows, text_columns=(2, len(header) - 1))


def explain_row(correction: Correction, shortlist: Shortlist, decision: Decision) -> Explanation:
    """Explain the one row of `shortlist`."""
    parts = correction.contributions(shortlist, decision)
    ranking = Ranking.from_corrected(shortlist, correction.scores(shortlist, decision))
    table: ClassTable = correction.table
    order = [int(position) for position in ranking.order[0] if position < shortlist.lengths[0]]
    ids = [int(shortlist.ids[0, position]) for position in order]
    candidates = []
    for rank, position in enumerate(order):
        overtaken = tuple(ids[later] for later in range(rank + 1, len(order)) if order[later] < position)
        candidates.append(
            CandidateExplanation(
                class_id=ids[rank],
                name=table.name_of(ids[rank]),
                base_rank=position + 1,
                rank=rank + 1,
                contributions={name: float(values[0, position]) for name, values in parts},
                score=float(ranking.scores[0, rank]),
                overtook=overtaken,
            )
        )
    return Explanation(tuple(candidates), {class_id: table.name_of(class_id) for class_id in ids})
