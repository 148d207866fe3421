"""One patient in detail, as in the paper's case study: both shortlists, and why they differ."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import FloatArray
from repair._utils.text_tables import text_table
from repair.comparison.result import Comparison
from repair.data.score_set import ScoreSet
from repair.model.explanation import Explanation
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import title_of
from repair.stats.strata import rare_classes

__all__ = ["Case", "choose_case"]

#: Names are cut to this length, so two of them fit on a line.
WIDTH = 40


@dataclass(frozen=True, eq=False)
class Case:
    """A test patient.

    Attributes
    ----------
    row : int
        Index of the patient among the test patients.
    truth, related : int
        Class ids of the patient's disease, and of the candidate with the most similar phenotypes.
    rare : bool
        Whether the disease is rare.
    explanation : Explanation
        Every candidate's score as a sum, best first.
    ranks : dict of dict
        For each method, the rank of each class id on its shortlist, from 1.
    names : mapping from class id to str
        Names of the diseases.
    """

    row: int
    truth: int
    related: int
    rare: bool
    explanation: Explanation
    ranks: dict[str, dict[int, int]]
    names: Mapping[int, str]

    def shortlists(self) -> str:
        """Return a table of the base model's shortlist and the new one, side by side."""
        before = sorted(self.explanation.candidates, key=lambda candidate: candidate.base_rank)
        lines = [
            [str(new.rank), self._name(old.class_id), self._name(new.class_id), str(new.base_rank)]
            for old, new in zip(before, self.explanation.candidates, strict=True)
        ]
        return text_table(["rank", "base shortlist", "new shortlist", "was"], lines, text_columns=(1, 2))

    def contributions(self) -> str:
        """Return a table of the new shortlist with the parts of each score."""
        parts = list(self.explanation.candidates[0].contributions)
        lines = [
            [self._name(c.class_id), *(_signed(c.contributions[part]) for part in parts), f"{c.score:.2f}"]
            for c in self.explanation.candidates
        ]
        return text_table(["new shortlist", *parts, "score"], lines)

    def rank_table(self) -> str:
        """Return a table of each method's rank of the disease and of the most similar candidate."""
        lines = [
            [title_of(method), str(ranks[self.truth]), str(ranks[self.related])] for method, ranks in self.ranks.items()
        ]
        return text_table(["method", self._name(self.truth), f"{self._name(self.related)} (most similar)"], lines)

    def to_csv(self) -> str:
        """Return the new shortlist as CSV with all digits, one line per candidate."""
        parts = list(self.explanation.candidates[0].contributions)
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["rank", "was", "disease", "name", "true", *parts, "score"])
        for c in self.explanation.candidates:
            values = [repr(c.contributions[part]) for part in parts]
            true = int(c.class_id == self.truth)
            writer.writerow([c.rank, c.base_rank, c.name, self.names[c.class_id], true, *values, repr(c.score)])
        return stream.getvalue()

    def _name(self, class_id: int) -> str:
        name = self.names[class_id]
        mark = " *" if class_id == self.truth else ""
        room = WIDTH - len(mark)
        return (name if len(name) <= room else name[: room - 1] + "…") + mark


def choose_case(comparison: Comparison, test: ScoreSet, names: Mapping[int, str], method: str) -> Case | None:
    """Choose the patient whose disease `method` moved up to the first place from furthest down.

    Patients with a rare disease are preferred.

    Parameters
    ----------
    comparison : Comparison
        Comparison of `method` with other methods on the rows of `test`.
    test : ScoreSet
        Test rows with dense scores, class counts and a similarity matrix.
    names : mapping from class id to str
        Names of the diseases.
    method : str
        Name of the method in the comparison.

    Returns
    -------
    Case or None
        None if no disease was moved to the first place.

    Examples
    --------
    >>> from repair import Base, Reranker, ScoreSet, compare
    >>> from repair.datasets import SyntheticSettings, make_synthetic
    >>> from repair.demo.case import choose_case
    >>> made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=400, n_test=300, n_pairs=4))
    >>> known = {"class_counts": made.class_counts, "similarity": made.similarity}
    >>> sets = [ScoreSet(part.scores, part.labels, **known) for part in (made.calibration, made.test)]
    >>> comparison = compare(
    ...     {"base": Base(5), "pairwise": Reranker("pairwise", n_candidates=5)}, *sets, trials=1, resamples=10
    ... )
    >>> case = choose_case(comparison, sets[1], {label: f"disease {label}" for label in range(20)}, "pairwise")
    >>> print(case.shortlists().splitlines()[0])
    rank  base shortlist  new shortlist  was
    """
    labels, scores = comparison.labels, np.asarray(test.scores)
    base_rank = (scores > scores[np.arange(len(labels)), labels][:, None]).sum(axis=1)
    fixed = (comparison.rows[method]["hit@1"] > 0) & (base_rank > 0)
    if not fixed.any():
        return None
    rare = rare_classes(np.asarray(test.class_counts))[labels]
    row = int(np.lexsort((-base_rank, ~rare, ~fixed))[0])
    explanation = comparison.models[method].explain(scores[row])
    truth = int(labels[row])
    similarity = np.asarray(test.similarity)[truth]
    rivals = [candidate.class_id for candidate in explanation.candidates if candidate.class_id != truth]
    return Case(
        row=row,
        truth=truth,
        related=max(rivals, key=lambda rival: similarity[rival]),
        rare=bool(rare[row]),
        explanation=explanation,
        ranks={name: _ranks(model, scores[row]) for name, model in comparison.models.items()},
        names=names,
    )


def _ranks(model: ShortlistReranker, scores: FloatArray) -> dict[int, int]:
    return {int(class_id): rank for rank, class_id in enumerate(model.rerank(scores).ids[0], 1)}


def _signed(value: float) -> str:
    # + 0.0 turns −0 into 0, because the sign of rounding errors differs between machines.
    return f"{round(value, 2) + 0.0:+.2f}"
