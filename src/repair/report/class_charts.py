"""Charts with one mark per class: the long tail and the offsets.  Also the table of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.text_tables import minus_signs
from repair.report.evidence import Evidence
from repair.report.picture import Picture, missing, number, percent
from repair.report.words import mode_title
from repair.rerankers.base import ShortlistReranker
from repair.stats.strata import rare_classes

__all__ = ["ClassRows", "class_rows", "long_tail", "offsets"]

#: Largest number of marks in a chart.  More are slow to draw and cannot be distinguished.
MOST_MARKS = 1500
#: Points along the long tail, about as many as a screen can show.
TAIL_POINTS = 400
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
    sentence, basis : str
        A summary, and which rows it was computed on.
    """

    columns: dict[str, list[Any]]
    sentence: str
    basis: str


def long_tail(model: ShortlistReranker) -> Picture:
    """Show the number of examples per class, and where the frequent fifth ends."""
    counts = np.asarray(model.class_counts_, dtype=np.float64)
    given = model.state.correction.table.class_counts is not None
    rare = rare_classes(counts)
    # The same order as in `rare_classes`, so the line separates the two kinds also among equal counts.
    order = np.argsort(counts, kind="stable")[::-1]
    n_classes, n_frequent = len(counts), int((~rare).sum())
    share = float(counts[~rare].sum() / counts.sum()) if counts.sum() else float("nan")
    drawn = _spread(n_classes, TAIL_POINTS)
    values = [
        {"rank": int(rank) + 1, "count": float(counts[order[rank]]), "kind": _kind(rare[order[rank]])} for rank in drawn
    ]
    what = "training examples" if given else "calibration rows (class_counts was not given)"
    thinned = (
        "" if len(drawn) == n_classes else f" The chart shows {len(drawn)} of {n_classes:,} classes, evenly by rank."
    )
    return Picture(
        "long_tail",
        "The long tail",
        f"The frequent fifth ({n_frequent:,} of {n_classes:,} classes) has {percent(share, 0)} of the examples. "
        f"The most frequent class has {number(counts.max())}, the rarest {number(counts.min())}.{thinned}",
        f"All {n_classes:,} classes and their {what}.",
        {"values": values, "frequent": n_frequent, "what": what.partition(" (")[0], "top": float(counts.max())},
        ("rank of the class, most frequent first", "examples", "kind"),
        [
            (number(point["rank"]), number(point["count"]), point["kind"])
            for point in _thin(values, np.arange(len(values)), TABLE_LINES)
        ],
    )


def offsets(model: ShortlistReranker) -> Picture:
    """Show the offset of each class against its frequency, and how much it was shrunk."""
    title = "Offsets against frequency"
    values = model.offsets_
    if not values.any():
        return missing("offsets", title, f"{mode_title(model)} has no class offsets")
    counts, state = np.asarray(model.class_counts_), model.state
    trust = _trust(model, len(values))
    drawn = _spread_by(counts, MOST_MARKS)
    name_of, rare = state.correction.table.name_of, rare_classes(counts)
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
        target = "the mean of their group" if len(means) > 1 else "the common mean (dashed line)"
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
        f"A positive offset moves a class up. The median offset is {minus_signs(by_kind)}.{shrunk}{thinned}",
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


def class_rows(model: ShortlistReranker, evidence: Evidence | None) -> ClassRows:
    """Return the table of classes that gained and lost, most changed classes first."""
    counts, table = np.asarray(model.class_counts_), model.state.correction.table
    n_classes, rare = table.n_classes, rare_classes(counts)
    zero = np.zeros(n_classes, dtype=np.int64)
    tally = dict.fromkeys(("rows", "before", "after", "fixed", "broken"), zero)
    basis = "There are no held-out rows, so no changes were counted."
    if evidence is not None:
        tally, basis = _tally(evidence, n_classes), evidence.basis
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
    gained, lost = int((change > 0).sum()), int((change < 0).sum())
    same = int(((change == 0) & (tally["rows"] > 0)).sum())
    sentence = (
        f"Counting fixed minus broken rows, {gained:,} classes gained, {lost:,} lost and {same:,} stayed the same. "
        f"{int((tally['rows'] == 0).sum()):,} classes have none of these rows."
    )
    return ClassRows(columns, sentence, basis)


def _tally(evidence: Evidence, n_classes: int) -> dict[str, AnyArray]:
    """Count rows, correct rows and changes per class."""
    labelled = evidence.labels >= 0
    labels = evidence.labels[labelled]
    first, second = evidence.hits_before[labelled] > 0, evidence.hits_after[labelled] > 0
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
