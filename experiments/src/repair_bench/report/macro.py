"""Macro accuracy of our methods at the accuracy of each rival, where all of them aim at macro accuracy."""

from collections.abc import Mapping
from itertools import pairwise

from repair_bench.harness.methods import EMBEDDINGS
from repair_bench.report.information import information_of, is_ours
from repair_bench.report.numbers import BASE, EMBEDDED, EXTENDED, Result, number
from repair_bench.report.table import AbsentError, Table

__all__ = ["macro_at", "macro_gap", "macro_table"]

#: The rival is more accurate, or less accurate, than our method at any step.
HIGHER, LOWER = "n/a ↑", "n/a ↓"
#: The step of the dial "macro".
RULE = 1.0


def macro_at(curve: Result, accuracy: float) -> float | None:
    """Return macro accuracy at a given accuracy, by linear interpolation.  None if the curve does not reach it.

    If the curve reaches it more than once, the point nearest to the dial "macro" is taken, a choice that does
    not depend on macro accuracy.

    Examples
    --------
    >>> from repair_bench.report.macro import macro_at
    >>> curve = {"steps": [0.0, 1.0], "accuracy": [0.8, 0.7], "macro": [0.5, 0.6]}
    >>> round(macro_at(curve, 0.75), 6), macro_at(curve, 0.9)
    (0.55, None)
    """
    crossings = []
    points = zip(curve["steps"], curve["accuracy"], curve["macro"], strict=True)
    for before, after in pairwise(points):
        if min(before[1], after[1]) <= accuracy <= max(before[1], after[1]):
            if before[1] == after[1]:
                share = 0.0 if abs(before[0] - RULE) <= abs(after[0] - RULE) else 1.0
            else:
                share = (accuracy - before[1]) / (after[1] - before[1])
            step, _, macro = (start + share * (end - start) for start, end in zip(before, after, strict=True))
            crossings.append((abs(step - RULE), macro))
    return min(crossings)[1] if crossings else None


def macro_gap(record: Result, ours: str, rival: str) -> float | str | None:
    """Return macro accuracy of our method minus that of a rival, at the rival's accuracy.

    The rival has the dial "macro" or the dial 1, whichever is better for the rival, because rivals that learn
    from training rows follow the class shares of these rows more than those of the calibration rows.

    None if one of them was not run.  `HIGHER` or `LOWER` if the rival's accuracy is above or below
    everything that our method reaches.
    """
    curve = record["methods"].get(ours, {}).get("macro_frontier")
    points = _macro_points(record["methods"].get(rival, {}))
    if curve is None or not points:
        return None
    gaps = [(macro_at(curve, accuracy), macro) for accuracy, macro in points]
    known = [float(reached - macro) for reached, macro in gaps if reached is not None]
    if known:
        return min(known)
    return HIGHER if points[0][0] > max(curve["accuracy"]) else LOWER


def _macro_points(method: Result) -> list[tuple[float, float]]:
    """Return accuracy and macro accuracy with the dial "macro", and with the dial 1 if that is known."""
    curve, turned = method.get("macro_frontier"), method.get("trade_off", {})
    if curve is None:
        return []
    at = curve["steps"].index(RULE)
    points = [(curve["accuracy"][at], curve["macro"][at])]
    if "macro" in turned and RULE in turned["dials"]:
        at = turned["dials"].index(RULE)
        points.append((turned["accuracy"][at], turned["macro"][at]))
    return points


def macro_table(results: Mapping[str, Result], information: str) -> Table:
    """Return these differences for every benchmark and every rival with this information, and how many are positive.

    Parameters
    ----------
    results : mapping from benchmark to result
    information : str
        What the rivals get, `repair_bench.harness.methods.SCORES` or `EMBEDDINGS`.
    """
    ours = EMBEDDED if information == EMBEDDINGS else EXTENDED
    rivals = _rivals(results, information)
    gaps = {name: [macro_gap(record, ours, rival) for rival in rivals] for name, record in results.items()}
    gaps = {name: line for name, line in gaps.items() if any(gap is not None for gap in line)}
    if not gaps:
        raise AbsentError(f"no benchmark has the macro accuracy of {ours} and of a rival; run both with this version")
    rows = [[name, *(_cell(gap) for gap in line)] for name, line in gaps.items()]
    columns = [[gap for gap in column if isinstance(gap, float)] for column in zip(*gaps.values(), strict=True)]
    rows.append(["mean", *(_cell(sum(column) / len(column) if column else None) for column in columns)])
    rows.append(["above", *(f"{sum(gap > 0 for gap in column)} of {len(column)}" for column in columns)])
    caption = (
        f"Macro accuracy of {ours} minus that of each rival in points, at the rival's accuracy, over all rows; "
        'rivals have the dial "macro" or the dial 1, whichever is better for them'
    )
    return Table(caption, ["benchmark", *rivals], rows)


def _rivals(results: Mapping[str, Result], information: str) -> list[str]:
    """Return the titles of all methods with this information that are not ours, in the order in which they were run."""
    titles = dict.fromkeys(
        title
        for record in results.values()
        for title in record["methods"]
        if title != BASE and not is_ours(record, title) and information_of(record, title) == information
    )
    return list(titles)


def _cell(gap: float | str | None) -> str:
    if gap is None:
        return "–"
    return gap if isinstance(gap, str) else number(gap, "macro", "+")
