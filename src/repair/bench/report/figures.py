"""Figures of one benchmark, from the JSON of its run, as SVG and PNG (extra ``report``)."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair.bench.report.beyond_frontier import curve_points
from repair.bench.report.numbers import EMBEDDED, EXTENDED, PUBLISHED, Result
from repair.bench.report.result_tables import class_counts
from repair.bench.report.table import AbsentError
from repair.class_table import rare_classes
from repair.errors import InputError, MissingExtraError
from repair.files import write_atomically

__all__ = ["FIGURES", "figure", "save_figure"]

ENDINGS = (".svg", ".png")
#: Pixels of PNG for each unit of the drawing.
SCALE = 2.0
WIDTH, HEIGHT = 360, 260
RULE = "#888888"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left")
#: Told apart by most eyes (Okabe and Ito).
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7", "#999999")
#: Whose curves are drawn: as many as there are colours.
CURVES = ("Base", "LogitAdj", "LogitAdj over all classes", "LambdaRank", PUBLISHED, EXTENDED, EMBEDDED, "REPAIR")


def figure(kind: str, result: Result) -> Any:
    """Return an Altair chart, or refuse and say what the result lacks.

    Parameters
    ----------
    kind : str
        One of `FIGURES`.
    result : dict
        The content of a benchmark's JSON.
    """
    if kind not in FIGURES:
        raise InputError(f"there is no figure {kind!r}; choose from {', '.join(FIGURES)}")
    return FIGURES[kind](result)


def save_figure(chart: Any, out: "str | PathLike[str]") -> list[Path]:
    """Write a chart as SVG or PNG, as the ending of `out` says; without one of these endings, as both.

    Returns
    -------
    list of Path
        What was written.
    """
    import vl_convert

    place = Path(out)
    wanted = [place] if place.suffix in ENDINGS else [place.with_name(place.name + ending) for ending in ENDINGS]
    place.parent.mkdir(parents=True, exist_ok=True)
    drawing = chart.to_dict()
    for path in wanted:
        if path.suffix == ".svg":
            content = vl_convert.vegalite_to_svg(drawing).encode()
        else:
            content = vl_convert.vegalite_to_png(drawing, scale=SCALE)
        write_atomically(path, content)
    return wanted


def quintile_figure(result: Result) -> Any:
    """Draw ΔHit@1 of REPAIR over Classwise by quintile of dispersion, with one standard error to each side."""
    found = result["quintiles"]
    if "not_applicable" in found:
        raise AbsentError(f"{result['benchmark']}: quintiles are not applicable: {found['not_applicable']}")
    rows = []
    for place, one in enumerate(found["bins"], 1):
        gain, error = 100 * one["delta"]["gain"], 100 * (one["delta"]["error"] or 0.0)
        rows.append({"quintile": f"Q{place}", "gain": gain, "low": gain - error, "high": gain + error})
    alt = _altair()
    across = alt.X("quintile:N", title="Quintile of threshold dispersion, rare classes", axis=alt.Axis(labelAngle=0))
    bars = alt.Chart().mark_bar(opacity=0.7).encode(across, alt.Y("gain:Q", title="ΔHit@1, points"))
    errors = alt.Chart().mark_rule().encode(across, alt.Y("low:Q"), alt.Y2("high:Q"))
    return _finish(alt.layer(bars, errors, data=alt.Data(values=rows)), result, "REPAIR − Classwise")


def distribution_figure(result: Result) -> Any:
    """Draw the training rows of each class, largest first, and where the rare classes begin."""
    counts = np.array(class_counts(result), dtype=np.float64)
    ordered = np.sort(counts)[::-1]
    frequent = int((~rare_classes(counts)).sum())
    rows = [{"rank": place, "count": max(float(count), 0.5)} for place, count in enumerate(ordered, 1)]
    alt = _altair()
    classes = alt.Scale(domain=[1, max(2, len(ordered))], nice=False)
    line = (
        alt.Chart(alt.Data(values=rows))
        .mark_area(opacity=0.5, line=True, interpolate="step-after")
        .encode(
            alt.X("rank:Q", title="Class, largest first", scale=classes),
            alt.Y("count:Q", title="Training rows", scale=alt.Scale(type="log"), stack=None),
        )
    )
    border = alt.Chart(alt.Data(values=[{"rank": frequent + 0.5}])).mark_rule(strokeDash=[4, 3], color=RULE)
    label = alt.Chart(alt.Data(values=[{"rank": frequent + 0.5, "text": "rare (80 %) →"}])).mark_text(
        align="left", dx=4, y=10
    )
    return _finish(
        alt.layer(line, border.encode(x="rank:Q"), label.encode(x="rank:Q", text="text:N")), result, "training rows"
    )


def k_figure(result: Result) -> Any:
    """Draw Hit@1 and Rare over the shortlist length, a line for each method."""
    if len(result["by_k"]) < 2:
        raise AbsentError(f"{result['benchmark']}: no other shortlist length was run")
    titles = {"hit@1": "Hit@1", "rare": "Rare"}
    rows = [
        {"k": int(k), "method": title, "metric": shown, "value": _percent(one["metrics"][metric]["mean"])}
        for k, methods in result["by_k"].items()
        for title, one in methods.items()
        for metric, shown in titles.items()
    ]
    alt = _altair()
    lengths = sorted({int(k) for k in result["by_k"]})
    order = list(result["by_k"][str(lengths[0])])
    line = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            alt.X(
                "k:Q",
                title="Shortlist length k",
                scale=alt.Scale(type="log", nice=False, padding=20),
                axis=alt.Axis(values=lengths),
            ),
            alt.Y("value:Q", title="percent of covered rows", scale=alt.Scale(zero=False)),
            alt.Color("method:N", title=None, scale=alt.Scale(domain=order, range=_cycle(COLOURS, order))),
            alt.Column("metric:N", title=None),
        )
    )
    return _finish(line, result, "shortlist length")


def frontier_figure(result: Result) -> Any:
    """Draw what each method reaches on frequent and on rare classes as its dial is turned, and where dial 0 is."""
    rows = [
        {"method": title, "dial": dial, "frequent": 100 * frequent, "rare": 100 * rare}
        for title in CURVES
        if "trade_off" in result["methods"].get(title, {})
        for dial, frequent, rare in curve_points(result["methods"][title]["trade_off"])
    ]
    if not rows:
        raise AbsentError(f"{result['benchmark']}: no method was run with its dial turned on rare and frequent rows")
    alt = _altair()
    order = [title for title in CURVES if any(row["method"] == title for row in rows)]
    places = (
        alt.X("frequent:Q", title="Frequent, percent of all rows", scale=alt.Scale(zero=False, padding=20)),
        alt.Y("rare:Q", title="Rare, percent of all rows", scale=alt.Scale(zero=False, padding=20)),
        alt.Color("method:N", title=None, scale=alt.Scale(domain=order, range=_cycle(COLOURS, order))),
    )
    shape = alt.Shape("method:N", title=None, scale=alt.Scale(domain=order, range=_cycle(SHAPES, order)))
    lines = alt.Chart().mark_line(strokeWidth=1.5, opacity=0.8).encode(*places, alt.Order("dial:Q"))
    own = alt.Chart().mark_point(filled=True, size=80, opacity=1).encode(*places, shape)
    chart = alt.layer(lines, own.transform_filter("datum.dial == 0"), data=alt.Data(values=rows))
    return _finish(chart, result, "the dial turned; points: dial 0")


#: Every figure, by the name it is asked for.
FIGURES: dict[str, Callable[[Result], Any]] = {
    "quintiles": quintile_figure,
    "distribution": distribution_figure,
    "k": k_figure,
    "frontier": frontier_figure,
}


def _finish(chart: Any, result: Result, what: str) -> Any:
    return chart.properties(title=f"{result['benchmark']}: {what}").configure_view(
        continuousWidth=WIDTH, continuousHeight=HEIGHT, discreteWidth=WIDTH
    )


def _cycle(values: Sequence[str], names: Sequence[str]) -> list[str]:
    return [values[place % len(values)] for place in range(len(names))]


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401 - needed to write the files; better to know before drawing
    except ImportError:
        raise MissingExtraError("figures need the extra 'bench': pip install 'repair-rerank[bench]'") from None
    return altair
