"""Pictures with one mark a class: the long tail, the offsets, and who gained and lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.class_table import rare_classes
from repair.estimator import ShortlistReranker
from repair.report.evidence import Evidence
from repair.report.picture import Picture, minus, missing, number, percent
from repair.report.words import called

__all__ = ["ClassRows", "class_rows", "long_tail", "offsets"]

#: Marks in one chart; more are slow to draw and cannot be told apart.
MOST_MARKS = 1500
#: Points along the tail; a screen has not many more.
TAIL_POINTS = 400
TABLE_LINES = 30
TRUST = ("own rows", "rows and group", "mostly the group")
NO_ROWS, FITTED = "no rows", "fitted"


@dataclass(frozen=True)
class ClassRows:
    """The table of classes, one list a column, most changed first.

    Attributes
    ----------
    columns : dict of list
        ``name``, ``count``, ``rows``, ``before``, ``after``, ``mended``, ``lost``, ``change``, ``offset``, ``kind``.
    sentence, basis : str
    """

    columns: dict[str, list[Any]]
    sentence: str
    basis: str


def long_tail(model: ShortlistReranker) -> Picture:
    """Show how many examples each class has, and where the frequent fifth ends."""
    counts = np.asarray(model.class_counts_, dtype=np.float64)
    given = model._fitted().correction.table.class_counts is not None
    rare = rare_classes(counts)
    # As `rare_classes` sorts them, so that the line divides the kinds among equal counts too.
    order = np.argsort(counts, kind="stable")[::-1]
    n_classes, n_frequent = len(counts), int((~rare).sum())
    share = float(counts[~rare].sum() / counts.sum()) if counts.sum() else float("nan")
    places = _spread(n_classes, TAIL_POINTS)
    values = [
        {"rank": int(place) + 1, "count": float(counts[order[place]]), "kind": _kind(rare[order[place]])}
        for place in places
    ]
    what = "training examples" if given else "calibration rows (class_counts was not given)"
    thinned = "" if len(places) == n_classes else f" {len(places)} of {n_classes:,} classes are drawn, evenly by rank."
    return Picture(
        "long_tail",
        "The long tail",
        f"The frequent fifth, {n_frequent:,} of {n_classes:,} classes, holds {percent(share, 0)} of the examples; "
        f"the commonest class has {number(counts.max())}, the rarest {number(counts.min())}.{thinned}",
        f"All {n_classes:,} classes and their {what}.",
        {"values": values, "frequent": n_frequent, "what": what.partition(" (")[0], "top": float(counts.max())},
        ("class, most frequent first", "examples", "kind"),
        [
            (number(one["rank"]), number(one["count"]), one["kind"])
            for one in _thin(values, np.arange(len(values)), TABLE_LINES)
        ],
    )


def offsets(model: ShortlistReranker) -> Picture:
    """Show each class's offset against its frequency, and how far it was shrunk."""
    title = "Offsets against frequency"
    values = model.offsets_
    if not values.any():
        return missing("offsets", title, f"{called(model)} gives classes no offsets of their own")
    counts, state = np.asarray(model.class_counts_), model._fitted()
    trust = _trust(model, len(values))
    drawn = _spread_by(counts, MOST_MARKS)
    name_of, rare = state.correction.table.name_of, rare_classes(counts)
    marks = [
        {
            "name": name_of(int(one)),
            "count": float(counts[one]),
            "offset": round(float(values[one]), 4),
            "trust": trust[one],
            "factor": None if model.shrinkage_ is None else round(float(model.shrinkage_.factors[one]), 3),
        }
        for one in drawn
    ]
    shrunk = ""
    means: list[float] = []
    if model.shrinkage_ is not None:
        means = [round(float(one), 4) for one in model.shrinkage_.prior.means]
        own = sum(one == TRUST[0] for one in trust)
        shrunk = (
            f" Offsets are shrunk towards {'their group’s mean' if len(means) > 1 else 'the common mean (the line)'}: "
            f"{own:,} classes have rows enough to stand mostly on their own."
        )
    by_kind = " and ".join(
        f"{np.median(values[which]).round(2) + 0.0:+.2f} for {kind} ones"
        for kind, which in (("rare", rare), ("frequent", ~rare))
        if which.any()
    )
    thinned = "" if len(drawn) == len(values) else f" {len(drawn):,} of {len(values):,} classes are drawn."
    return Picture(
        "offsets",
        title,
        f"A class with a positive offset moves up. The median is {minus(by_kind)}.{shrunk}{thinned}",
        "The fitted model; its offsets come from all calibration rows.",
        {"values": marks, "means": means if len(means) == 1 else [], "shrunk": model.shrinkage_ is not None},
        ("class", "examples", "offset", "rests on"),
        [(m["name"], number(m["count"]), minus(f"{m['offset']:+.3f}"), m["trust"]) for m in _largest(marks)],
    )


def _trust(model: ShortlistReranker, n_classes: int) -> list[str]:
    """Say of each class what its offset rests on."""
    unseen = np.zeros(n_classes, dtype=bool)
    unseen[model.unseen_classes_] = True
    if model.shrinkage_ is None:
        return [NO_ROWS if one else FITTED for one in unseen]
    steps = np.minimum((model.shrinkage_.factors * len(TRUST)).astype(int), len(TRUST) - 1)
    return [NO_ROWS if none else TRUST[step] for none, step in zip(unseen, steps, strict=True)]


def _largest(marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(marks, key=lambda one: -abs(one["offset"]))[:TABLE_LINES]


def class_rows(model: ShortlistReranker, evidence: Evidence | None) -> ClassRows:
    """Return who gained and who lost, most changed classes first."""
    counts, table = np.asarray(model.class_counts_), model._fitted().correction.table
    n_classes, rare = table.n_classes, rare_classes(counts)
    zero = np.zeros(n_classes, dtype=np.int64)
    tally = dict.fromkeys(("rows", "before", "after", "mended", "lost"), zero)
    basis = "There are no held-out rows to count on."
    if evidence is not None:
        tally, basis = _tally(evidence, n_classes), evidence.basis
    change = tally["mended"] - tally["lost"]
    order = np.lexsort((-counts, -tally["rows"], -np.abs(change)))
    columns: dict[str, list[Any]] = {
        "name": [table.name_of(int(one)) for one in order],
        "count": [_whole(one) for one in counts[order]],
        **{name: values[order].tolist() for name, values in tally.items()},
        "change": change[order].tolist(),
        "offset": [round(float(one), 3) for one in model.offsets_[order]],
        "kind": [_kind(one) for one in rare[order]],
    }
    gained, lost = int((change > 0).sum()), int((change < 0).sum())
    same = int(((change == 0) & (tally["rows"] > 0)).sum())
    sentence = (
        f"On balance {gained:,} classes gained, {lost:,} lost and {same:,} stayed the same; "
        f"{int((tally['rows'] == 0).sum()):,} have no such row."
    )
    return ClassRows(columns, sentence, basis)


def _tally(evidence: Evidence, n_classes: int) -> dict[str, AnyArray]:
    """Count rows, hits and changes by class."""
    known = evidence.labels >= 0
    labels, first, second = evidence.labels[known], evidence.hits_before[known] > 0, evidence.hits_after[known] > 0
    which = {
        "rows": np.ones(len(labels), dtype=bool),
        "before": first,
        "after": second,
        "mended": ~first & second,
        "lost": first & ~second,
    }
    return {name: np.bincount(labels[mask], minlength=n_classes) for name, mask in which.items()}


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else float(value)


def _kind(rare: bool | np.bool_) -> str:
    return "rare" if rare else "frequent"


def _spread(n: int, most: int) -> IntArray:
    """Return at most `most` places among n, evenly, the first and the last included."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int32))


def _spread_by(values: FloatArray, most: int) -> IntArray:
    """Return at most `most` places, evenly by the order of their values."""
    order = np.argsort(-values, kind="stable").astype(np.int32)
    chosen: IntArray = order[_spread(len(order), most)]
    return chosen


def _thin(values: list[dict[str, Any]], places: AnyArray, most: int) -> list[dict[str, Any]]:
    return [values[int(places[one])] for one in _spread(len(places), most)]
