"""Signs that labels, score columns and class counts are not in the same order, or that lower scores are better.

With all K classes on the shortlist, every row is covered whatever the order, so coverage shows nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair.data.class_table import ClassTable
from repair.data.shortlist import Shortlist

__all__ = ["OrderProblem", "counts_problem", "label_order_problem", "lower_is_better_problem", "order_problems"]

#: With fewer labelled rows than this, an order cannot be judged.
FEW_ROWS = 50
#: Another order must be right at least this many times as often, and on this many more of the rows, …
TIMES, MORE = 2.0, 0.1
#: … and by this many standard errors.
ERRORS = 4.0
#: Class counts do not fit if the shares differ this much more in the given order than when both are sorted, …
FURTHER = 0.2
#: … and if the ranks of counts and labels correlate less than this.
UNRELATED = 0.5
SHOWN = 3


class OrderProblem(NamedTuple):
    """A sentence, and the share of rows on which the other order is right."""

    text: str
    accuracy: float


def label_order_problem(shortlist: Shortlist, labels: IntArray, table: ClassTable) -> OrderProblem | None:
    """Return a problem if the labels fit the scores far better in another order of the classes, or None.

    Another order is learned on every second row and measured on the others.  It is one-to-one, so a
    classifier that prefers frequent classes is not mistaken for one with another order.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Shortlist
    >>> from repair.data.class_order import label_order_problem
    >>> from repair.data.class_table import ClassTable
    >>> labels = np.arange(100, dtype=np.int32) % 4
    >>> shortlist = Shortlist.from_scores(np.eye(5)[labels], 5)
    >>> label_order_problem(shortlist, labels, ClassTable(5)) is None
    True
    >>> "counted from 0" in label_order_problem(shortlist, labels + 1, ClassTable(5)).text
    True
    """
    first = shortlist.ids[:, 0]
    usable = (labels >= 0) & (first >= 0)
    first, labels = first[usable], labels[usable]
    if len(labels) < FEW_ROWS:
        return None
    right = first == labels
    for shift, words in ((1, "1 is subtracted from"), (-1, "1 is added to")):
        shifted = labels - shift == first
        if _is_far_better(shifted, right):
            return OrderProblem(
                f"the labels seem to be shifted by one: the first candidate is right on {_percent(right)} of the rows, "
                f"but on {_percent(shifted)} if {words} every label; class ids are counted from 0, in the order of "
                "the score columns",
                float(shifted.mean()),
            )
    held_out = slice(1, None, 2)
    label_of = _one_to_one(first[::2], labels[::2], shortlist.n_classes)
    matched = label_of[first[held_out]] == labels[held_out]
    if not _is_far_better(matched, right[held_out]):
        return None
    moved = np.flatnonzero((label_of >= 0) & (label_of != np.arange(len(label_of))))
    frequent = moved[np.argsort(-np.bincount(first, minlength=len(label_of))[moved], kind="stable")][:SHOWN]
    examples = ", ".join(f"{table.name_of(int(i))!r} for {table.name_of(int(label_of[i]))!r}" for i in frequent)
    return OrderProblem(
        "labels and scores seem to be in different class orders: the first candidate is right on "
        f"{_percent(right[held_out])} of the rows, but on {_percent(matched)} if classes are exchanged (such as "
        f"{examples}); check that class_names and the labels are in the order of the score columns",
        float(matched.mean()),
    )


def lower_is_better_problem(shortlist: Shortlist, labels: IntArray, all_scores: AnyArray | None) -> OrderProblem | None:
    """Return a problem if the worst candidate is right far more often than the best one, or None."""
    usable = (labels >= 0) & (shortlist.lengths > 1)
    if int(usable.sum()) < FEW_ROWS:
        return None
    if all_scores is None:
        last = shortlist.ids[np.arange(len(labels)), np.maximum(shortlist.lengths, 1) - 1]
    else:
        last = np.where(np.isneginf(all_scores), np.inf, all_scores).argmin(axis=1).astype(np.int32)
    right, reversed_ = (shortlist.ids[:, 0] == labels)[usable], (last == labels)[usable]
    if not _is_far_better(reversed_, right):
        return None
    return OrderProblem(
        f"lower scores seem to be better: the class with the highest score is right on {_percent(right)} of the rows, "
        f"and the one with the lowest on {_percent(reversed_)}; if the scores are distances or losses, say "
        "score_type='distances'",
        float(reversed_.mean()),
    )


def counts_problem(class_counts: FloatArray | None, label_counts: FloatArray) -> str | None:
    """Return a sentence if the class counts fit the labels only in another order, or None.

    Counts by position in order of frequency, as from ``value_counts()``, are a common mistake.
    """
    if class_counts is None or label_counts.sum() < FEW_ROWS or len(class_counts) < 3:
        return None
    shares, given = label_counts / label_counts.sum(), class_counts / class_counts.sum()
    distance = 0.5 * float(np.abs(shares - given).sum())
    if distance < FURTHER:
        return None
    best = 0.5 * float(np.abs(np.sort(shares) - np.sort(given)).sum())
    if distance - best < FURTHER or best > distance / 2 or _rank_correlation(shares, given) > UNRELATED:
        return None
    return (
        f"class_counts seem to be in another order than the classes: {100 * distance:.0f} % of the rows would have to "
        f"change class to match them, but only {100 * best:.0f} % if both are sorted by frequency; pass a mapping "
        "from class to count, or counts in the order of the score columns"
    )


def order_problems(
    shortlist: Shortlist, labels: IntArray, table: ClassTable, label_counts: FloatArray, all_scores: AnyArray | None
) -> tuple[str | None, str | None, str | None]:
    """Return what is wrong with the order of labels, the direction of scores and the order of class counts."""
    order = label_order_problem(shortlist, labels, table)
    lower = lower_is_better_problem(shortlist, labels, all_scores)
    if order is not None and lower is not None:  # one mistake can look like both, and the other order says which
        order, lower = (order, None) if order.accuracy >= lower.accuracy else (None, lower)
    return (
        None if order is None else order.text,
        None if lower is None else lower.text,
        counts_problem(table.class_counts, label_counts),
    )


def _one_to_one(first: IntArray, labels: IntArray, n_classes: int) -> IntArray:
    """Return a label for each first class, from the most frequent pairs on, each label once.  −1 where none is left."""
    pairs, counts = np.unique(first.astype(np.int64) * n_classes + labels, return_counts=True)
    label_of = np.full(n_classes, -1, dtype=np.int32)
    used = np.zeros(n_classes, dtype=bool)
    for pair in pairs[np.argsort(-counts, kind="stable")].tolist():
        class_id, label = divmod(pair, n_classes)
        if label_of[class_id] < 0 and not used[label]:
            label_of[class_id] = label
            used[label] = True
    return label_of


def _is_far_better(other: BoolArray, right: BoolArray) -> bool:
    now, then = float(right.mean()), float(other.mean())
    error = np.sqrt((now * (1 - now) + then * (1 - then)) / len(right))
    return then >= max(TIMES * now, now + MORE) and then - now >= ERRORS * error


def _rank_correlation(left: FloatArray, right: FloatArray) -> float:
    from scipy.stats import rankdata

    ranks = rankdata(left), rankdata(right)
    if min(float(values.std()) for values in ranks) == 0.0:
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _percent(right: BoolArray) -> str:
    return f"{100 * float(right.mean()):.0f} %"
