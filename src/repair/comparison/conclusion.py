"""The conclusion of a comparison in words: which method is best, by how much, and whether that may be chance."""

from __future__ import annotations

import math

from repair.comparison.numbers import ComparisonNumbers, Difference
from repair.rerankers.methods import title_of
from repair.stats.paired_gains import signed_points

__all__ = ["conclude"]

#: With more methods than this, the best of them is noticeably flattered by having been picked on these rows.
FEW_METHODS = 2


def conclude(comparison: ComparisonNumbers) -> str:
    """Return which method has the highest accuracy over all rows, and its difference to Base and to the runner-up.

    All numbers are about the full models, and the same as in the tables.
    """
    order = sorted(comparison.methods, key=lambda name: -comparison.full[name]["accuracy"])
    best, others = order[0], order[1:]
    accuracy = 100 * comparison.full[best]["accuracy"]
    rows = f"over all {comparison.setup.n_test:,} test rows"
    if not others:
        return f"Conclusion: the accuracy of {_title(best)} {rows} is {accuracy:.1f} %."
    base = _base(comparison)
    highest = f"{_title(best)} has the highest accuracy {rows}, {accuracy:.1f} %."
    sentences = [_headline(comparison, best, others, base), highest]
    for other in dict.fromkeys([base if base in others else None, others[0]]):
        if other is not None:
            role = "" if other == base else "the runner-up "
            sentences.append(f"Difference to {role}{_title(other)}: {_gap(comparison, best, other)}.")
    if base is not None and best != base:
        sentences += _losses(comparison, best, base)
    if len(order) > FEW_METHODS:
        sentences.append(f"The best of {len(order)} methods was picked on these rows, which flatters it a little.")
    return " ".join(sentences)


def _headline(comparison: ComparisonNumbers, best: str, others: list[str], base: str | None) -> str:
    """Return the conclusion without numbers.  A difference is clear if its interval excludes zero."""
    clear = [other for other in others if _accuracy(comparison, best, other).low > 0]
    if len(clear) == len(others):
        return f"Conclusion: {_title(best)} is more accurate than all others."
    if best == base:
        return "Conclusion: no method is more accurate than Base."
    if base is None or base not in clear:
        compared = "the others" if base is None else "Base"
        return f"Conclusion: no clear difference between {_title(best)} and {compared}."
    similar = ", ".join(_title(other) for other in others if other not in clear)
    return f"Conclusion: {_title(best)} is more accurate than Base, but not clearly than {similar}."


def _gap(comparison: ComparisonNumbers, best: str, other: str) -> str:
    gap = _accuracy(comparison, best, other)
    if math.isnan(gap.low):
        return f"{signed_points(gap.estimate)} points"
    interval = f"{100 * comparison.setup.level:g} % interval {signed_points(gap.low)} to {signed_points(gap.high)}"
    chance = "" if gap.low > 0 else ", may be chance"
    return f"{signed_points(gap.estimate)} points ({interval}{chance})"


def _losses(comparison: ComparisonNumbers, best: str, base: str) -> list[str]:
    """Return a sentence for each stratum that clearly loses against Base."""
    gaps = comparison.difference(best, base)
    lost = {name: gaps[name] for name in comparison.metrics if name.startswith("accuracy_") and gaps[name].high < 0}
    return [
        f"Rows of {name.removeprefix('accuracy_')} classes lose {abs(100 * gap.estimate):.1f} points "
        f"({signed_points(gap.low)} to {signed_points(gap.high)})."
        for name, gap in lost.items()
    ]


def _accuracy(comparison: ComparisonNumbers, best: str, other: str) -> Difference:
    return comparison.difference(best, other)["accuracy"]


def _base(comparison: ComparisonNumbers) -> str | None:
    """Return the name under which the base order is compared, or None."""
    for name in comparison.methods:
        model = comparison.models.get(name)
        if model is not None and type(model).__name__ == "Base":
            return name
    return None


def _title(name: str) -> str:
    return " ".join(title_of(name).split())
