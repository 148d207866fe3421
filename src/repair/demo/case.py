"""One patient looked at closely, as in the paper's case study: both shortlists, and why they differ."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from repair.arrays import FloatArray
from repair.comparison import Comparison
from repair.estimator import ShortlistReranker
from repair.explanation import Explanation
from repair.metrics import rare_classes
from repair.score_set import ScoreSet
from repair.tables import text_table

__all__ = ["Case", "choose_case"]

#: Names are cut to this, so that two of them fit beside each other.
WIDTH = 40


@dataclass(frozen=True, eq=False)
class Case:
    """A test patient.

    Attributes
    ----------
    row : int
        Place among the test patients.
    truth, related : int
        The patient's disease, and the candidate that is most like it in its phenotypes.
    rare : bool
        Whether the disease is rare.
    explanation : Explanation
        Every candidate's score as a sum, best first.
    ranks : dict of dict
        Method → class id → place on its shortlist, 1 is best.
    names : mapping from class id to str
    """

    row: int
    truth: int
    related: int
    rare: bool
    explanation: Explanation
    ranks: dict[str, dict[int, int]]
    names: Mapping[int, str]

    def shortlists(self) -> str:
        """Return the base model's shortlist and the new one, side by side."""
        before = sorted(self.explanation.candidates, key=lambda one: one.base_rank)
        lines = [
            [str(new.rank), self._name(old.class_id), self._name(new.class_id), str(new.base_rank)]
            for old, new in zip(before, self.explanation.candidates, strict=True)
        ]
        return text_table(["rank", "base shortlist", "new shortlist", "was"], lines, text_columns=(1, 2))

    def contributions(self) -> str:
        """Return the new shortlist with everything that adds up to each score."""
        parts = list(self.explanation.candidates[0].contributions)
        lines = [
            [self._name(one.class_id), *(_signed(one.contributions[part]) for part in parts), f"{one.score:.2f}"]
            for one in self.explanation.candidates
        ]
        return text_table(["new shortlist", *parts, "score"], lines)

    def rank_table(self) -> str:
        """Return where each method puts the disease and the candidate that is most like it."""
        lines = [[method, str(ranks[self.truth]), str(ranks[self.related])] for method, ranks in self.ranks.items()]
        return text_table(["method", self._name(self.truth), f"{self._name(self.related)} (most alike)"], lines)

    def to_csv(self) -> str:
        """Return the new shortlist with all digits, one candidate a line."""
        parts = list(self.explanation.candidates[0].contributions)
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["rank", "was", "disease", "name", "true", *parts, "score"])
        for one in self.explanation.candidates:
            values = [repr(one.contributions[part]) for part in parts]
            true = int(one.class_id == self.truth)
            writer.writerow(
                [one.rank, one.base_rank, one.name, self.names[one.class_id], true, *values, repr(one.score)]
            )
        return stream.getvalue()

    def _name(self, class_id: int) -> str:
        name = self.names[class_id]
        mark = " *" if class_id == self.truth else ""
        room = WIDTH - len(mark)
        return (name if len(name) <= room else name[: room - 1] + "…") + mark


def choose_case(comparison: Comparison, test: ScoreSet, names: Mapping[int, str], method: str) -> Case | None:
    """Take the patient that `method` moved furthest to the first place, with a rare disease if there is one.

    Parameters
    ----------
    comparison : Comparison
        Of `method` with others, on the rows of `test`.
    test : ScoreSet
        With dense scores, class counts and a similarity matrix.
    names : mapping from class id to str
    method : str

    Returns
    -------
    Case or None
        None if no patient was moved to the first place.

    Examples
    --------
    >>> from repair import Base, Reranker, ScoreSet, compare
    >>> from repair.bench.synthetic import SyntheticSettings, make_synthetic
    >>> from repair.demo.case import choose_case
    >>> made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=400, n_test=300, n_pairs=5))
    >>> known = {"class_counts": made.class_counts, "similarity": made.similarity}
    >>> sets = [ScoreSet(part.scores, part.labels, **known) for part in (made.calibration, made.test)]
    >>> comparison = compare({"Base": Base(5), "REPAIR": Reranker(5)}, *sets, trials=1, resamples=10)
    >>> case = choose_case(comparison, sets[1], {label: f"disease {label}" for label in range(20)}, "REPAIR")
    >>> print(case.shortlists().splitlines()[0])
    rank  base shortlist  new shortlist  was
    """
    labels, scores = comparison.labels, np.asarray(test.scores)
    base_rank = (scores > scores[np.arange(len(labels)), labels][:, None]).sum(axis=1)
    mended = (comparison.rows[method]["hit@1"] > 0) & (base_rank > 0)
    if not mended.any():
        return None
    rare = rare_classes(np.asarray(test.class_counts))[labels]
    row = int(np.lexsort((-base_rank, ~rare, ~mended))[0])
    explanation = comparison.models[method].explain(scores[row])
    truth = int(labels[row])
    likeness = np.asarray(test.similarity)[truth]
    rivals = [one.class_id for one in explanation.candidates if one.class_id != truth]
    return Case(
        row=row,
        truth=truth,
        related=max(rivals, key=lambda rival: likeness[rival]),
        rare=bool(rare[row]),
        explanation=explanation,
        ranks={name: _ranks(model, scores[row]) for name, model in comparison.models.items()},
        names=names,
    )


def _ranks(model: ShortlistReranker, scores: FloatArray) -> dict[int, int]:
    return {int(one): rank for rank, one in enumerate(model.rerank(scores).ids[0], 1)}


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}"  # + 0.0 turns −0 into 0: the sign of rounding differs between machines
