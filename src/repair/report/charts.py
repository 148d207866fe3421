"""The charts: one function per picture, from plain data to a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Callable

from repair.report.frontier_chart import frontier
from repair.report.palette import colour
from repair.report.picture import Picture
from repair.report.row_charts import BEFORE
from repair.report.vega import ORDERS, SHAPES, Data, Spec, caption, chart, colours, decades, field, own_values, tips

__all__ = ["CHARTS", "charts_of"]

PER_CENT = ".0%"
#: Up to this many bars are separated by a gap.
FEW_BARS = 60
DASHES = {BEFORE: [4, 3], "model": [1, 0]}


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
    """Draw one bar per class by rank, and a line between frequent and rare classes."""
    n_classes, n_frequent = data["classes"], data["frequent"]
    y = field("count", data["what"], scale={"domainMin": 0}, axis={"format": ",d", "tickMinStep": 1}, stack=None)
    if data["log"]:
        y = {**y, "title": f"{data['what']} (logarithmic)", "scale": {"type": "symlog", "domainMin": 0}}
        y["axis"] = {"format": ",d", "values": decades(data["top"])}
    within = {"domain": [0.5, n_classes + 0.5], "nice": False}
    axis = {"grid": False, "tickMinStep": 1, "format": ",d"}
    x = field("left", "classes, most frequent first", scale=within, axis=axis, bin={"binned": True})
    shown = tips(name="class", rank=("rank", ",d"), count=("examples", ","), kind="kind")
    line = own_values([{"left": n_frequent + 0.5}])
    here = {"x": {"field": "left", "type": "quantitative", "scale": within}}
    above = f"{n_classes - n_frequent:,} rare classes →"
    layers = [
        {
            "mark": {"type": "bar", "opacity": 0.85, "binSpacing": 1 if n_classes <= FEW_BARS else 0},
            "encoding": {
                "x": x,
                "x2": {"field": "right"},
                "y": y,
                "color": colours("kind", {"frequent": "frequent", "rare": "rare"}),
                "tooltip": shown,
            },
        }
    ]
    if n_frequent < n_classes:
        layers += [
            {**line, "mark": {"type": "rule", "strokeDash": [5, 4], "color": colour("ink")}, "encoding": here},
            {**line, "mark": caption(above, align="left", y=-6, color=colour("ink")), "encoding": here},
        ]
    return chart(data["values"], layers)


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
    # An interval around the new accuracy can leave the range that an accuracy can have.
    within = [{**part, "low": max(part["low"], 0.0), "high": min(part["high"], 1.0)} for part in data["values"]]
    return chart(
        within,
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
                "y": field("offset", "offset (dashed: common mean)" if data["means"] else "offset"),
                "color": colours("trust", names, "based on"),
                "tooltip": shown,
            },
        },
    ]
    for mean in data["means"]:
        at_mean = own_values([{"at": mean}])
        rule = {"type": "rule", "strokeDash": [5, 4], "color": colour("ink")}
        layers.append({**at_mean, "mark": rule, "encoding": {"y": field("at", None)}})
    return chart(data["values"], layers, 320)


def gap_closed(data: Data) -> Spec:
    """Draw the share of the recoverable gap that each kind of correction closes."""
    y = field("name", None, "nominal", sort=[bar["name"] for bar in data["values"]], axis={"labelLimit": 200})
    x = {"type": "quantitative", "title": "share of the gap closed", "axis": {"format": PER_CENT}}
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
    # One legend for colour and dashes, because two do not fit side by side on a phone.
    lines = [(f"{name}, {order}", tint, dash) for name, tint in rows.items() for order, dash in DASHES.items()]
    values = [{**point, "line": f"{point['rows']}, {point['order']}"} for point in data["values"]]
    tints = colours("line", {name: tint for name, tint, _ in lines})
    tints["legend"]["symbolType"] = "stroke"
    dashes = {"domain": [name for name, _, _ in lines], "range": [dash for _, _, dash in lines]}
    shown = tips(rows="rows", order="order", j="first", share=("share", ".1%"))
    line = own_values([{"j": data["k"]}])
    side = {"align": "right", "dx": -5} if data["k"] > 0.7 * depth else {"align": "left", "dx": 5}
    dashed = {"field": "line", "type": "nominal", "scale": dashes, "legend": {**tints["legend"]}}
    return chart(
        values,
        [
            {
                **line,
                "mark": {"type": "rule", "strokeDash": [2, 3], "color": colour("soft")},
                "encoding": {"x": x},
            },
            {
                **line,
                "mark": caption("shortlist", y="height", dy=-8, **side),
                "encoding": {"x": x},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": tints, "strokeDash": dashed},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 28, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": tints, "tooltip": shown},
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
