"""Figures of one benchmark, from the JSON file of its run, as SVG and PNG."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair import rare_classes
from repair._utils.atomic_write import write_atomically
from repair.errors import InputError, MissingExtraError
from repair_bench.report.beyond_frontier import curve_points
from repair_bench.report.numbers import EMBEDDED, EXTENDED, PAIRWISE, PUBLISHED, Result
from repair_bench.report.result_tables import class_counts
from repair_bench.report.table import AbsentError

__all__ = ["FIGURES", "figure", "save_figure"]

ENDINGS = (".svg", ".png")
#: Pixels of a PNG per unit of the drawing.
SCALE = 2.0
WIDTH, HEIGHT = 360, 260
RULE = "#888888"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left")
#: Colours that most people can tell apart (Okabe and Ito).
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7", "#999999")
#: The methods whose curves are drawn, as many as there are colours.
CURVES = ("Base", "LogitAdj", "LogitAdj over all classes", "LambdaRank", PUBLISHED, EXTENDED, EMBEDDED, PAIRWISE)


def figure(kind: str, result: Result) -> Any:
    """Return an Altair chart, or raise an error that says what the result lacks.

    Parameters
    ----------
    kind : str
        One of `FIGURES`.
    result : dict
        The content of a benchmark's JSON file.
    """
    if kind not in FIGURES:
        raise InputError(f"there is no figure {kind!r}; choose one of {', '.join(FIGURES)}")
    return FIGURES[kind](result)


def save_figure(chart: Any, out: "str | PathLike[str]") -> list[Path]:
    """Write a chart as SVG or PNG, depending on the ending of `out`, or as both if it has neither ending.

    Returns
    -------
    list of Path
        The files that were written.
    """
    import vl_convert

    given = Path(out)
    paths = [given] if given.suffix in ENDINGS else [given.with_name(given.name + ending) for ending in ENDINGS]
    given.parent.mkdir(parents=True, exist_ok=True)
    drawing = chart.to_dict()
    for path in paths:
        if path.suffix == ".svg":
            content = vl_convert.vegalite_to_svg(drawing).encode()
        else:
            content = vl_convert.vegalite_to_png(drawing, scale=SCALE)
        write_atomically(path, content)
    return paths


def quintile_figure(result: Result) -> Any:
    """Draw ΔHit@1 of Pairwise over Classwise by quintile of dispersion, ± one standard error."""
    found = result["quintiles"]
    if "not_applicable" in found:
        raise AbsentError(f"{result['benchmark']}: quintiles are not applicable: {found['not_applicable']}")
    rows = []
    for rank, one in enumerate(found["bins"], 1):
        gain, error = 100 * one["delta"]["gain"], 100 * (one["delta"]["error"] or 0.0)
        rows.append({"quintile": f"Q{rank}", "gain": gain, "low": gain - error, "high": gain + error})
    alt = _altair()
    across = alt.X("quintile:N", title="Quintile of threshold dispersion, rare classes", axis=alt.Axis(labelAngle=0))
    bars = alt.Chart().mark_bar(opacity=0.7).encode(across, alt.Y("gain:Q", title="ΔHit@1, points"))
    errors = alt.Chart().mark_rule().encode(across, alt.Y("low:Q"), alt.Y2("high:Q"))
    return _finish(alt.layer(bars, errors, data=alt.Data(values=rows)), result, "Pairwise − Classwise")


def distribution_figure(result: Result) -> Any:
    """Draw the number of training rows of each class, largest first, and where the rare classes begin."""
    counts = np.array(class_counts(result), dtype=np.float64)
    ordered = np.sort(counts)[::-1]
    frequent = int((~rare_classes(counts)).sum())
    rows = [{"rank": rank, "count": max(float(count), 0.5)} for rank, count in enumerate(ordered, 1)]
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
    """Draw Hit@1 and Rare over the shortlist length, one line per method."""
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
            alt.Y("value:Q", title="Per cent of covered rows", scale=alt.Scale(zero=False)),
            alt.Color("method:N", title=None, scale=alt.Scale(domain=order, range=_cycle(COLOURS, order))),
            alt.Column("metric:N", title=None),
        )
    )
    return _finish(line, result, "shortlist length")


def frontier_figure(result: Result) -> Any:
    """Draw the accuracy of each method on frequent and on rare classes for all dials, with a point at dial 0."""
    rows = [
        {"method": title, "dial": dial, "frequent": 100 * frequent, "rare": 100 * rare}
        for title in CURVES
        if "trade_off" in result["methods"].get(title, {})
        for dial, frequent, rare in curve_points(result["methods"][title]["trade_off"])
    ]
    if not rows:
        raise AbsentError(f"{result['benchmark']}: no method has a curve with rows of rare and of frequent classes")
    alt = _altair()
    order = [title for title in CURVES if any(row["method"] == title for row in rows)]
    channels = (
        alt.X("frequent:Q", title="Frequent, all rows, per cent", scale=alt.Scale(zero=False, padding=20)),
        alt.Y("rare:Q", title="Rare, all rows, per cent", scale=alt.Scale(zero=False, padding=20)),
        alt.Color("method:N", title=None, scale=alt.Scale(domain=order, range=_cycle(COLOURS, order))),
    )
    shape = alt.Shape("method:N", title=None, scale=alt.Scale(domain=order, range=_cycle(SHAPES, order)))
    lines = alt.Chart().mark_line(strokeWidth=1.5, opacity=0.8).encode(*channels, alt.Order("dial:Q"))
    points = alt.Chart().mark_point(filled=True, size=80, opacity=1).encode(*channels, shape)
    chart = alt.layer(lines, points.transform_filter("datum.dial == 0"), data=alt.Data(values=rows))
    return _finish(chart, result, "all dials, points at dial 0")


#: The figures, by the name used on the command line.
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
    return [values[index % len(values)] for index in range(len(names))]


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401 - needed to write the files; checked before drawing
    except ImportError:
        raise MissingExtraError(
            "figures need altair and vl-convert-python: pip install altair vl-convert-python"
        ) from None
    return altair
