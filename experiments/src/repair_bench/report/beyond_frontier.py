"""Accuracy on rare classes at a rival's accuracy on frequent classes, reached by turning the dial of one method."""

from collections.abc import Mapping
from itertools import pairwise

from repair_bench.report.beyond_differences import RIVALS
from repair_bench.report.numbers import Result, number
from repair_bench.report.table import Table

__all__ = ["frontier_gap", "frontier_table", "rare_at"]

OPPONENTS = tuple(rival for rival in RIVALS if rival != "Base")
HIGHER, LOWER = "n/a ↑", "n/a ↓"
Point = tuple[float, float, float]


def curve_points(curve: Result) -> list[Point]:
    """Return (dial, Frequent, Rare) for every dial at which both are defined."""
    points = zip(curve["dials"], curve["frequent"], curve["rare"], strict=True)
    return [(dial, frequent, rare) for dial, frequent, rare in points if frequent is not None and rare is not None]


def rare_at(curve: Result, frequent: float) -> float | None:
    """Return Rare at a given Frequent, by linear interpolation.  None if the curve does not reach that Frequent.

    If the curve reaches it more than once, the point nearest to dial 0 is taken, a choice that does
    not depend on Rare.

    Examples
    --------
    >>> from repair_bench.report.beyond_frontier import rare_at
    >>> curve = {"dials": [0.0, 0.5], "frequent": [0.8, 0.6], "rare": [0.1, 0.3]}
    >>> round(rare_at(curve, 0.7), 6), rare_at(curve, 0.9)
    (0.2, None)
    """
    crossings = []
    for before, after in pairwise(curve_points(curve)):
        if min(before[1], after[1]) <= frequent <= max(before[1], after[1]):
            if before[1] == after[1]:
                share = 0.0 if abs(before[0]) <= abs(after[0]) else 1.0
            else:
                share = (frequent - before[1]) / (after[1] - before[1])
            dial, _, rare = (start + share * (end - start) for start, end in zip(before, after, strict=True))
            crossings.append((abs(dial), rare))
    return min(crossings)[1] if crossings else None


def frontier_gap(record: Result, first: str, rival: str) -> float | str | None:
    """Return Rare of one method minus Rare of a rival, at the rival's Frequent.

    None if one of them was not run.  `HIGHER` or `LOWER` if the rival's Frequent is above or below
    everything that the first method reaches.
    """
    curves = [record["methods"].get(title, {}).get("trade_off") for title in (first, rival)]
    if curves[0] is None or curves[1] is None:
        return None
    reachable = curve_points(curves[0])
    at_dial_zero = [point for point in curve_points(curves[1]) if point[0] == 0.0]
    if not reachable or not at_dial_zero:
        return None
    _, frequent, rare = at_dial_zero[0]
    reached = rare_at(curves[0], frequent)
    if reached is None:
        return HIGHER if frequent > max(point[1] for point in reachable) else LOWER
    return reached - rare


def frontier_table(results: Mapping[str, Result], first: str) -> Table:
    """Return these differences for every benchmark and rival, and how many are negative."""
    gaps = {name: [frontier_gap(record, first, rival) for rival in OPPONENTS] for name, record in results.items()}
    rows = [[name, *(_cell(gap) for gap in line)] for name, line in gaps.items()]
    columns = [[gap for gap in column if isinstance(gap, float)] for column in zip(*gaps.values(), strict=True)]
    rows.append(["negative", *(f"{sum(gap < 0 for gap in column)} of {len(column)}" for column in columns)])
    caption = f"Rare of {first} minus Rare of each rival in points, at the rival's Frequent, over all rows"
    return Table(caption, ["benchmark", *OPPONENTS], rows)


def _cell(gap: float | str | None) -> str:
    if gap is None:
        return "–"
    return gap if isinstance(gap, str) else number(gap, "accuracy_rare", "+")
