"""Charts of held-out rows: accuracy by class frequency and along the dial, coverage, and reliability."""

from __future__ import annotations

from typing import Any

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray, IntArray
from repair.data.shortlist import Shortlist
from repair.model.adjustments import DIALS, dial_text
from repair.report.changes import Changes
from repair.report.evidence import Evidence
from repair.report.picture import Picture, missing, number, percent, points
from repair.rerankers.base import ShortlistReranker
from repair.stats.paired_gains import PairedGain
from repair.stats.strata import class_strata

__all__ = ["BEFORE", "TITLES", "by_frequency", "coverage", "frontier", "reliability"]

#: Name of the base order on every chart.
BEFORE = "base"
TITLES = {
    "by_frequency": "Accuracy before and after, by class frequency",
    "frontier": "The head–tail frontier",
    "coverage": "Coverage by k",
    "reliability": "Reliability",
}
#: For at least so many classes, the number of bins of rare and of frequent classes: tenths, fifths or halves.
BINS = ((50, 8, 2), (10, 4, 1), (0, 1, 1))
#: Smallest number of rows per point of the reliability curve, and largest number of points.
ROWS_PER_POINT, MOST_POINTS = 50, 10
#: The coverage is shown up to this many times k, if the scores of all classes are known.
DEEPER = 5


def by_frequency(changes: Changes, title: str = TITLES["by_frequency"], about: str = "") -> Picture:
    """Show accuracy before and after, in bins of classes with similar frequency.

    `about` is a sentence that says what "model" means in this chart, if it is not the model of the report.
    """
    values = []
    for classes, kind in _bins(changes.counts):
        rows = (changes.labels >= 0) & np.isin(changes.labels, classes)
        gain = changes.gain(rows)
        if isinstance(gain, PairedGain):
            values.append(_bin(changes, classes, kind, rows, gain))
    up, down = (sum(sign * round(part["change"], 6) > 0 for part in values) for sign in (1, -1))
    best = max(values, key=lambda part: abs(part["change"]), default=None)
    most = (
        ""
        if best is None or not up + down
        else f" The largest change, {points(best['change'])} points, is for classes with {best['label']} examples."
    )
    return Picture(
        "by_frequency",
        title,
        f"Accuracy rises in {up} of {len(values)} frequency bins and falls in {down}.{most} "
        f"Vertical lines are the 95 % interval of the change, drawn around the new accuracy.{about}",
        changes.basis,
        {"values": values},
        ("examples per class", "kind", "classes", "rows", "before", "after", "change", "95 % interval"),
        [
            (
                part["label"],
                part["kind"],
                number(part["classes"]),
                number(part["rows"]),
                percent(part["before"]),
                percent(part["after"]),
                points(part["change"]),
                f"{points(part['low'] - part['before'])} to {points(part['high'] - part['before'])}",
            )
            for part in values
        ],
    )


def _bins(counts: FloatArray) -> list[tuple[IntArray, str]]:
    """Divide rare and frequent classes into bins by frequency, rarest first.  Bins with the same range are merged."""
    order = np.argsort(counts, kind="stable").astype(np.int32)
    n_rare = int(class_strata(counts).classes["rare"].sum())
    n_low, n_high = next((low, high) for fewest, low, high in BINS if len(counts) >= fewest)
    parts = [(part, "rare") for part in np.array_split(order[:n_rare], n_low)]
    parts += [(part, "frequent") for part in np.array_split(order[n_rare:], n_high)]
    merged: list[tuple[IntArray, str]] = []
    for part, kind in parts:
        if not len(part):
            continue
        if merged and merged[-1][1] == kind and _range(counts[merged[-1][0]]) == _range(counts[part]):
            merged[-1] = (np.concatenate([merged[-1][0], part]), kind)
        else:
            merged.append((part, kind))
    return merged


def _range(counts: FloatArray) -> str:
    low, high = number(float(counts.min())), number(float(counts.max()))
    return low if low == high else f"{low}–{high}"


def _bin(changes: Changes, classes: IntArray, kind: str, rows: BoolArray, gain: PairedGain) -> dict[str, Any]:
    before, after = (changes.mean(hits, rows) for hits in (changes.hits_before, changes.hits_after))
    low, high = gain.interval() if np.isfinite(gain.error) else (gain.gain, gain.gain)
    label = _range(changes.counts[classes])
    return {
        "label": label,
        "kind": kind,
        "classes": len(classes),
        "rows": int(rows.sum()),
        "before": before,
        "after": after,
        "change": gain.gain,
        "low": before + low,
        "high": before + high,
    }


def frontier(model: ShortlistReranker, evidence: Evidence) -> Picture:
    """Show the accuracy on rare and on frequent classes at each dial."""
    title = TITLES["frontier"]
    if model.state.correction.table.class_counts is None:
        return missing(
            "frontier", title, "The dial needs training counts, but the model was fitted without class_counts"
        )
    if not evidence.rare.any() or not evidence.frequent.any():
        return missing("frontier", title, "There are no rows of rare classes, or no rows of frequent classes")
    current = model.dial_ if evidence.dial is None else evidence.dial
    dials = np.unique(DIALS if isinstance(current, str) else np.append(DIALS, current))
    accuracies = evidence.frontier(dials)
    rows = {"rare": evidence.rare, "frequent": evidence.frequent}
    here = {name: evidence.mean(evidence.hits_after, which) for name, which in rows.items()}
    base = {name: evidence.mean(evidence.hits_before, which) for name, which in rows.items()}
    values = [
        {
            "dial": float(dial),
            **{name: float(accuracies.values[name][index]) for name in ("rare", "frequent", "accuracy", "macro")},
        }
        for index, dial in enumerate(dials)
    ]
    last = values[-1]
    return Picture(
        "frontier",
        title,
        f"With dial {dial_text(current)}, the accuracy of the model is {percent(here['rare'])} on rare and "
        f"{percent(here['frequent'])} on frequent classes (base order: {percent(base['rare'])} and "
        f"{percent(base['frequent'])}). With dial {last['dial']:g} it would be {percent(last['rare'])} and "
        f"{percent(last['frequent'])}. The dial can be changed without a new fit.",
        f"{evidence.basis} Choose a dial on other rows than those that you report results on.",
        {"values": values, "model": {**here, "dial": current}, "base": base},
        ("dial", "rare", "frequent", "all rows", "mean over classes"),
        [
            (f"{point['dial']:g}", *(percent(point[name]) for name in ("rare", "frequent", "accuracy", "macro")))
            for point in values
        ],
    )


def coverage(evidence: Evidence, deep: Shortlist | None) -> Picture:
    """Show how often the true class is among the first j candidates, before and after."""
    k = evidence.shortlist.n_candidates
    before = evidence.shortlist.positions_of(evidence.labels) if deep is None else deep.positions_of(evidence.labels)
    after = evidence.after.positions(evidence.labels)
    all_rows = np.ones(len(evidence), dtype=bool)
    values: list[dict[str, Any]] = []
    depth = k if deep is None else deep.n_candidates
    for rows, which in (("all rows", all_rows), ("rare classes", evidence.rare)):
        for order, positions, last in ((BEFORE, before, depth), ("model", after, k)):
            for j in range(1, last + 1):
                hits = ((positions >= 0) & (positions < j)).astype(np.float64)
                if which.any():
                    values.append({"j": j, "share": evidence.mean(hits, which), "rows": rows, "order": order})
    at = {(point["rows"], point["order"], point["j"]): point["share"] for point in values}
    ceiling = at["all rows", BEFORE, k]
    # With all classes on the shortlist, everything is covered, which says nothing.
    wider = k < depth < evidence.shortlist.n_classes
    more = f" With {depth} candidates, coverage would be {percent(at['all rows', BEFORE, depth])}." if wider else ""
    lines = []
    for j in range(1, depth + 1):
        keys = [("all rows", BEFORE), ("all rows", "model"), ("rare classes", BEFORE), ("rare classes", "model")]
        lines.append((str(j), *(percent(at.get((*key, j), float("nan"))) for key in keys)))
    return Picture(
        "coverage",
        TITLES["coverage"],
        f"The true class is among the {k} candidates on {percent(ceiling)} of the rows. "
        f"No reranking can be more accurate.{more}",
        evidence.basis if deep is None else f"{evidence.basis} Beyond k candidates, only the base order is known.",
        {"values": values, "k": k},
        ("first j", "all rows, base", "all rows, model", "rare classes, base", "rare classes, model"),
        lines,
    )


def reliability(evidence: Evidence) -> Picture:
    """Show whether the first choice is right as often as its probability says."""
    title = TITLES["reliability"]
    inside = evidence.shortlist.positions_of(evidence.labels) >= 0
    n_rows = int(inside.sum())
    if n_rows < 2 * ROWS_PER_POINT:
        return missing("reliability", title, f"{n_rows} covered rows are too few; {2 * ROWS_PER_POINT} are needed")
    values, errors = [], {}
    beliefs = dict(zip((BEFORE, "model"), evidence.beliefs(), strict=True))
    hits = {BEFORE: evidence.hits_before, "model": evidence.hits_after}
    for order, belief in beliefs.items():
        curve = _curve(belief[inside], hits[order][inside], evidence.weights[inside])
        errors[order] = sum(point["mass"] * abs(point["belief"] - point["share"]) for point in curve)
        values += [{**point, "order": order} for point in curve]
    return Picture(
        "reliability",
        title,
        "On the dashed line, the first choice is right as often as its probability says; below it, less often. The "
        f"mean distance from the line is {percent(errors[BEFORE])} before and {percent(errors['model'])} after.",
        f"The {n_rows:,} covered rows among these: {evidence.basis} "
        "Probabilities are conditional on the true class being on the shortlist.",
        {"values": values},
        ("order", "probability of the first choice", "how often it is right", "rows"),
        [
            (point["order"], percent(point["belief"]), percent(point["share"]), number(point["rows"]))
            for point in values
        ],
    )


def _curve(belief: FloatArray, hits: FloatArray, weights: FloatArray) -> list[dict[str, Any]]:
    """Return the mean probability and the share of correct rows, in bins of equally many rows."""
    order = np.argsort(belief, kind="stable")
    n_bins = int(np.clip(len(belief) // ROWS_PER_POINT, 2, MOST_POINTS))
    curve = []
    for rows in np.array_split(order, n_bins):
        mass = float(weights[rows].sum())
        if mass > 0:
            mean, share = (float(weights[rows] @ values[rows]) / mass for values in (belief, hits))
            curve.append({"belief": mean, "share": share, "rows": len(rows), "mass": mass / float(weights.sum())})
    return curve
