"""The ratios as a picture."""

from measure import Line

COLOURS = {None: "#9aa5b1", True: "#4c78a8", False: "#d1495b"}


def draw(lines: list[Line]) -> str | None:
    """Return the ratios as bars from 1, on a logarithmic axis; None without vl-convert.

    Bars are blue where the line has a bar to clear and clears it, red where it does not, and grey without one.
    """
    try:
        import vl_convert
    except ImportError:
        return None
    values = [
        {
            "what": f"{line.what}; {line.other.partition(':')[0]}",
            "ratio": line.ratio,
            "shown": line.cells()[3],
            "colour": COLOURS[line.met],
        }
        for line in lines
        if line.ratio is not None
    ]
    # A bar from 0 would have no place on this axis.
    ratio = {
        "field": "ratio",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "padding": 50},
        "title": "times as quick as what stands beside it",
    }
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": values},
        "width": 420,
        "encoding": {
            "y": {"field": "what", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 700}},
            "x": ratio,
        },
        "layer": [
            {
                "mark": "bar",
                "encoding": {"x2": {"datum": 1}, "color": {"field": "colour", "type": "nominal", "scale": None}},
            },
            {
                "mark": {
                    "type": "text",
                    "align": {"expr": "datum.ratio < 1 ? 'right' : 'left'"},
                    "dx": {"expr": "datum.ratio < 1 ? -4 : 4"},
                },
                "encoding": {"text": {"field": "shown", "type": "nominal"}},
            },
        ],
    }
    return vl_convert.vegalite_to_svg(spec)
