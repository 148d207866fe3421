"""Macro accuracy of our methods at the accuracy of each rival, where all of them aim at macro accuracy."""

from collections.abc import Mapping
from itertools import pairwise

from repair_bench.harness.methods import EMBEDDINGS, MACRO_EMBEDDED
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
    """Return macro accuracy of our method minus that of a rival with the dial "macro", at the rival's accuracy.

    None if one of them was not run.  `HIGHER` or `LOWER` if the rival's accuracy is above or below
    everything that our method reaches.
    """
    curves = [record["methods"].get(title, {}).get("macro_frontier") for title in (ours, rival)]
    if curves[0] is None or curves[1] is None:
        return None
    at = curves[1]["steps"].index(RULE)
    accuracy, macro = curves[1]["accuracy"][at], curves[1]["macro"][at]
    reached = macro_at(curves[0], accuracy)
    if reached is None:
        return HIGHER if accuracy > max(curves[0]["accuracy"]) else LOWER
    return float(reached - macro)


def macro_table(results: Mapping[str, Result], information: str) -> Table:
    """Return these differences for every benchmark and every rival with this information, and how many are positive.

    Parameters
    ----------
    results : mapping from benchmark to result
    information : str
        What the rivals get, `repair_bench.harness.methods.SCORES` or `EMBEDDINGS`.
    """
    ours = MACRO_EMBEDDED if information == EMBEDDINGS else EXTENDED
    if not any(ours in record["methods"] for record in results.values()):
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
        'every method has the dial "macro", or was trained with class-balanced weights'
    )
    return Table(caption, ["benchmark", *rivals], rows)


def _rivals(results: Mapping[str, Result], information: str) -> list[str]:
    """Return the titles of all methods with this information that are not ours, in the order in which they were run."""
    titles = dict.fromkeys(
        title
        for record in results.values()
        for title in record["methods"]
        if title not in (BASE, MACRO_EMBEDDED)
        and not is_ours(record, title)
        and information_of(record, title) == information
    )
    return list(titles)


def _cell(gap: float | str | None) -> str:
    if gap is None:
        return "–"
    return gap if isinstance(gap, str) else number(gap, "macro", "+")
