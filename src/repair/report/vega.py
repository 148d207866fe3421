"""Building blocks of the charts, as parts of Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from repair.report.palette import colour
from repair.report.row_charts import BEFORE

__all__ = ["ORDERS", "SHAPES", "Data", "Spec", "caption", "chart", "colours", "decades", "field", "own_values", "tips"]

Spec: TypeAlias = dict[str, Any]
Data: TypeAlias = Mapping[str, Any]

ORDERS = {BEFORE: "base", "model": "model"}
#: The base order and the model also differ in shape, for people who do not see the colours.
SHAPES: Spec = {"field": "order", "scale": {"domain": list(ORDERS), "range": ["diamond", "circle"]}}
#: A horizontal legend does not wrap by itself, so a narrow chart has two entries per line.
LEGEND_COLUMNS = "width < 380 ? 2 : 4"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
#: Configuration of all charts.  Marks have no ARIA labels, because the page gives each chart one label and a table.
CONFIG: Spec = {
    "aria": False,
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelSeparation": 8,
        "labelColor": colour("soft"),
        "titleColor": colour("soft"),
        "gridColor": colour("line"),
        "domainColor": colour("line"),
        "tickColor": colour("line"),
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": colour("ink"),
        "titleColor": colour("soft"),
        "labelFontSize": 12,
        "titleFontSize": 12,
    },
    "text": {"fontSize": 12},
}


def chart(values: Sequence[Data], layers: list[Spec], height: int = 280, **more: Any) -> Spec:
    """Return a layered chart that is as wide as its container."""
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "data": {"values": list(values)},
        "layer": layers,
        "config": CONFIG,
        **more,
    }


def field(name: str, title: str | None, kind: str = "quantitative", **more: Any) -> Spec:
    """Return the encoding of an axis."""
    return {"field": name, "type": kind, "title": title, **more}


def tips(**titles: Any) -> list[Spec]:
    """Return the tooltip of a mark: a title for each field, or a pair of title and number format."""
    shown = []
    for name, given in titles.items():
        title, number = given if isinstance(given, tuple) else (given, None)
        shown.append({"field": name, "title": title, **({} if number is None else {"format": number})})
    return shown


def colours(field: str, names: Mapping[str, str], title: str | None = None, **more: Any) -> Spec:
    """Return the encoding of a field by colours, with a legend on top."""
    scale = {"domain": list(names), "range": [colour(name) for name in names.values()]}
    legend = {"orient": "top", "title": title, "symbolType": "circle", "columns": {"expr": LEGEND_COLUMNS}}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend, **more}


def own_values(values: Sequence[Data]) -> Spec:
    """Return the part of a layer that gives it separate data."""
    return {"data": {"values": list(values)}}


def caption(text: str, **more: Any) -> Spec:
    """Return a text mark."""
    return {"type": "text", "text": text, "color": colour("soft"), "fontSize": 11, **more}


def decades(top: float) -> list[int]:
    """Return 0 and the powers of ten up to `top`, the ticks of a symlog axis."""
    ticks = [0]
    while 10 ** (len(ticks) - 1) <= top:
        ticks.append(10 ** (len(ticks) - 1))
    return ticks
