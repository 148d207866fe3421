"""Inputs that can be fitted but are probably not what was meant.

Each function looks for one problem.  ``fit`` warns about it, and ``diagnose`` reports it as a check.
"""

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import IntArray
from repair.data.shortlist import Shortlist
from repair.errors import InputWarning, warn_user
from repair.validation.checks import MISSING, check_labels

__all__ = [
    "LOW_COVERAGE",
    "describe_unknown",
    "first_but_never_right",
    "label_ids",
    "look_like_probabilities",
    "masked_row",
]

#: Below this coverage, labels and columns are probably not in the same class order.
LOW_COVERAGE = 1 / 3
#: A class that is first on more than this share of the rows should be right on at least one of them.
MOST_ROWS = 0.5
#: A row whose scores span this many times the usual range probably contains a mask.
WIDE_SPAN = 1000.0


def look_like_probabilities(shortlist: Shortlist) -> bool:
    """Return whether all scores lie between 0 and 1 and no row sums to more than 1."""
    if not len(shortlist) or shortlist.scores[:, 0].max() > 1.0:  # the best come first
        return False
    kept = shortlist.mask
    if not kept.any() or shortlist.scores.min(where=kept, initial=np.inf) < 0.0:
        return False
    return float(shortlist.scores.sum(axis=1, where=kept).max()) <= 1.0 + 1e-3


def masked_row(shortlist: Shortlist) -> tuple[int, float] | None:
    """Return the row with the widest range of scores and its lowest score, if that range suggests a mask."""
    scores, lengths = shortlist.scores, shortlist.lengths
    several = lengths > 1
    lowest = scores[:, -1] if shortlist.is_full else scores[np.arange(len(scores)), lengths - 1]
    span = np.subtract(scores[:, 0], lowest, out=np.zeros(len(scores)), where=several)
    row = int(np.argmax(span))
    if span[row] <= WIDE_SPAN:  # the usual case, which needs no median
        return None
    usual = float(np.median(span[several]))
    if span[row] <= WIDE_SPAN * max(usual, 1.0) and usual <= WIDE_SPAN**2:
        return None
    return row, float(lowest[row])


def first_but_never_right(shortlist: Shortlist, labels: IntArray) -> tuple[int, float] | None:
    """Return the class that is first on most rows but is never the label, and its share of the rows."""
    first = shortlist.ids[:, 0]
    times_first = np.bincount(first + 1, minlength=shortlist.n_classes + 1)[1:]  # [1:] drops rows without candidates
    class_id = int(np.argmax(times_first))
    share = float(times_first[class_id]) / max(len(first), 1)
    if share <= MOST_ROWS or (labels == class_id).any():
        return None
    return class_id, share


def label_ids(labels: ArrayLike, n_rows: int, n_classes: int, class_names: tuple[str, ...] | None) -> IntArray:
    """Return validated labels as class ids, and warn about labels that are not known classes.  Their id is −1."""
    ids, unknown = check_labels(labels, n_rows, n_classes, class_names)
    if unknown:
        warn_user(describe_unknown(unknown), InputWarning)
    return ids


def describe_unknown(unknown: dict[str, int]) -> str:
    """Return the warning about labels that are not known classes."""
    shown = list(unknown.items())[:5]
    named = ", ".join(f"{name!r} ({rows})" if name != MISSING else f"missing values ({rows})" for name, rows in shown)
    more = " and others" if len(unknown) > 5 else ""
    return (
        f"{sum(unknown.values())} rows have a label that is not in class_names: {named}{more}; they count as uncovered"
    )
