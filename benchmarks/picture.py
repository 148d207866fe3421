"""Drawing the ratios as a bar chart."""

from measure import Line

COLOURS = {None: "#9aa5b1", True: "#4c78a8", False: "#d1495b"}


def draw(lines: list[Line]) -> str | None:
    """Return an SVG with the ratios as bars from 1 on a logarithmic axis, or None without vl-convert.

    Bars are blue if the target of the line is reached, red if it is not, and grey if there is no target.
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
    # Bars start at 1, because a logarithmic axis has no 0.
    ratio = {
        "field": "ratio",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "padding": 50},
        "title": "times faster than the comparison",
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
