"""Rare classes at equal accuracy on frequent ones: one method's dial is turned to where a rival stands."""

from collections.abc import Mapping
from itertools import pairwise

from repair.bench.report.beyond_differences import RIVALS
from repair.bench.report.numbers import Result, number
from repair.bench.report.table import Table

__all__ = ["frontier_gap", "frontier_table", "rare_at"]

OPPONENTS = tuple(rival for rival in RIVALS if rival != "Base")
HIGHER, LOWER = "n/a ↑", "n/a ↓"
Point = tuple[float, float, float]


def curve_points(curve: Result) -> list[Point]:
    """Return (dial, Frequent, Rare) at every dial at which both are known."""
    points = zip(curve["dials"], curve["frequent"], curve["rare"], strict=True)
    return [(dial, frequent, rare) for dial, frequent, rare in points if frequent is not None and rare is not None]


def rare_at(curve: Result, frequent: float) -> float | None:
    """Return Rare where a curve has a given Frequent, by linear interpolation; None where it does not get there.

    Where the curve gets there more than once, the place nearest to dial 0 is taken: a choice that
    does not look at Rare.

    Examples
    --------
    >>> from repair.bench.report.beyond_frontier import rare_at
    >>> curve = {"dials": [0.0, 0.5], "frequent": [0.8, 0.6], "rare": [0.1, 0.3]}
    >>> round(rare_at(curve, 0.7), 6), rare_at(curve, 0.9)
    (0.2, None)
    """
    found = []
    for before, after in pairwise(curve_points(curve)):
        if min(before[1], after[1]) <= frequent <= max(before[1], after[1]):
            if before[1] == after[1]:
                share = 0.0 if abs(before[0]) <= abs(after[0]) else 1.0
            else:
                share = (frequent - before[1]) / (after[1] - before[1])
            dial, _, rare = (one + share * (other - one) for one, other in zip(before, after, strict=True))
            found.append((abs(dial), rare))
    return min(found)[1] if found else None


def frontier_gap(record: Result, first: str, rival: str) -> float | str | None:
    """Return Rare of one method minus a rival's at the rival's own Frequent.

    None where one was not run; `HIGHER` or `LOWER` where the rival's Frequent is above or below
    all that the first reaches.
    """
    curves = [record["methods"].get(title, {}).get("trade_off") for title in (first, rival)]
    if curves[0] is None or curves[1] is None:
        return None
    own, points = curve_points(curves[0]), [one for one in curve_points(curves[1]) if one[0] == 0.0]
    if not own or not points:
        return None
    _, frequent, rare = points[0]
    reached = rare_at(curves[0], frequent)
    if reached is None:
        return HIGHER if frequent > max(one[1] for one in own) else LOWER
    return reached - rare


def frontier_table(results: Mapping[str, Result], first: str) -> Table:
    """Return these differences for every benchmark and rival, and how many are negative."""
    gaps = {name: [frontier_gap(one, first, rival) for rival in OPPONENTS] for name, one in results.items()}
    rows = [[name, *(_cell(gap) for gap in line)] for name, line in gaps.items()]
    columns = [[one for one in column if isinstance(one, float)] for column in zip(*gaps.values(), strict=True)]
    rows.append(["negative", *(f"{sum(one < 0 for one in column)} of {len(column)}" for column in columns)])
    caption = f"Rare of {first} minus Rare of a rival, at the rival's Frequent: all rows, points"
    return Table(caption, ["benchmark", *OPPONENTS], rows)


def _cell(gap: float | str | None) -> str:
    if gap is None:
        return "–"
    return gap if isinstance(gap, str) else number(gap, "accuracy_rare", "+")
