"""Single rows of the report: both shortlists, and the parts of every score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.report.evidence import Evidence

__all__ = ["Examples", "choose_rows", "explain_rows"]

KINDS = ("fixed", "broken", "still right", "still wrong", "not on the shortlist")
#: Number of characters of a text that are kept.
LONGEST_TEXT = 2000
DIGITS = 4


@dataclass(frozen=True)
class Examples:
    """Rows as plain data.

    Attributes
    ----------
    parts : tuple of str
        Names of the parts of a score, in the order in which they are added: ``"base"``, ``"offset"``, …
    names : tuple of str
        Names of the classes that occur.  Rows refer to them by index.
    rows : tuple of dict
        ``id``, ``kind``, ``truth`` (an index of `names`, or −1), ``text``, ``place`` (the rank of the true class in
        the base order of all classes, or None), and ``candidates``, best first: lists of name index, base rank,
        score, and one number per part.
    n_classes : int
        Number of classes.
    """

    parts: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    n_classes: int


def choose_rows(evidence: Evidence, count: int, seed: int = 0, first: Sequence[int] = ()) -> IntArray:
    """Draw rows in turn from every kind of outcome, and return them sorted by kind, after the rows to show `first`.

    Fixed and broken rows are few but the most interesting.  A simple random draw would contain hardly any.
    """
    rng = np.random.default_rng(seed)
    kinds = outcome(evidence)
    queues = [rng.permutation(np.flatnonzero(kinds == kind)) for kind in range(len(KINDS))]
    wanted = list(dict.fromkeys(map(int, first)))
    most = min(max(count, len(wanted)), len(kinds))
    chosen: list[int] = []
    depth = 0
    while len(wanted) + len(chosen) < most:
        for queue in queues:
            if depth < len(queue) and len(wanted) + len(chosen) < most and int(queue[depth]) not in wanted:
                chosen.append(int(queue[depth]))
        depth += 1
    return np.array([*wanted, *sorted(chosen, key=lambda row: (kinds[row], row))], dtype=np.int32)


def outcome(evidence: Evidence) -> AnyArray:
    """Return the outcome of each row, as an index of `KINDS`."""
    before, after = evidence.hits_before > 0, evidence.hits_after > 0
    covered = evidence.shortlist.positions_of(evidence.labels) >= 0
    return np.select([~before & after, before & ~after, before & after, covered], [0, 1, 2, 3], 4)


def explain_rows(
    evidence: Evidence,
    rows: IntArray,
    row_ids: Sequence[Any] | None,
    row_texts: Sequence[Any] | None,
    all_scores: AnyArray | None = None,
) -> Examples:
    """Explain rows, each with a model that was not fitted on it.  `all_scores` are those of all classes, if known."""
    part_of = {int(row): (part, index) for part in evidence.parts for index, row in enumerate(part.rows)}
    explanations = {}
    for row in map(int, rows):
        part, index = part_of[row]
        explanations[row] = part.model.explain(part.shortlist.take([index]), dial=evidence.dial)
    parts: dict[str, None] = {"base": None}
    name_index: dict[int, int] = {}  # by class id, because two classes may have the same title
    for explanation in explanations.values():
        for candidate in explanation.candidates:
            parts.update(dict.fromkeys(candidate.contributions))
            name_index.setdefault(candidate.class_id, len(name_index))
    kinds, name_of = outcome(evidence), evidence.parts[0].model.state.correction.table.name_of
    examples = []
    for row, explanation in explanations.items():
        label = int(evidence.labels[row])
        truth = -1 if label < 0 else name_index.setdefault(label, len(name_index))
        examples.append(
            {
                "id": str(row if row_ids is None else row_ids[row]),
                "kind": KINDS[int(kinds[row])],
                "truth": truth,
                "place": None if all_scores is None else _place(all_scores[row], label),
                "text": "" if row_texts is None else str(row_texts[row])[:LONGEST_TEXT],
                "candidates": [
                    [
                        name_index[c.class_id],
                        c.base_rank,
                        _short(c.score),
                        *(_short(c.contributions.get(p, 0.0)) for p in parts),
                    ]
                    for c in explanation.candidates
                ],
            }
        )
    return Examples(tuple(parts), tuple(map(name_of, name_index)), tuple(examples), evidence.shortlist.n_classes)


def _place(scores: AnyArray, label: int) -> int | None:
    """Return the rank of a label in the base order of all classes, from 1, or None if it has no score."""
    if label < 0 or not np.isfinite(scores[label]):
        return None
    ahead = (scores > scores[label]).sum() + (scores[:label] == scores[label]).sum()
    return int(ahead) + 1


def _short(value: float) -> float:
    return round(float(value), DIGITS)
