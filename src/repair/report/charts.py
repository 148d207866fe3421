"""The charts: one function per picture, from plain data to a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from repair.model.adjustments import dial_text
from repair.report.palette import colour
from repair.report.picture import Picture
from repair.report.row_charts import BEFORE
from repair.report.vega import Data, Spec, caption, chart, colours, decades, field, own_values, tips

__all__ = ["CHARTS", "charts_of"]

PER_CENT = ".0%"
ORDERS = {BEFORE: "base", "model": "model"}
#: The base order and the model also differ in shape, for people who do not see the colours.
SHAPES: Spec = {"field": "order", "scale": {"domain": list(ORDERS), "range": ["diamond", "circle"]}}


def charts_of(picture: Picture) -> list[Spec]:
    """Return the charts of a picture: usually one, one per pair for the pairs, and none if there is no picture.

    Examples
    --------
    >>> from repair.report.charts import charts_of
    >>> from repair.report.picture import missing
    >>> charts_of(missing("frontier", "The frontier", "there are no counts"))
    []
    """
    if picture.reason:
        return []
    charts = CHARTS[picture.key](picture.data)
    return charts if isinstance(charts, list) else [charts]


def long_tail(data: Data) -> Spec:
    """Draw the examples by rank of the class, and a line between the frequent fifth and the rest."""
    boundary = data["frequent"] + 0.5
    ticks = decades(data["top"])
    y = field(
        "count",
        data["what"],
        scale={"type": "symlog", "domainMin": 0},
        axis={"values": ticks, "format": ",d", "grid": True},
    )
    x = field("rank", "classes, most frequent first", scale={"nice": False, "zero": False}, axis={"grid": False})
    kinds = {"frequent": "frequent", "rare": "rare"}
    shown = tips(rank="rank", count=("examples", ","), kind="kind")
    line = own_values([{"rank": boundary}])
    return chart(
        data["values"],
        [
            {
                "mark": {"type": "area", "interpolate": "step-after", "opacity": 0.85, "line": False},
                "encoding": {"x": x, "y": y, "color": colours("kind", kinds), "tooltip": shown},
            },
            {
                **line,
                "mark": {"type": "rule", "strokeDash": [5, 4], "color": colour("ink")},
                "encoding": {"x": {"field": "rank", "type": "quantitative"}},
            },
            {
                **line,
                "mark": caption("80 % of the classes →", align="left", dx=6, y=8, color=colour("ink")),
                "encoding": {"x": {"field": "rank", "type": "quantitative"}},
            },
        ],
    )


def by_frequency(data: Data) -> Spec:
    """Draw accuracy before and after, in bins of the classes."""
    labels = [part["label"] for part in data["values"]]
    x = field("label", "training examples of the class, rarest first", "ordinal", sort=labels, axis={"labelAngle": -30})
    points = [
        {**part, "order": order, "accuracy": part["before" if order == BEFORE else "after"]}
        for part in data["values"]
        for order in ORDERS
    ]
    shown = tips(
        label="examples",
        kind="kind",
        classes=("classes", ","),
        rows=("rows", ","),
        before=("before", ".1%"),
        after=("after", ".1%"),
    )
    y = {"type": "quantitative", "title": "accuracy", "axis": {"format": PER_CENT}}
    return chart(
        data["values"],
        [
            {
                "mark": {"type": "rule", "strokeWidth": 9, "opacity": 0.22, "color": colour("model")},
                "encoding": {"x": x, "y": {**y, "field": "before"}, "y2": {"field": "after"}},
            },
            {
                "mark": {"type": "rule", "color": colour("model"), "strokeWidth": 1.5},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                **own_values(points),
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "accuracy"},
                    "color": colours("order", ORDERS),
                    "shape": SHAPES,
                    "tooltip": shown,
                },
            },
        ],
        300,
    )


def frontier(data: Data) -> Spec:
    """Draw rare against frequent accuracy along the dial."""
    axis = {"format": ".1%", "tickCount": 6}
    x = field("frequent", "accuracy on frequent classes", scale={"zero": False, "padding": 24}, axis=axis)
    y = field("rare", "accuracy on rare classes", scale={"zero": False, "padding": 18}, axis=axis)
    shown = tips(
        dial="dial",
        rare=("rare", ".1%"),
        frequent=("frequent", ".1%"),
        accuracy=("all rows", ".1%"),
        macro=("mean over classes", ".1%"),
    )
    ends = [at for at in data["values"] if at["dial"] in (0.0, 0.5, 1.0) and at["dial"] != data["model"]["dial"]]
    marks = [
        {**data["base"], "name": "base order", "order": BEFORE},
        {**data["model"], "name": f"this model, dial {dial_text(data['model']['dial'])}", "order": "model"},
    ]
    return chart(
        data["values"],
        [
            {
                "mark": {"type": "line", "color": colour("model"), "strokeWidth": 1.5, "opacity": 0.6},
                "encoding": {"x": x, "y": y, "order": {"field": "dial", "type": "quantitative"}},
            },
            {
                "mark": {"type": "point", "filled": True, "color": colour("model"), "size": 36, "opacity": 1},
                "encoding": {"x": x, "y": y, "tooltip": shown},
            },
            {
                **own_values(ends),
                "mark": {"type": "text", "align": "left", "dx": 8, "dy": -6, "color": colour("soft")},
                "encoding": {"x": x, "y": y, "text": {"field": "dial", "format": ".1f", "type": "quantitative"}},
            },
            *_named_points(marks, x, y),
        ],
        320,
    )


def _named_points(marks: Sequence[Data], x: Spec, y: Spec) -> list[Spec]:
    """Return large points for the base order and the model, each with its name next to it."""
    point = {"type": "point", "filled": True, "size": 190, "opacity": 1, "stroke": colour("paper")}
    name = {"type": "text", "dx": 12, "dy": 20, "align": "right", "fontWeight": 600, "color": colour("ink")}
    encoding = {
        "x": x,
        "y": y,
        "color": colours("order", ORDERS, legend=None),
        "shape": {**SHAPES, "legend": None},
        "tooltip": tips(name=" ", rare=("rare", ".1%"), frequent=("frequent", ".1%")),
    }
    return [
        {**own_values(marks), "mark": point, "encoding": encoding},
        {**own_values(marks), "mark": name, "encoding": {"x": x, "y": y, "text": {"field": "name"}}},
    ]


def offsets(data: Data) -> Spec:
    """Draw the offset of each class against its number of examples."""
    trust = {"own rows": "trust1", "rows and group": "trust2", "mostly the group": "trust3", "no rows": "none"}
    plain = {"fitted": "trust1", "no rows": "none"}
    there = {mark["trust"] for mark in data["values"]}
    names = {name: tint for name, tint in (trust if data["shrunk"] else plain).items() if name in there}
    shown = tips(
        name="class", count=("examples", ","), offset=("offset", "+.3f"), trust="based on", factor=("shrinkage", ".2f")
    )
    top = max(mark["count"] for mark in data["values"])
    within = {"type": "symlog", "domain": [0, 1.3 * max(top, 1.0)], "nice": False}
    axis = {"format": ",d", "values": decades(top)}
    x = field("count", "training examples of the class", scale=within, axis=axis)
    lines = [{"at": 0.0, "what": "no offset"}]
    layers = [
        {
            **own_values(lines),
            "mark": {"type": "rule", "color": colour("line")},
            "encoding": {"y": field("at", None)},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 0.75},
            "encoding": {
                "x": x,
                "y": field("offset", "offset"),
                "color": colours("trust", names, "based on"),
                "tooltip": shown,
            },
        },
    ]
    for mean in data["means"]:
        at_mean = own_values([{"at": mean}])
        rule = {"type": "rule", "strokeDash": [5, 4], "color": colour("ink")}
        layers.append({**at_mean, "mark": rule, "encoding": {"y": field("at", None)}})
        mark = caption("common mean", align="right", x="width", dy=-7, color=colour("ink"))
        layers.append({**at_mean, "mark": mark, "encoding": {"y": field("at", None)}})
    return chart(data["values"], layers, 320)


def gap_closed(data: Data) -> Spec:
    """Draw the share of the recoverable gap that each kind of correction closes."""
    y = field("name", None, "nominal", sort=[bar["name"] for bar in data["values"]], axis={"labelLimit": 200})
    x = {"type": "quantitative", "title": "share of the recoverable gap closed", "axis": {"format": PER_CENT}}
    shown = tips(name=" ", closed=("closed", ".1%"), low=("from", ".1%"), high=("to", ".1%"))
    bars = {"type": "bar", "color": colour("model"), "height": {"band": 0.55}, "cornerRadiusEnd": 3}
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    return chart(
        data["values"],
        [
            {"mark": bars, "encoding": {"x": {**x, "field": "closed"}, "y": y, "tooltip": shown}},
            {"mark": {"type": "rule", "color": colour("ink"), "strokeWidth": 1.5}, "encoding": ends},
        ],
        150,
    )


def quintiles(data: Data) -> Spec:
    """Draw the change of Hit@1 by fifths of the rare classes, as in the paper's figure."""
    x = field("bin", "rare classes by threshold dispersion, low to high", "ordinal", axis={"labelAngle": 0})
    y = {"type": "quantitative", "title": "change of Hit@1, pairwise − offsets", "axis": {"format": "+.0%"}}
    shown = tips(
        bin="quintile",
        dispersion="dispersion",
        classes=("classes", ","),
        rows=("rows", ","),
        gain=("change", "+.1%"),
        low=("from", "+.1%"),
        high=("to", "+.1%"),
    )
    signs = [{**part, "sign": "gain" if part["gain"] >= 0 else "loss"} for part in data["values"]]
    tint = colours("sign", {"gain": "model", "loss": "rare"}, legend=None)
    bars = {"type": "bar", "width": {"band": 0.6}, "cornerRadiusEnd": 3}
    return chart(
        signs,
        [
            {"mark": bars, "encoding": {"x": x, "y": {**y, "field": "gain"}, "color": tint, "tooltip": shown}},
            {
                "mark": {"type": "rule", "color": colour("ink"), "strokeWidth": 1.5},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
        ],
    )


def pairs(data: Data) -> list[Spec]:
    """Draw the score gaps of each pair: rows of the first class upwards, of the second downwards."""
    return [_pair(pair) for pair in data["pairs"]]


def _pair(pair: Data) -> Spec:
    x = {"type": "quantitative", "title": "score of the second class − score of the first"}
    y = field(
        "count",
        "rows",
        axis={"tickCount": 3, "labelExpr": "abs(datum.value)", "tickMinStep": 1},
        scale={"domain": [-pair["most"], pair["most"]]},
    )
    zone = own_values([{"left": pair["zone"][0], "right": pair["zone"][1]}])
    shown = tips(left=("gap from", ".2f"), right=("to", ".2f"), rows="rows")
    return chart(
        pair["bins"],
        [
            {
                **zone,
                "mark": {"type": "rect", "color": colour("zone"), "opacity": 0.28},
                "encoding": {"x": {**x, "field": "left"}, "x2": {"field": "right"}},
            },
            {
                "mark": {"type": "bar", "binSpacing": 1},
                "encoding": {
                    "x": {**x, "field": "left", "bin": {"binned": True}},
                    "x2": {"field": "right"},
                    "y": y,
                    "color": colours("side", {"first": "first", "second": "second"}, legend=None),
                    "tooltip": shown,
                },
            },
            {
                **own_values([{"at": 0}]),
                "mark": {"type": "rule", "color": colour("soft")},
                "encoding": {"y": {"field": "at", "type": "quantitative"}},
            },
        ],
        130,
    )


def coverage(data: Data) -> Spec:
    """Draw how often the true class is among the first j candidates."""
    depth = max(point["j"] for point in data["values"])
    within = {"domain": [1, max(depth, 2)], "nice": False}
    x = field("j", "first j candidates", scale=within, axis={"tickMinStep": 1, "format": "d", "grid": False})
    y = field("share", "true class among them", axis={"format": PER_CENT}, scale={"zero": True})
    rows = {"all rows": "model", "rare classes": "rare"}
    dash = {"domain": list(ORDERS), "range": [[4, 3], [1, 0]]}
    shown = tips(rows="rows", order="order", j="first", share=("share", ".1%"))
    line = own_values([{"j": data["k"]}])
    lines = {
        "x": x,
        "y": y,
        "color": colours("rows", rows),
        "strokeDash": {"field": "order", "type": "nominal", "scale": dash, "legend": {"orient": "top", "title": None}},
    }
    return chart(
        data["values"],
        [
            {
                **line,
                "mark": {"type": "rule", "strokeDash": [2, 3], "color": colour("soft")},
                "encoding": {"x": x},
            },
            {
                **line,
                "mark": caption("shortlist", align="left", dx=5, y="height", dy=-8),
                "encoding": {"x": x},
            },
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": lines},
            {
                "mark": {"type": "point", "filled": True, "size": 28, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": colours("rows", rows), "tooltip": shown},
            },
        ],
        300,
    )


def reliability(data: Data) -> Spec:
    """Draw how often the first choice is right against its probability."""
    axis = {"format": PER_CENT, "tickCount": 5}
    x = field("belief", "probability of the first choice", scale={"domain": [0, 1]}, axis=axis)
    y = field("share", "how often it is right", scale={"domain": [0, 1]}, axis=axis)
    shown = tips(order="order", belief=("probability", ".1%"), share=("right", ".1%"), rows=("rows", ","))
    ideal = own_values([{"belief": 0, "share": 0}, {"belief": 1, "share": 1}])
    ends = {"x": {"field": "belief", "type": "quantitative"}, "y": {"field": "share", "type": "quantitative"}}
    tint = colours("order", ORDERS)
    shape = SHAPES
    return chart(
        data["values"],
        [
            {
                **ideal,
                "mark": {"type": "line", "strokeDash": [5, 4], "color": colour("soft"), "strokeWidth": 1},
                "encoding": ends,
            },
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, "color": tint}},
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": tint, "shape": shape, "tooltip": shown},
            },
        ],
        300,
    )


CHARTS: dict[str, Callable[[Data], Spec | list[Spec]]] = {
    "long_tail": long_tail,
    "by_frequency": by_frequency,
    "frontier": frontier,
    "offsets": offsets,
    "gap_closed": gap_closed,
    "quintiles": quintiles,
    "pairs": pairs,
    "coverage": coverage,
    "reliability": reliability,
}
