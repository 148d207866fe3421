"""Formatting the numbers of a result, and finding them in it."""

from collections.abc import Mapping
from typing import Any

from repair.evaluation.metric_table import METRICS
from repair.rerankers.methods import title_of

__all__ = [
    "ALL_ROW_PAIRS",
    "AUTO",
    "AUTO_EMBEDDED",
    "BASE",
    "CLASSWISE",
    "EMBEDDED",
    "EXTENDED",
    "PAIRS",
    "PAIRWISE",
    "PAPER_TITLES",
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

BASE, CLASSWISE, PAIRWISE, PUBLISHED = (title_of(name) for name in ("base", "classwise", "pairwise", "published"))
EXTENDED, EMBEDDED = title_of("extended"), "Extended+embeddings"
AUTO, AUTO_EMBEDDED = title_of("auto"), "Auto+embeddings"
#: Our title of a method in the paper's tables, if the two names differ.
PAPER_TITLES = {"REPAIR": PAIRWISE}

#: The pairs of methods that are compared over covered rows; the first is the paper's question.
PAIRS = (
    (PAIRWISE, CLASSWISE),
    (PAIRWISE, PUBLISHED),
    (f"{EXTENDED}, base's list", PUBLISHED),
    (f"{EMBEDDED}, base's list", PUBLISHED),
)
#: The pairs that are compared over all rows only, because the first method builds its own shortlists.
ALL_ROW_PAIRS = (
    (EXTENDED, PUBLISHED),
    (EMBEDDED, PUBLISHED),
    (AUTO, PUBLISHED),
    (AUTO, BASE),
    (AUTO_EMBEDDED, BASE),
)
MISSING = "n/a"


def number(value: float | None, metric: str, sign: str = "") -> str:
    """Return a value as tables print its metric: in per cent, or as a plain number with three decimals.

    Examples
    --------
    >>> from repair_bench.report.numbers import number
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
    """Return a p-value with three decimals, or "<0.001"."""
    if value is None:
        return MISSING
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def against(result: Result, first: str, second: str) -> Any:
    """Return how one method compares with another, by metric, or None if one was not run or they are not compared."""
    methods = result["methods"]
    return methods[first].get("against", {}).get(second) if first in methods and second in methods else None


def on_base_list(result: Result) -> dict[str, Any]:
    """Return the methods that rerank the base's shortlists, by title.

    These share their covered rows.  The other methods can be compared over all rows only.

    Examples
    --------
    >>> from repair_bench.report.numbers import on_base_list
    >>> list(on_base_list({"methods": {"Base": {"own_list": False}, "Extended": {"own_list": True}}}))
    ['Base']
    """
    return {title: record for title, record in result["methods"].items() if not record.get("own_list", False)}


def significant(difference: Result) -> int:
    """Return 1 or −1 if the interval of a difference lies above or below zero, otherwise 0.

    Examples
    --------
    >>> from repair_bench.report.numbers import significant
    >>> significant({"low": 0.1, "high": 0.2}), significant({"low": 0.0, "high": 0.2})
    (1, 0)
    """
    if difference.get("low") is None or difference.get("high") is None:
        return 0
    return int(difference["low"] > 0) - int(difference["high"] < 0)
