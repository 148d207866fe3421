"""Charts that show whether more than offsets is needed: the gap closed, quintile gains, contradictory pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from repair._utils.arrays import BoolArray
from repair._utils.text_tables import minus_signs
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis.diagnose import Diagnosis
from repair.diagnosis.expected import ExpectedContradictions
from repair.report.picture import Picture, missing, number, percent, points
from repair.stats.folds import FOLDS
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import paired_gain
from repair.stats.row_weights import describe_weights

__all__ = ["gap_closed", "is_excess", "pairs", "quintiles"]

MOST_PAIRS = 6
#: Level of the test for more contradictory pairs than by chance.
LEVEL = 0.05
HISTOGRAM_BINS = 24
MODES = {"classwise": "offsets only", "separable": "offsets, temperature, count slope", "pairwise": "pairwise terms"}


def gap_closed(diagnosis: Diagnosis) -> Picture:
    """Show the share of the recoverable gap that each kind of correction closes on held-out rows."""
    title = "How much of the gap each kind of correction closes"
    held, calibration = diagnosis.held_out, diagnosis.measured_on
    if isinstance(held, NotApplicable):
        return missing("gap_closed", title, held.reason)
    total = float(calibration.importance.sum())
    gap = float(calibration.importance @ (calibration.covered - held.hits["base"])) / total
    if gap <= 0:
        return missing("gap_closed", title, "There is no gap to close: the base order is right on every covered row")
    values: list[dict[str, Any]] = []
    for mode, name in MODES.items():
        gain = paired_gain(held.hits[mode] - held.hits["base"], calibration.importance, calibration.groups)
        low, high = gain.interval()
        values.append({"name": name, "closed": gain.gain / gap, "low": low / gap, "high": high / gap})
    if not any(bar["low"] or bar["high"] for bar in values):
        return missing("gap_closed", title, "No correction changed which held-out rows are right")
    shares = "; ".join(f"{bar['name']}: {percent(bar['closed'], 0)}" for bar in values)
    return Picture(
        "gap_closed",
        title,
        f"The accuracy of the base order is {100 * gap:.1f} points below the coverage of the shortlist, which no "
        f"reranking of these candidates can exceed. Share of this gap that is closed by {minus_signs(shares)}.",
        f"{_rows(calibration)}, each held out in one of {FOLDS} folds. Every correction has its default settings."
        f"{describe_weights(calibration.importance, calibration.groups)}",
        {"values": values},
        ("correction", "share of the gap closed", "95 % interval"),
        [
            (bar["name"], percent(bar["closed"]), minus_signs(f"{percent(bar['low'])} to {percent(bar['high'])}"))
            for bar in values
        ],
    )


def quintiles(diagnosis: Diagnosis) -> Picture:
    """Show how much pairwise terms help rare classes, by threshold dispersion."""
    title = "Where pairwise terms help: quintile gains"
    gains, measured_on = diagnosis.quintiles, diagnosis.measured_on
    if isinstance(gains, NotApplicable):
        return missing("quintiles", title, gains.reason)
    values: list[dict[str, Any]] = []
    for quintile, part in enumerate(gains.bins, start=1):
        low, high = part.delta.interval()
        values.append(
            {
                "bin": f"Q{quintile}",
                "dispersion": f"{part.low:.2f}–{part.high:.2f}",
                "classes": len(part.classes),
                "rows": part.n_rows,
                "gain": part.delta.gain,
                "low": low,
                "high": high,
            }
        )
    return Picture(
        "quintiles",
        title,
        "Rare classes are divided into fifths by how much the score gap to their rivals varies between rows. Compared "
        f"with offsets alone, pairwise terms change Hit@1 by {points(values[0]['gain'])} points in Q1, where the gap "
        f"varies least, and by {points(values[-1]['gain'])} points in Q5, where the theory expects the largest gain.",
        f"Covered rows of rare classes among {_rows(measured_on)}, each held out in one of {FOLDS} folds."
        f"{describe_weights(measured_on.importance, measured_on.groups)}",
        {"values": values},
        ("quintile", "threshold dispersion", "classes", "rows", "change of Hit@1", "95 % interval"),
        [
            (
                part["bin"],
                part["dispersion"],
                number(part["classes"]),
                number(part["rows"]),
                points(part["gain"]),
                f"{points(part['low'])} to {points(part['high'])}",
            )
            for part in values
        ],
    )


def is_excess(expected: ExpectedContradictions) -> bool:
    """Return whether there are more contradictory pairs than if class offsets were sufficient."""
    return expected.p_value <= LEVEL and expected.excess > 0


def pairs(diagnosis: Diagnosis, calibration: CalibrationSet) -> Picture:
    """Show histograms of the score gap of the worst contradictory pairs, by true class."""
    title = "Contradictory pairs of classes"
    counts = diagnosis.pairs
    which = np.flatnonzero(counts.contradictory)
    if not len(which):
        return missing(
            "pairs", title, f"None of the {counts.n_two_way} pairs with rows of both classes is contradictory"
        )
    fewer = np.minimum(counts.rows_first, counts.rows_second)[which]
    worst = which[np.lexsort((-counts.overlap[which], -fewer))[:MOST_PAIRS]]
    shown = [_histogram(calibration, int(counts.first[pair]), int(counts.second[pair])) for pair in worst]
    expected = diagnosis.expected
    found = "There are more contradictory pairs" if is_excess(expected) else "There are no more contradictory pairs"
    chance = (
        f"{found} than class offsets and chance explain: {expected.observed:,} of {counts.n_two_way:,} pairs, where "
        f"{expected.expected:,.0f} ± {expected.deviation:,.0f} are expected (one-sided p = {expected.p_value:.2g})."
    )
    return Picture(
        "pairs",
        title,
        f"{chance} Each chart shows the score gap between two classes, on the rows of either class. If one class "
        "were always right above some gap and the other below it, a fixed class offset would be sufficient. In the "
        "shaded zone both occur, so no fixed offset orders all rows correctly.",
        f"Calibration rows (of {len(calibration.labels):,}) that are labelled with one of the two classes and have "
        "both on the shortlist. These are base scores, before any fit, and rows are counted without weights. The pairs "
        "with the most rows are shown.",
        {"pairs": shown},
        ("first class", "second class", "rows of the first", "rows of the second", "shaded zone"),
        [
            (
                pair["first"],
                pair["second"],
                number(pair["rows_first"]),
                number(pair["rows_second"]),
                minus_signs(f"{pair['zone'][0]:.2f} to {pair['zone'][1]:.2f}"),
            )
            for pair in shown
        ],
    )


def _histogram(calibration: CalibrationSet, first: int, second: int) -> dict[str, Any]:
    """Return a histogram of the score gap g_second − g_first, separately for the rows of either class."""
    shortlist, labels = calibration.shortlist, calibration.labels
    near = np.flatnonzero((labels == first) | (labels == second))
    ids, scores = shortlist.ids[near], shortlist.scores[near]
    positions = [(ids == label).argmax(axis=1) for label in (first, second)]
    both: BoolArray = (ids == first).any(axis=1) & (ids == second).any(axis=1)
    first_scores, second_scores = (scores[np.arange(len(near)), position] for position in positions)
    gaps, of_first = (second_scores - first_scores)[both], labels[near][both] == first
    low, high = float(gaps.min()), float(gaps.max())
    edges = np.linspace(low, high if high > low else low + 1.0, HISTOGRAM_BINS + 1)
    name_of = calibration.table.name_of
    bins = []
    up, down = (np.histogram(gaps[which], edges)[0] for which in (of_first, ~of_first))
    for bin_ in range(HISTOGRAM_BINS):
        for side, count in (("first", up[bin_]), ("second", -down[bin_])):
            if count:
                ends = {"left": float(edges[bin_]), "right": float(edges[bin_ + 1])}
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
