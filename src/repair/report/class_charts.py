"""Charts with one mark per class: the long tail and the offsets.  Also the table of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.text_tables import minus_signs
from repair.report.changes import Changes
from repair.report.picture import Picture, missing, number, percent
from repair.report.words import mode_title
from repair.rerankers.base import ShortlistReranker
from repair.stats.strata import class_strata

__all__ = ["ClassRows", "class_rows", "long_tail", "offsets"]

#: Largest number of marks in a chart.  More are slow to draw and cannot be distinguished.
MOST_MARKS = 1500
#: Bars of the long tail, about as many as a screen can show.
TAIL_POINTS = 400
#: From this ratio of the largest to the smallest count on, the axis is logarithmic.
LOG_FROM = 20
#: If no offset reaches this, the chart would only magnify noise.
SMALLEST_OFFSET = 0.005
TABLE_LINES = 30
TRUST = ("own rows", "rows and group", "mostly the group")
NO_ROWS, FITTED = "no rows", "fitted"


@dataclass(frozen=True)
class ClassRows:
    """The table of classes, one list per column, with the most changed classes first.

    Attributes
    ----------
    columns : dict of list
        ``name``, ``count``, ``rows``, ``before``, ``after``, ``fixed``, ``broken``, ``change``, ``offset``, ``kind``.
    title, sentence, basis : str
        A heading, a summary, and which rows it was computed on.
    """

    columns: dict[str, list[Any]]
    title: str
    sentence: str
    basis: str


def long_tail(model: ShortlistReranker) -> Picture:
    """Show the number of examples per class, and where the frequent fifth ends."""
    counts, table = np.asarray(model.class_counts_, dtype=np.float64), model.state.correction.table
    rare = class_strata(counts).classes["rare"]
    # The same order as in `class_strata`, so the line separates the two kinds also among equal counts.
    order = np.argsort(counts, kind="stable")[::-1]
    n_classes, n_frequent = len(counts), int((~rare).sum())
    share = float(counts[~rare].sum() / counts.sum()) if counts.sum() else float("nan")
    drawn = _bars(n_classes, n_frequent)
    ends = np.append(drawn[1:], n_classes)
    # Each bar reaches to the next one, so the first and the last class are as wide as any other.
    values: list[dict[str, Any]] = [
        {
            "rank": int(first) + 1,
            "left": int(first) + 0.5,
            "right": int(end) + 0.5,
            "name": table.name_of(int(order[first])),
            "count": float(counts[order[first]]),
            "kind": _kind(rare[order[first]]),
        }
        for first, end in zip(drawn, ends, strict=True)
    ]
    are = "is frequent and has" if n_frequent == 1 else "are frequent and have"
    what_is_frequent = f"{n_frequent:,} of {n_classes:,} classes {are} {percent(share, 0)} of the examples."
    if not rare.any():
        what_is_frequent = f"None of the {n_classes:,} classes is called rare."
    what = "training examples" if table.class_counts is not None else "calibration rows (class_counts was not given)"
    thinned = "" if len(drawn) == n_classes else f" The chart has {len(drawn)} bars for {n_classes:,} classes."
    return Picture(
        "long_tail",
        "The long tail",
        f"{what_is_frequent} "
        f"The most frequent class has {number(counts.max())}, the rarest {number(counts.min())}.{thinned}",
        f"All {n_classes:,} classes and their {what}.",
        {
            "values": values,
            "frequent": n_frequent,
            "classes": n_classes,
            "what": what.partition(" (")[0],
            "top": float(counts.max()),
            "log": bool(counts.max() > LOG_FROM * max(counts.min(), 1.0)),
        },
        ("rank", "class", "examples", "kind"),
        [
            (number(point["rank"]), point["name"], number(point["count"]), point["kind"])
            for point in _thin(values, np.arange(len(values)), TABLE_LINES)
        ],
    )


def _bars(n_classes: int, n_frequent: int) -> IntArray:
    """Return the rank of the first class of each bar.  A bar begins where the rare classes do."""
    return np.union1d(_spread(n_classes, TAIL_POINTS), [min(n_frequent, n_classes - 1)]).astype(np.int32)


def offsets(model: ShortlistReranker) -> Picture:
    """Show the offset of each class against its frequency, and how much it was shrunk."""
    title = "Offsets against frequency"
    values = model.offsets_
    if not values.any():
        return missing("offsets", title, f"{mode_title(model)} has no class offsets")
    if (largest := float(np.abs(values).max())) < SMALLEST_OFFSET:
        return missing("offsets", title, f"All class offsets are shrunk to almost 0 (the largest is {largest:.2g})")
    counts, state = np.asarray(model.class_counts_), model.state
    trust = _trust(model, len(values))
    drawn = _spread_by(counts, MOST_MARKS)
    name_of, rare = state.correction.table.name_of, class_strata(counts).classes["rare"]
    marks = [
        {
            "name": name_of(int(label)),
            "count": float(counts[label]),
            "offset": round(float(values[label]), 4),
            "trust": trust[label],
            "factor": None if model.shrinkage_ is None else round(float(model.shrinkage_.factors[label]), 3),
        }
        for label in drawn
    ]
    shrunk = ""
    means: list[float] = []
    if model.shrinkage_ is not None:
        means = [round(float(mean), 4) for mean in model.shrinkage_.prior.means]
        target = "the mean of their group of classes" if len(means) > 1 else "the common mean (dashed line)"
        shrunk = (
            f" Offsets are shrunk towards {target}. The offsets of {trust.count(TRUST[0]):,} classes are based mostly "
            "on rows of the class itself."
        )
    by_kind = " and ".join(
        f"{np.median(values[which]).round(2) + 0.0:+.2f} for {kind} classes"
        for kind, which in (("rare", rare), ("frequent", ~rare))
        if which.any()
    )
    thinned = "" if len(drawn) == len(values) else f" The chart shows {len(drawn):,} of {len(values):,} classes."
    return Picture(
        "offsets",
        title,
        f"A positive class offset moves a class up. The median is {minus_signs(by_kind)}.{shrunk}{thinned}",
        "The fitted model, whose offsets were estimated on all calibration rows.",
        {"values": marks, "means": means if len(means) == 1 else [], "shrunk": model.shrinkage_ is not None},
        ("class", "examples", "offset", "based on"),
        [(m["name"], number(m["count"]), minus_signs(f"{m['offset']:+.3f}"), m["trust"]) for m in _largest(marks)],
    )


def _trust(model: ShortlistReranker, n_classes: int) -> list[str]:
    """Return, for each class, what its offset is based on."""
    unseen = np.zeros(n_classes, dtype=bool)
    unseen[model.unseen_classes_] = True
    if model.shrinkage_ is None:
        return [NO_ROWS if without else FITTED for without in unseen]
    steps = np.minimum((model.shrinkage_.factors * len(TRUST)).astype(int), len(TRUST) - 1)
    return [NO_ROWS if without else TRUST[step] for without, step in zip(unseen, steps, strict=True)]


def _largest(marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(marks, key=lambda mark: -abs(mark["offset"]))[:TABLE_LINES]


def class_rows(
    model: ShortlistReranker, changes: Changes | None, title: str = "Which classes gained and lost"
) -> ClassRows:
    """Return the table of classes that gained and lost, most changed classes first."""
    counts, table = np.asarray(model.class_counts_), model.state.correction.table
    n_classes, rare = table.n_classes, class_strata(counts).classes["rare"]
    zero = np.zeros(n_classes, dtype=np.int64)
    tally = dict.fromkeys(("rows", "before", "after", "fixed", "broken"), zero)
    basis = "There are no held-out rows, so no changes were counted."
    if changes is not None:
        tally, basis = _tally(changes, n_classes), changes.basis
    change = tally["fixed"] - tally["broken"]
    order = np.lexsort((-counts, -tally["rows"], -np.abs(change)))
    columns: dict[str, list[Any]] = {
        "name": [table.name_of(int(label)) for label in order],
        "count": [_whole(count) for count in counts[order]],
        **{name: values[order].tolist() for name, values in tally.items()},
        "change": change[order].tolist(),
        "offset": [round(float(offset), 3) for offset in model.offsets_[order]],
        "kind": [_kind(is_rare) for is_rare in rare[order]],
    }
    return ClassRows(columns, title, _class_sentence(change, tally["rows"]), basis)


def _class_sentence(change: IntArray, rows: AnyArray) -> str:
    gained, lost = int((change > 0).sum()), int((change < 0).sum())
    same, without = int(((change == 0) & (rows > 0)).sum()), int((rows == 0).sum())
    absent = f" {_classes(without)} {'has' if without == 1 else 'have'} none of these rows." if without else ""
    return (
        f"Counting fixed minus broken rows, {_classes(gained)} gained, {lost:,} lost and {same:,} stayed the same."
        f"{absent}"
    )


def _classes(number_of: int) -> str:
    return f"{number_of:,} {'class' if number_of == 1 else 'classes'}"


def _tally(changes: Changes, n_classes: int) -> dict[str, AnyArray]:
    """Count rows, correct rows and changes per class."""
    labelled = changes.labels >= 0
    labels = changes.labels[labelled]
    first, second = changes.hits_before[labelled] > 0, changes.hits_after[labelled] > 0
    masks = {
        "rows": np.ones(len(labels), dtype=bool),
        "before": first,
        "after": second,
        "fixed": ~first & second,
        "broken": first & ~second,
    }
    return {name: np.bincount(labels[mask], minlength=n_classes) for name, mask in masks.items()}


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else float(value)


def _kind(rare: bool | np.bool_) -> str:
    return "rare" if rare else "frequent"


def _spread(n: int, most: int) -> IntArray:
    """Return at most `most` evenly spaced indices below n, including the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int32))


def _spread_by(values: FloatArray, most: int) -> IntArray:
    """Return the indices of at most `most` values, evenly spaced in the order of the values."""
    order = np.argsort(-values, kind="stable").astype(np.int32)
    chosen: IntArray = order[_spread(len(order), most)]
    return chosen


def _thin(values: list[dict[str, Any]], indices: AnyArray, most: int) -> list[dict[str, Any]]:
    return [values[int(indices[kept])] for kept in _spread(len(indices), most)]
