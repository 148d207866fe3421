"""The chart of the head–tail frontier, with labels that do not meet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from repair.model.adjustments import dial_text
from repair.report.labels import Placed, Spot, place_labels
from repair.report.palette import colour
from repair.report.row_charts import BEFORE
from repair.report.vega import ORDERS, SHAPES, Data, Spec, chart, colours, field, own_values, tips

__all__ = ["frontier"]

HEIGHT = 320
#: A line between two points is kept free of labels at so many places, less one.
POINTS_BETWEEN = 6


def frontier(data: Data) -> Spec:
    """Draw rare against frequent accuracy along the dial."""
    axis = {"format": ".1~%", "tickCount": 6}
    domains = {name: _around([at[name] for at in _places(data)]) for name in ("frequent", "rare")}
    x, y = (
        field(name, f"accuracy on {name} classes", scale={"domain": domains[name], "nice": False}, axis=axis)
        for name in ("frequent", "rare")
    )
    shown = tips(
        dial="dial",
        rare=("rare", ".1%"),
        frequent=("frequent", ".1%"),
        accuracy=("all rows", ".1%"),
        macro=("mean over classes", ".1%"),
    )
    marks = [{**data["base"], "order": BEFORE}, {**data["model"], "order": "model"}]
    layers = [
        {
            "mark": {"type": "line", "color": colour("model"), "strokeWidth": 1.5, "opacity": 0.6},
            "encoding": {"x": x, "y": y, "order": {"field": "dial", "type": "quantitative"}},
        },
        {
            "mark": {"type": "point", "filled": True, "color": colour("model"), "size": 36, "opacity": 1},
            "encoding": {"x": x, "y": y, "tooltip": shown},
        },
        {
            **own_values(marks),
            "mark": {"type": "point", "filled": True, "size": 190, "opacity": 1, "stroke": colour("paper")},
            "encoding": {
                "x": x,
                "y": y,
                "color": colours("order", ORDERS, legend=None),
                "shape": {**SHAPES, "legend": None},
                "tooltip": tips(order=" ", rare=("rare", ".1%"), frequent=("frequent", ".1%")),
            },
        },
    ]
    for label in _labels(data, domains):
        mark = {"type": "text", "lineBreak": "\n", **label.mark, "color": colour("ink" if label.bold else "soft")}
        at = {"frequent": label.x, "rare": label.y, "text": label.text}
        layers.append({**own_values([at]), "mark": mark, "encoding": {"x": x, "y": y, "text": {"field": "text"}}})
    return chart(data["values"], layers, HEIGHT)


def _places(data: Data) -> list[Data]:
    return [*data["values"], data["base"], data["model"]]


def _along(values: Sequence[Data]) -> list[Data]:
    """Return points along the line that joins the values."""
    steps = [step / POINTS_BETWEEN for step in range(1, POINTS_BETWEEN)]
    return [
        {name: (1 - step) * first[name] + step * second[name] for name in ("frequent", "rare")}
        for first, second in pairwise(values)
        for step in steps
    ]


def _around(values: Sequence[float]) -> list[float]:
    """Return the ends of an axis with some room around the values."""
    low, high = min(values), max(values)
    room = 0.12 * (high - low) or 0.01
    return [low - room, high + room]


def _labels(data: Data, domains: dict[str, list[float]]) -> list[Placed]:
    """Return the names of the base order and the model, and the dials 0, 0.5 and 1 where they do not get in the way."""
    current = data["model"]["dial"]
    spots = [
        Spot("base order", data["base"]["frequent"], data["base"]["rare"], bold=True),
        Spot(f"this model, dial {dial_text(current)}", data["model"]["frequent"], data["model"]["rare"], bold=True),
    ]
    for at in data["values"]:
        if at["dial"] in (0.0, 0.5, 1.0) and at["dial"] != current:
            spots.append(Spot(f"dial {at['dial']:.1f}", at["frequent"], at["rare"]))
    points = [(at["frequent"], at["rare"]) for at in (*_places(data), *_along(data["values"]))]
    return place_labels(spots, points, domains["frequent"], domains["rare"], HEIGHT)
