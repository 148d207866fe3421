"""How the extended mode differs from its rivals over all rows, with one correction for all of its comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repair.bench.report.numbers import (
    EMBEDDED,
    EXTENDED,
    PUBLISHED,
    Result,
    against,
    interval,
    number,
    p_value,
    significant,
)
from repair.bench.report.table import Table
from repair.statistics import holm

__all__ = [
    "FIRSTS",
    "RIVALS",
    "Verdict",
    "ablation_table",
    "count_table",
    "difference_table",
    "family",
    "side_table",
    "worse_pairs",
]

FIRSTS = (EXTENDED, EMBEDDED)
RIVALS = (PUBLISHED, "LogitAdj", "LogitAdj over all classes", "LambdaRank", "Base")
#: What taking more classes onto the shortlist brings, and what the rows' vectors bring.
PARTS = (
    ("own list", EXTENDED, f"{EXTENDED}, base's list"),
    ("own list, with embeddings", EMBEDDED, f"{EMBEDDED}, base's list"),
    ("embeddings, base's list", f"{EMBEDDED}, base's list", f"{EXTENDED}, base's list"),
    ("embeddings, own list", EMBEDDED, EXTENDED),
    ("both", EMBEDDED, f"{EXTENDED}, base's list"),
)
METRIC = "accuracy"
SIDES = {"accuracy_rare": "rare classes", "accuracy_frequent": "frequent classes"}


@dataclass(frozen=True)
class Verdict:
    """One paired difference.

    Attributes
    ----------
    difference : mapping
        As a result holds it: estimate, interval, p-value.
    p_holm : float
        Corrected for all benchmarks and rivals of the family.
    alone, corrected : int
        1 or −1 where significantly above or below, by its own interval and after the correction.
    """

    difference: Result
    p_holm: float
    alone: int
    corrected: int


def family(results: Mapping[str, Result], first: str) -> dict[tuple[str, str], Verdict]:
    """Return the differences of one method to all `RIVALS`, by benchmark and rival, corrected by Holm together."""
    found = {}
    for name, record in results.items():
        for rival in RIVALS:
            pair = against(record, first, rival)
            if pair is not None and pair[METRIC]["difference"]["p_value"] is not None:
                found[name, rival] = pair[METRIC]["difference"]
    adjusted = holm(np.array([one["p_value"] for one in found.values()])).tolist()
    verdicts = {}
    for ((name, rival), one), p_holm in zip(found.items(), adjusted, strict=True):
        direction = (one["estimate"] > 0) - (one["estimate"] < 0)
        sure = p_holm < 1 - results[name]["setup"]["level"]
        verdicts[name, rival] = Verdict(one, p_holm, significant(one), direction if sure else 0)
    return verdicts


def difference_table(results: Mapping[str, Result], first: str) -> Table:
    """Return one method's differences to its rivals, with interval and corrected p-value."""
    verdicts = family(results, first)
    rows = [[name, *(_cell(verdicts.get((name, rival))) for rival in RIVALS)] for name in results]
    caption = (
        f"{first} − its rivals: accuracy over all rows, points, fits on all calibration rows, with interval "
        f"(* where it leaves out zero) and p after Holm over {len(verdicts)} comparisons"
    )
    return Table(caption, ["benchmark", *RIVALS], rows)


def count_table(results: Mapping[str, Result]) -> Table:
    """Return on how many benchmarks each is significantly above and below each rival."""
    rows = []
    for first in FIRSTS:
        verdicts = family(results, first)
        cells = [[one for (_, other), one in verdicts.items() if other == rival] for rival in RIVALS]
        rows.append([first, *(_counts(cell) for cell in cells)])
    caption = "Benchmarks significantly above / below, of all: after Holm (without a correction)"
    return Table(caption, ["method", *(f"against {rival}" for rival in RIVALS)], rows)


def side_table(results: Mapping[str, Result]) -> Table:
    """Return the same counts for rare and for frequent classes alone, by the intervals: somebody may pay for a gain."""
    rows = []
    for first in FIRSTS:
        for metric, side in SIDES.items():
            pairs = [[against(one, first, rival) for one in results.values()] for rival in RIVALS]
            signs = [[significant(pair[metric]["difference"]) for pair in column if pair] for column in pairs]
            cells = [f"{one.count(1)} / {one.count(-1)} of {len(one)}" if one else "–" for one in signs]
            rows.append([first, side, *cells])
    caption = "Benchmarks significantly above / below on one side alone, all rows, dial 0, without a correction"
    return Table(caption, ["method", "rows of", *(f"against {rival}" for rival in RIVALS)], rows, n_text=2)


def worse_pairs(results: Mapping[str, Result], first: str) -> list[tuple[str, str]]:
    """Return the benchmarks and methods that one method is below, by the interval alone.

    All methods count but the other forms of the extended mode, `auto` among them.
    """
    found = []
    for name, record in results.items():
        others = [one for one in record["methods"] if not one.startswith((EXTENDED, "auto"))]
        for other in others if first in record["methods"] else ():
            if significant(against(record, first, other)[METRIC]["difference"]) == -1:
                found.append((name, other))
    return found


def ablation_table(results: Mapping[str, Result]) -> Table:
    """Return what own shortlists and embeddings bring, as paired differences over all rows."""
    gaps = {
        name: [
            None if (pair := against(record, first, second)) is None else pair[METRIC]["difference"]
            for _, first, second in PARTS
        ]
        for name, record in results.items()
    }
    rows = [[name, *(_gap(one) for one in line)] for name, line in gaps.items()]
    columns = [[one["estimate"] for one in column if one is not None] for column in zip(*gaps.values(), strict=True)]
    rows.append(["mean", *(_mean(column) for column in columns)])
    caption = "What the parts bring: accuracy over all rows, points, with interval; * where it leaves out zero"
    return Table(caption, ["benchmark", *(what for what, _, _ in PARTS)], rows)


def _cell(verdict: Verdict | None) -> str:
    return "–" if verdict is None else f"{_gap(verdict.difference)}, p {p_value(verdict.p_holm)}"


def _gap(one: Result | None) -> str:
    if one is None:
        return "–"
    mark = " *" if significant(one) else ""
    return f"{number(one['estimate'], METRIC, '+')} ({interval(one, METRIC, '+')}){mark}"


def _counts(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return "–"
    corrected, alone = [one.corrected for one in verdicts], [one.alone for one in verdicts]
    return f"{corrected.count(1)} / {corrected.count(-1)} of {len(verdicts)} ({alone.count(1)} / {alone.count(-1)})"


def _mean(values: Sequence[float]) -> str:
    return f"{number(float(np.mean(values)), METRIC, '+')} (of {len(values)})" if values else "–"
