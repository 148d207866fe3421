"""Pictures of held-out rows: by class frequency, along the dial, by depth of the list, by belief."""

from __future__ import annotations

from typing import Any

import numpy as np

from repair.arrays import BoolArray, FloatArray, IntArray
from repair.class_table import rare_classes
from repair.estimator import ShortlistReranker
from repair.frontier import DIALS
from repair.report.evidence import Evidence
from repair.report.picture import Picture, missing, number, percent, points
from repair.shortlist import Shortlist
from repair.statistics import PairedGain

__all__ = ["BEFORE", "by_frequency", "coverage", "frontier", "reliability"]

#: What the base order is called on every chart.
BEFORE = "base"
#: Bins of rare and of frequent classes: tenths where there are classes enough, else fifths or halves.
BINS = ((50, 8, 2), (10, 4, 1), (0, 1, 1))
#: Fewest rows behind one point of the reliability curve, and most points.
ROWS_PER_POINT, MOST_POINTS = 50, 10
#: How much deeper than the shortlist the coverage is followed, where all scores are known.
DEEPER = 5


def by_frequency(evidence: Evidence) -> Picture:
    """Show accuracy before and after in bins of the classes by frequency."""
    values = []
    for classes, kind in _bins(evidence.counts):
        rows = (evidence.labels >= 0) & np.isin(evidence.labels, classes)
        gain = evidence.gain(rows)
        if isinstance(gain, PairedGain):
            values.append(_bin(evidence, classes, kind, rows, gain))
    up = sum(one["change"] > 0 for one in values)
    best = max(values, key=lambda one: one["change"], default=None)
    most = (
        "" if best is None else f" The largest change, {points(best['change'])} points, is at {best['label']} examples."
    )
    return Picture(
        "by_frequency",
        "Accuracy before and after, by class frequency",
        f"Accuracy rises in {up} of {len(values)} bins of the classes.{most} "
        "Whiskers are the 95 % interval of the change, drawn around the new accuracy.",
        evidence.basis,
        {"values": values},
        ("examples of the class", "kind", "classes", "rows", "before", "after", "change", "95 % interval"),
        [
            (
                one["label"],
                one["kind"],
                number(one["classes"]),
                number(one["rows"]),
                percent(one["before"]),
                percent(one["after"]),
                points(one["change"]),
                f"{points(one['low'] - one['before'])} to {points(one['high'] - one['before'])}",
            )
            for one in values
        ],
    )


def _bins(counts: FloatArray) -> list[tuple[IntArray, str]]:
    """Cut rare and frequent classes into bins by frequency, rarest first; bins of one and the same count are one."""
    order = np.argsort(counts, kind="stable").astype(np.int32)
    n_rare = int(rare_classes(counts).sum())
    _, n_low, n_high = next(one for one in BINS if len(counts) >= one[0])
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


def _bin(evidence: Evidence, classes: IntArray, kind: str, rows: BoolArray, gain: PairedGain) -> dict[str, Any]:
    before, after = (evidence.mean(hits, rows) for hits in (evidence.hits_before, evidence.hits_after))
    low, high = gain.interval() if np.isfinite(gain.error) else (gain.gain, gain.gain)
    label = _range(evidence.counts[classes])
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
    """Show what each dial gives rare classes and takes from frequent ones."""
    title = "The head–tail frontier"
    if model._fitted().correction.table.class_counts is None:
        return missing(
            "frontier", title, "The dial needs training counts, and the model was fitted without class_counts"
        )
    if not evidence.rare.any() or not evidence.frequent.any():
        return missing("frontier", title, "There are no rows of rare classes, or none of frequent ones")
    own = float(model._own_dial() if evidence.dial is None else evidence.dial)
    dials = np.unique(np.append(DIALS, own))
    found = evidence.frontier(dials)
    rows = {"rare": evidence.rare, "frequent": evidence.frequent}
    here = {name: evidence.mean(evidence.hits_after, which) for name, which in rows.items()}
    base = {name: evidence.mean(evidence.hits_before, which) for name, which in rows.items()}
    values = [
        {
            "dial": float(dial),
            **{name: float(found.values[name][place]) for name in ("rare", "frequent", "accuracy", "macro")},
        }
        for place, dial in enumerate(dials)
    ]
    last = values[-1]
    return Picture(
        "frontier",
        title,
        f"The model, with dial {own:g}, has {percent(here['rare'])} on rare and {percent(here['frequent'])} on "
        f"frequent classes (base order: {percent(base['rare'])} and {percent(base['frequent'])}). "
        f"Turned up to {last['dial']:g}, it would have {percent(last['rare'])} and {percent(last['frequent'])}; "
        "nothing need be fitted again.",
        f"{evidence.basis} Choose a dial on other rows than those you report.",
        {"values": values, "model": {**here, "dial": own}, "base": base},
        ("dial", "rare", "frequent", "all rows", "mean over classes"),
        [
            (f"{one['dial']:g}", *(percent(one[name]) for name in ("rare", "frequent", "accuracy", "macro")))
            for one in values
        ],
    )


def coverage(evidence: Evidence, deep: Shortlist | None) -> Picture:
    """Show how often the right class is among the first j, before and after."""
    k = evidence.shortlist.n_candidates
    before = evidence.shortlist.positions_of(evidence.labels) if deep is None else deep.positions_of(evidence.labels)
    after = evidence.after.positions(evidence.labels)
    everyone = np.ones(len(evidence), dtype=bool)
    values: list[dict[str, Any]] = []
    depth = k if deep is None else deep.n_candidates
    for rows, which in (("all rows", everyone), ("rare classes", evidence.rare)):
        for order, places, last in ((BEFORE, before, depth), ("model", after, k)):
            for j in range(1, last + 1):
                hits = ((places >= 0) & (places < j)).astype(np.float64)
                if which.any():
                    values.append({"j": j, "share": evidence.mean(hits, which), "rows": rows, "order": order})
    at = {(one["rows"], one["order"], one["j"]): one["share"] for one in values}
    ceiling = at["all rows", BEFORE, k]
    more = f" With {depth} candidates it would be {percent(at['all rows', BEFORE, depth])}." if depth > k else ""
    lines = []
    for j in range(1, depth + 1):
        keys = [("all rows", BEFORE), ("all rows", "model"), ("rare classes", BEFORE), ("rare classes", "model")]
        lines.append((str(j), *(percent(at.get((*key, j), float("nan"))) for key in keys)))
    return Picture(
        "coverage",
        "Coverage by k",
        f"The right class is among the {k} candidates on {percent(ceiling)} of the rows; no reranking can exceed that."
        f"{more}",
        evidence.basis if deep is None else f"{evidence.basis} Beyond k only the base order is known.",
        {"values": values, "k": k},
        ("first j", "all rows, base", "all rows, model", "rare classes, base", "rare classes, model"),
        lines,
    )


def reliability(evidence: Evidence) -> Picture:
    """Show whether the probability of the first choice is how often it is right."""
    title = "Reliability"
    inside = evidence.shortlist.positions_of(evidence.labels) >= 0
    n_rows = int(inside.sum())
    if n_rows < 2 * ROWS_PER_POINT:
        return missing("reliability", title, f"{n_rows} covered rows are too few; {2 * ROWS_PER_POINT} are needed")
    values, errors = [], {}
    beliefs = dict(zip((BEFORE, "model"), evidence.beliefs(), strict=True))
    hits = {BEFORE: evidence.hits_before, "model": evidence.hits_after}
    for order, belief in beliefs.items():
        curve = _curve(belief[inside], hits[order][inside], evidence.weights[inside])
        errors[order] = sum(one["mass"] * abs(one["belief"] - one["share"]) for one in curve)
        values += [{**one, "order": order} for one in curve]
    return Picture(
        "reliability",
        title,
        "On the dashed line a probability means what it says; below it, the first choice is right less often than "
        f"claimed. The mean distance is {percent(errors[BEFORE])} before and {percent(errors['model'])} after.",
        f"The {n_rows:,} covered rows among these: {evidence.basis} "
        "Probabilities are given that the right class is on the shortlist.",
        {"values": values},
        ("order", "probability of the first choice", "how often it is right", "rows"),
        [(one["order"], percent(one["belief"]), percent(one["share"]), number(one["rows"])) for one in values],
    )


def _curve(belief: FloatArray, hits: FloatArray, weights: FloatArray) -> list[dict[str, Any]]:
    """Return mean belief and share of hits in bins of equally many rows."""
    order = np.argsort(belief, kind="stable")
    n_bins = int(np.clip(len(belief) // ROWS_PER_POINT, 2, MOST_POINTS))
    curve = []
    for rows in np.array_split(order, n_bins):
        mass = float(weights[rows].sum())
        if mass > 0:
            mean, share = (float(weights[rows] @ one[rows]) / mass for one in (belief, hits))
            curve.append({"belief": mean, "share": share, "rows": len(rows), "mass": mass / float(weights.sum())})
    return curve
