"""How numbers of a result are written, and where they are found in it."""

from collections.abc import Mapping
from typing import Any

from repair.comparison_metrics import METRICS

__all__ = [
    "ALL_ROW_PAIRS",
    "EMBEDDED",
    "EXTENDED",
    "PAIRS",
    "PUBLISHED",
    "Result",
    "against",
    "interval",
    "number",
    "on_base_list",
    "p_value",
    "significant",
    "spread",
]

Result = Mapping[str, Any]

PUBLISHED = "REPAIR as published"
EXTENDED, EMBEDDED = "extended", "extended+embeddings"

#: The pairs of methods that are reported over covered rows, first the paper's question.
PAIRS = (
    ("REPAIR", "Classwise"),
    ("REPAIR", PUBLISHED),
    ("extended, base's list", PUBLISHED),
    ("extended+embeddings, base's list", PUBLISHED),
)
#: The pairs that are reported over all rows only: the first takes shortlists of its own.
ALL_ROW_PAIRS = (
    (EXTENDED, PUBLISHED),
    (EMBEDDED, PUBLISHED),
    ("auto", PUBLISHED),
    ("auto", "Base"),
    ("auto+embeddings", "Base"),
)
MISSING = "n/a"


def number(value: float | None, metric: str, sign: str = "") -> str:
    """Return a value as its metric is shown: in percent, or with three digits.

    Examples
    --------
    >>> from repair.bench.report.numbers import number
    >>> number(0.615, "hit@1"), number(-0.0123, "mrr", "+"), number(None, "rare")
    ('61.5', '−0.012', 'n/a')
    """
    if value is None:
        return MISSING
    shown = f"{100 * value:{sign}.1f}" if METRICS[metric].percent else f"{value:{sign}.3f}"
    return shown.replace("-", "−")


def spread(values: Result, metric: str) -> str:
    """Return mean ± standard deviation over the trials."""
    mean, std = values["mean"], values.get("std")
    shown = number(mean, metric)
    return shown if mean is None or std is None else f"{shown} ± {number(std, metric)}"


def interval(values: Result, metric: str, sign: str = "") -> str:
    """Return the two ends of an interval."""
    if values.get("low") is None or values.get("high") is None:
        return MISSING
    return f"{number(values['low'], metric, sign)} to {number(values['high'], metric, sign)}"


def p_value(value: float | None) -> str:
    """Return a p-value; one that three digits would call zero says so."""
    if value is None:
        return MISSING
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def against(result: Result, first: str, second: str) -> Any:
    """Return how one method compares with another, metric by metric, or None where one was not run."""
    methods = result["methods"]
    return methods[first]["against"][second] if first in methods and second in methods else None


def on_base_list(result: Result) -> dict[str, Any]:
    """Return the methods that rerank the base's shortlists, by title.

    Only these share their covered rows; the others can be compared over all rows alone.

    Examples
    --------
    >>> from repair.bench.report.numbers import on_base_list
    >>> list(on_base_list({"methods": {"Base": {"own_list": False}, "extended": {"own_list": True}}}))
    ['Base']
    """
    return {title: one for title, one in result["methods"].items() if not one.get("own_list", False)}


def significant(difference: Result) -> int:
    """Return 1 or −1 where the interval of a difference lies above or below zero, else 0.

    Examples
    --------
    >>> from repair.bench.report.numbers import significant
    >>> significant({"low": 0.1, "high": 0.2}), significant({"low": 0.0, "high": 0.2})
    (1, 0)
    """
    if difference.get("low") is None or difference.get("high") is None:
        return 0
    return int(difference["low"] > 0) - int(difference["high"] < 0)
