"""Differences of our methods to rivals over all rows, with one correction for all comparisons of a method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repair.stats.paired_gains import holm
from repair_bench.report.information import knows_no_more
from repair_bench.report.numbers import (
    AUTO,
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
from repair_bench.report.table import Table

__all__ = [
    "FIRSTS",
    "RIVALS",
    "Verdict",
    "ablation_table",
    "count_cell",
    "count_table",
    "difference_table",
    "family",
    "gap_cell",
    "side_table",
    "worse_pairs",
]

FIRSTS = (EXTENDED, EMBEDDED)
RIVALS = (PUBLISHED, "LogitAdj", "LogitAdj over all classes", "LambdaRank", "Base")
#: Column title, first and second method of the table that shows what own shortlists and embeddings bring.
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
        Estimate, interval and p-value, as in the JSON of a result.
    p_holm : float
        p-value, corrected for all benchmarks and rivals of the family.
    alone, corrected : int
        1 if significantly above, −1 if significantly below, 0 otherwise: by the interval alone, and
        after the correction.
    """

    difference: Result
    p_holm: float
    alone: int
    corrected: int


def family(results: Mapping[str, Result], first: str, rivals: Sequence[str] = RIVALS) -> dict[tuple[str, str], Verdict]:
    """Return the differences of one method to all rivals, by benchmark and rival, as one family for Holm."""
    gaps = {}
    for name, record in results.items():
        for rival in rivals:
            pair = against(record, first, rival)
            if pair is not None and pair[METRIC]["difference"]["p_value"] is not None:
                gaps[name, rival] = pair[METRIC]["difference"]
    adjusted = holm(np.array([gap["p_value"] for gap in gaps.values()])).tolist()
    verdicts = {}
    for ((name, rival), gap), p_holm in zip(gaps.items(), adjusted, strict=True):
        direction = (gap["estimate"] > 0) - (gap["estimate"] < 0)
        sure = p_holm < 1 - results[name]["setup"]["level"]
        verdicts[name, rival] = Verdict(gap, p_holm, significant(gap), direction if sure else 0)
    return verdicts


def difference_table(results: Mapping[str, Result], first: str) -> Table:
    """Return one method's differences to its rivals, with interval and corrected p-value."""
    verdicts = family(results, first)
    rows = [[name, *(_cell(verdicts.get((name, rival))) for rival in RIVALS)] for name in results]
    caption = (
        f"{first} minus each rival: accuracy over all rows in points, with interval (* if it excludes zero) and "
        f"p after Holm over {len(verdicts)} comparisons"
    )
    return Table(caption, ["benchmark", *RIVALS], rows)


def count_table(results: Mapping[str, Result]) -> Table:
    """Return on how many benchmarks each extended method is significantly above and below each rival."""
    rows = []
    for first in FIRSTS:
        verdicts = family(results, first)
        columns = [[verdict for (_, other), verdict in verdicts.items() if other == rival] for rival in RIVALS]
        rows.append([first, *(count_cell(column) for column in columns)])
    caption = "Number of benchmarks significantly above / below the rival, after Holm (and without correction)"
    return Table(caption, ["method", *(f"against {rival}" for rival in RIVALS)], rows)


def side_table(results: Mapping[str, Result]) -> Table:
    """Return the same counts for rare and for frequent classes alone, by the intervals without correction."""
    rows = []
    for first in FIRSTS:
        for metric, side in SIDES.items():
            pairs = [[against(record, first, rival) for record in results.values()] for rival in RIVALS]
            columns = [[significant(pair[metric]["difference"]) for pair in column if pair] for column in pairs]
            cells = [f"{signs.count(1)} / {signs.count(-1)} of {len(signs)}" if signs else "–" for signs in columns]
            rows.append([first, side, *cells])
    caption = "Number of benchmarks significantly above / below the rival, over all rows, dial 0, without correction"
    return Table(caption, ["method", "rows of", *(f"against {rival}" for rival in RIVALS)], rows, n_text=2)


def worse_pairs(results: Mapping[str, Result], first: str) -> list[tuple[str, str]]:
    """Return the benchmarks and methods that one method is significantly below, by the interval alone.

    Methods that get more information and the other forms of the extended mode, including `auto`, are not
    counted.
    """
    worse = []
    for name, record in results.items():
        others = [title for title in record["methods"] if not title.startswith((EXTENDED, AUTO))]
        for other in others if first in record["methods"] else ():
            pair = against(record, first, other) if knows_no_more(record, other, first) else None
            if pair is not None and significant(pair[METRIC]["difference"]) == -1:
                worse.append((name, other))
    return worse


def ablation_table(results: Mapping[str, Result]) -> Table:
    """Return the gains by own shortlists and by embeddings, as paired differences over all rows."""
    gaps = {
        name: [
            None if (pair := against(record, first, second)) is None else pair[METRIC]["difference"]
            for _, first, second in PARTS
        ]
        for name, record in results.items()
    }
    rows = [[name, *(gap_cell(gap) for gap in line)] for name, line in gaps.items()]
    columns = [[gap["estimate"] for gap in column if gap is not None] for column in zip(*gaps.values(), strict=True)]
    rows.append(["mean", *(_mean(column) for column in columns)])
    caption = "What the parts bring: accuracy over all rows in points, with interval (* if it excludes zero)"
    return Table(caption, ["benchmark", *(what for what, _, _ in PARTS)], rows)


def _cell(verdict: Verdict | None) -> str:
    return "–" if verdict is None else f"{gap_cell(verdict.difference)}, p {p_value(verdict.p_holm)}"


def gap_cell(difference: Result | None) -> str:
    """Return a difference with its interval, and a star if the interval excludes zero."""
    if difference is None:
        return "–"
    mark = " *" if significant(difference) else ""
    return f"{number(difference['estimate'], METRIC, '+')} ({interval(difference, METRIC, '+')}){mark}"


def count_cell(verdicts: Sequence[Verdict]) -> str:
    """Return how many differences are significantly above / below zero after Holm, and in brackets without it."""
    if not verdicts:
        return "–"
    corrected, alone = [verdict.corrected for verdict in verdicts], [verdict.alone for verdict in verdicts]
    return f"{corrected.count(1)} / {corrected.count(-1)} of {len(verdicts)} ({alone.count(1)} / {alone.count(-1)})"


def _mean(values: Sequence[float]) -> str:
    return f"{number(float(np.mean(values)), METRIC, '+')} (of {len(values)})" if values else "–"
