"""Pictures of what needs more than offsets: the gap closed, quintile gains, contradictory pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from repair.arrays import BoolArray
from repair.calibration import CalibrationSet
from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.diagnose import Diagnosis
from repair.diagnosis.separability import FOLDS, gain_where
from repair.report.picture import Picture, minus, missing, number, percent, points

__all__ = ["gap_closed", "pairs", "quintiles"]

MOST_PAIRS = 6
HISTOGRAM_BINS = 24
MODES = {"classwise": "offsets only", "separable": "all that is class-separable", "pairwise": "with pairwise terms"}


def gap_closed(diagnosis: Diagnosis, calibration: CalibrationSet) -> Picture:
    """Show which share of the recoverable gap each kind of correction closes on held-out rows."""
    title = "How much of the gap each kind of correction closes"
    held = diagnosis.held_out
    if isinstance(held, NotApplicable):
        return missing("gap_closed", title, held.reason)
    total = float(calibration.importance.sum())
    gap = float(calibration.importance @ (calibration.covered - held.hits["base"])) / total
    if gap <= 0:
        return missing("gap_closed", title, "The base order is right wherever the class is on the shortlist")
    everywhere = np.ones(len(calibration.labels), dtype=bool)
    values: list[dict[str, Any]] = []
    for mode, name in MODES.items():
        gain = gain_where(held.hits[mode] - held.hits["base"], everywhere, calibration)
        low, high = gain.interval()
        values.append({"name": name, "closed": gain.gain / gap, "low": low / gap, "high": high / gap})
    told = "; ".join(f"{one['name']} {percent(one['closed'], 0)}" for one in values)
    return Picture(
        "gap_closed",
        title,
        f"Between what the base order gets right and what is on the shortlist lie {100 * gap:.1f} points. "
        f"Of these are closed: {minus(told)}.",
        f"{_rows(calibration)}, held out in {FOLDS} folds; each kind with its usual settings.",
        {"values": values},
        ("correction", "share of the gap closed", "95 % interval"),
        [
            (one["name"], percent(one["closed"]), minus(f"{percent(one['low'])} to {percent(one['high'])}"))
            for one in values
        ],
    )


def quintiles(diagnosis: Diagnosis, calibration: CalibrationSet) -> Picture:
    """Show where pairwise terms help rare classes, by how much their thresholds vary."""
    title = "Where pairwise terms help: quintile gains"
    found = diagnosis.quintiles
    if isinstance(found, NotApplicable):
        return missing("quintiles", title, found.reason)
    values: list[dict[str, Any]] = []
    for place, one in enumerate(found.bins, start=1):
        low, high = one.delta.interval()
        values.append(
            {
                "bin": f"Q{place}",
                "dispersion": f"{one.low:.2f}–{one.high:.2f}",
                "classes": len(one.classes),
                "rows": one.n_rows,
                "gain": one.delta.gain,
                "low": low,
                "high": high,
            }
        )
    return Picture(
        "quintiles",
        title,
        "Rare classes in fifths by how much the score gap to their rivals varies. Pairwise terms change Hit@1 over "
        f"offsets alone by {points(values[0]['gain'])} points in Q1, where it varies least, and by "
        f"{points(values[-1]['gain'])} in Q5, where the theory expects them to help most.",
        f"The covered rows of rare classes among {_rows(calibration)}, held out in {FOLDS} folds.",
        {"values": values},
        ("quintile", "dispersion", "classes", "rows", "change of Hit@1", "95 % interval"),
        [
            (
                one["bin"],
                one["dispersion"],
                number(one["classes"]),
                number(one["rows"]),
                points(one["gain"]),
                f"{points(one['low'])} to {points(one['high'])}",
            )
            for one in values
        ],
    )


def pairs(diagnosis: Diagnosis, calibration: CalibrationSet) -> Picture:
    """Show the score gaps of the worst contradictory pairs, by true class."""
    title = "The worst contradictory pairs"
    counts = diagnosis.pairs
    which = np.flatnonzero(counts.contradictory)
    if not len(which):
        return missing(
            "pairs", title, f"None of the {counts.n_two_way} pairs with rows of both classes is contradictory"
        )
    fewer = np.minimum(counts.rows_first, counts.rows_second)[which]
    worst = which[np.lexsort((-counts.overlap[which], -fewer))[:MOST_PAIRS]]
    shown = [_histogram(calibration, int(counts.first[one]), int(counts.second[one])) for one in worst]
    expected = diagnosis.expected
    chance = (
        f"{expected.observed:,} of {counts.n_two_way:,} pairs are contradictory; if offsets were the whole truth, "
        f"chance alone would make {expected.expected:,.0f} ± {expected.deviation:,.0f} "
        f"(p = {expected.p_value:.2g} for more)."
    )
    return Picture(
        "pairs",
        title,
        "Each row where two classes meet has a score gap. If one class always won beyond the same gap, a fixed offset "
        f"would do; in the shaded zone both occur, so no fixed offset orders all rows right. {chance}",
        f"{_rows(calibration)} labelled with one class of the pair and listing both; base scores, nothing fitted. "
        "Those with the most rows.",
        {"pairs": shown},
        ("first class", "second class", "rows of the first", "rows of the second", "shaded zone"),
        [
            (
                one["first"],
                one["second"],
                number(one["rows_first"]),
                number(one["rows_second"]),
                minus(f"{one['zone'][0]:.2f} to {one['zone'][1]:.2f}"),
            )
            for one in shown
        ],
    )


def _histogram(calibration: CalibrationSet, first: int, second: int) -> dict[str, Any]:
    """Count rows of either class by their score gap g_second − g_first."""
    shortlist, labels = calibration.shortlist, calibration.labels
    near = np.flatnonzero((labels == first) | (labels == second))
    ids, scores = shortlist.ids[near], shortlist.scores[near]
    places = [(ids == one).argmax(axis=1) for one in (first, second)]
    both: BoolArray = (ids == first).any(axis=1) & (ids == second).any(axis=1)
    own, other = (scores[np.arange(len(near)), place] for place in places)
    gaps, of_first = (other - own)[both], labels[near][both] == first
    low, high = float(gaps.min()), float(gaps.max())
    edges = np.linspace(low, high if high > low else low + 1.0, HISTOGRAM_BINS + 1)
    name_of = calibration.table.name_of
    bins = []
    up, down = (np.histogram(gaps[which], edges)[0] for which in (of_first, ~of_first))
    for place in range(HISTOGRAM_BINS):
        for side, count in (("first", up[place]), ("second", -down[place])):
            if count:
                ends = {"left": float(edges[place]), "right": float(edges[place + 1])}
                bins.append({**ends, "side": side, "count": int(count), "rows": abs(int(count))})
    return {
        "first": name_of(first),
        "second": name_of(second),
        "rows_first": int(of_first.sum()),
        "rows_second": int((~of_first).sum()),
        "zone": [float(gaps[~of_first].min()), float(gaps[of_first].max())],
        "bins": bins,
        "most": int(max(up.max(), down.max())),
    }


def _rows(calibration: CalibrationSet) -> str:
    return f"{len(calibration.labels):,} calibration rows"
