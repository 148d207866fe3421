"""The metrics by name: their titles, and how all tables of this library print them.

In Python and in JSON every rate is a fraction.  Tables print rates in per cent, except for the
metrics that the paper prints as fractions (MRR, HFR, gap closed) and the likelihood.
"""

import math
from typing import NamedTuple

__all__ = ["METRICS", "UNITS", "Metric", "format_metric"]

#: The explanation of units under every table of metrics.
UNITS = "MRR, HFR, gap closed and NLL (lower is better) are plain numbers; all other metrics are in per cent"

#: Printed if a metric is not defined.
MISSING = "n/a"


class Metric(NamedTuple):
    """The title of a metric, and whether it is printed in per cent."""

    title: str
    percent: bool


METRICS = {
    "coverage": Metric("Coverage", True),
    "hit@1": Metric("Hit@1", True),
    "hit@3": Metric("Hit@3", True),
    "hit@5": Metric("Hit@5", True),
    "mrr": Metric("MRR", False),
    "rare": Metric("Rare", True),
    "frequent": Metric("Frequent", True),
    "few": Metric("Few", True),
    "medium": Metric("Medium", True),
    "many": Metric("Many", True),
    "macro": Metric("Macro", True),
    "hfr": Metric("HFR", False),
    "gap_closure": Metric("Gap closed", False),
    "nll": Metric("NLL ↓", False),
    "accuracy": Metric("Accuracy, all rows", True),
    "accuracy_rare": Metric("Rare, all rows", True),
    "accuracy_frequent": Metric("Frequent, all rows", True),
    "accuracy_few": Metric("Few, all rows", True),
    "accuracy_medium": Metric("Medium, all rows", True),
    "accuracy_many": Metric("Many, all rows", True),
}


def format_metric(value: float, metric: str = "", sign: str = "") -> str:
    """Return a metric as tables print it: in per cent with one decimal, or as a plain number with three.

    Examples
    --------
    >>> from repair.evaluation.metric_table import format_metric
    >>> format_metric(0.4567, "hit@1"), format_metric(0.4567, "mrr"), format_metric(-0.01, "hit@1", "+")
    ('45.7', '0.457', '-1.0')
    """
    if math.isnan(value):
        return MISSING
    percent = bool(metric) and METRICS[metric].percent
    shown = round(100 * value, 1) if percent else round(value, 3)
    return f"{shown + 0.0:{sign}.{1 if percent else 3}f}"  # + 0.0 turns −0 into 0
