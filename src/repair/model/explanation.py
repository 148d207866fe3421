"""Explanations of single rows: all contributions to each candidate's final score."""

from dataclasses import dataclass

from repair._utils.text_tables import text_table
from repair.data.class_table import ClassTable
from repair.data.ranking import Ranking
from repair.data.shortlist import Shortlist
from repair.model.adjustments import Adjustments
from repair.model.correction import Correction

__all__ = ["CandidateExplanation", "Explanation", "explain_row"]


@dataclass(frozen=True)
class CandidateExplanation:
    """The explanation of one candidate.

    Attributes
    ----------
    class_id : int
    name : str
        Name of the class, or its id as text.
    base_rank, rank : int
        Rank before and after the correction, where 1 is best.
    contributions : dict
        Contributions to the score: ``"base"``, ``"offset"``, every term and every decision-time
        adjustment, in the order in which they are added.
    score : float
        Final score, the sum of the contributions.
    overtook : tuple of int
        Ids of the classes that were above the candidate before and are below it now.
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
    """The candidates of one row, best first.  It prints as a table.

    Attributes
    ----------
    candidates : tuple of CandidateExplanation
    names : dict from int to str
        Names of the candidates' classes by id.
    """

    candidates: tuple[CandidateExplanation, ...]
    names: dict[int, str]

    def first(self, n_candidates: int) -> "Explanation":
        """Return the explanation of the candidates that `Ranking.first` keeps.  Ranks count all that were ranked."""
        kept = self.candidates[:n_candidates]
        if n_candidates > 1 and not any(candidate.base_rank == 1 for candidate in kept):
            kept = (*kept[:-1], *(candidate for candidate in self.candidates if candidate.base_rank == 1))
        return Explanation(kept, self.names)

    def __str__(self) -> str:
        """Return a table with ranks, class, contributions, score and the classes that were overtaken."""
        if not self.candidates:
            return "no candidates on this row"
        parts = list(self.candidates[0].contributions)
        rows = []
        for candidate in self.candidates:
            ranks = str(candidate.rank), str(candidate.base_rank)
            numbers = [f"{candidate.contributions[part]:+z.3f}" for part in parts]
            overtaken = ", ".join(self.names[rival] for rival in candidate.overtook) or "-"
            rows.append([*ranks, candidate.name, *numbers, f"{candidate.score:z.3f}", overtaken])
        header = ["rank", "was", "class", *parts, "score", "overtook"]
        return text_table(header, rows, text_columns=(2, len(header) - 1))


def explain_row(correction: Correction, shortlist: Shortlist, adjustments: Adjustments) -> Explanation:
    """Return the explanation of a shortlist with a single row."""
    parts = correction.contributions(shortlist, adjustments)
    ranking = Ranking.from_corrected(shortlist, correction.scores(shortlist, adjustments))
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
