"""Single rows for the example explorer: both shortlists, and what every score is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from repair.arrays import AnyArray, IntArray
from repair.report.evidence import Evidence

__all__ = ["Examples", "choose_rows", "explain_rows"]

KINDS = ("mended", "lost", "still right", "still wrong", "not on the shortlist")
#: Characters of a text that are kept.
LONGEST_TEXT = 2000
DIGITS = 4


@dataclass(frozen=True)
class Examples:
    """Rows as plain data.

    Attributes
    ----------
    parts : tuple of str
        What scores are made of, in the order it is added: ``"base"``, ``"offset"``, …
    names : tuple of str
        Names of the classes that occur; rows refer to them by place.
    rows : tuple of dict
        ``id``, ``kind``, ``truth`` (a place in `names`, or −1), ``text``, and ``candidates``, best first: lists
        of name, base rank, score, and one number a part.
    """

    parts: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]


def choose_rows(evidence: Evidence, count: int, seed: int = 0) -> IntArray:
    """Draw rows, of every kind of outcome as many as there are and fit, sorted by kind.

    Mended and lost rows are what one wants to see, and few; a plain draw would hardly hold any.
    """
    rng = np.random.default_rng(seed)
    kinds = outcome(evidence)
    queues = [rng.permutation(np.flatnonzero(kinds == kind)) for kind in range(len(KINDS))]
    chosen: list[int] = []
    depth = 0
    while len(chosen) < min(count, len(kinds)):
        for queue in queues:
            if depth < len(queue) and len(chosen) < count:
                chosen.append(int(queue[depth]))
        depth += 1
    return np.array(sorted(chosen, key=lambda row: (kinds[row], row)), dtype=np.int32)


def outcome(evidence: Evidence) -> AnyArray:
    """Return the place in `KINDS` of what happened to each row."""
    before, after = evidence.hits_before > 0, evidence.hits_after > 0
    covered = evidence.shortlist.positions_of(evidence.labels) >= 0
    return np.select([~before & after, before & ~after, before & after, covered], [0, 1, 2, 3], 4)


def explain_rows(
    evidence: Evidence, rows: IntArray, row_ids: Sequence[Any] | None, row_texts: Sequence[Any] | None
) -> Examples:
    """Explain rows, each by a model that was not fitted on it."""
    model_of = {int(row): part.model for part in evidence.parts for row in np.intersect1d(part.rows, rows)}
    explained = {
        int(row): model_of[int(row)].explain(evidence.shortlist.take([int(row)]), dial=evidence.dial) for row in rows
    }
    parts: dict[str, None] = {"base": None}
    places: dict[int, int] = {}  # two classes may have the same title, so they are told apart by their ids
    for one in explained.values():
        for candidate in one.candidates:
            parts.update(dict.fromkeys(candidate.contributions))
            places.setdefault(candidate.class_id, len(places))
    kinds, name_of = outcome(evidence), evidence.parts[0].model._fitted().correction.table.name_of
    found = []
    for row, one in explained.items():
        label = int(evidence.labels[row])
        truth = -1 if label < 0 else places.setdefault(label, len(places))
        found.append(
            {
                "id": str(row if row_ids is None else row_ids[row]),
                "kind": KINDS[int(kinds[row])],
                "truth": truth,
                "text": "" if row_texts is None else str(row_texts[row])[:LONGEST_TEXT],
                "candidates": [
                    [
                        places[c.class_id],
                        c.base_rank,
                        _short(c.score),
                        *(_short(c.contributions.get(p, 0.0)) for p in parts),
                    ]
                    for c in one.candidates
                ],
            }
        )
    return Examples(tuple(parts), tuple(map(name_of, places)), tuple(found))


def _short(value: float) -> float:
    return round(float(value), DIGITS)
