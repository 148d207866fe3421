"""The report's charts as SVG and PNG files, in the colours of a light page."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from repair.files import write_atomically
from repair.report.charts import charts_of
from repair.report.content import Content
from repair.report.page import require_vega
from repair.report.palette import in_print
from repair.report.vega import Spec

__all__ = ["write_figures"]

WIDTH = 620
#: Dots of the PNG for each unit of the SVG.
SCALE = 2


def write_figures(content: Content, folder: str | PathLike[str]) -> tuple[str, ...]:
    """Write every chart as ``NAME.svg`` and ``NAME.png``, each whole or not at all; return the names.

    Pairs are numbered, worst first.  The folder is made if it is missing.
    """
    require_vega()
    from vl_convert import svg_to_png, vegalite_to_svg

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    charts = _named(content)
    for name, spec in charts.items():
        svg = vegalite_to_svg(_on_paper(spec))
        write_atomically(place / f"{name}.svg", svg.encode())
        write_atomically(place / f"{name}.png", svg_to_png(svg, scale=SCALE))
    return tuple(charts)


def _named(content: Content) -> dict[str, Spec]:
    named = {}
    for picture in content.pictures:
        charts = charts_of(picture)
        if charts and picture.key != "pairs":
            named[picture.key] = charts[0]
        if not charts or picture.key != "pairs":
            continue
        for number, (spec, pair) in enumerate(zip(charts, picture.data["pairs"], strict=True), start=1):
            # On the page the names stand above the chart.
            title = {"text": [f"▲ {pair['first']}", f"▼ {pair['second']}"], "anchor": "start", "fontSize": 12}
            named[f"pair_{number}"] = {**spec, "title": {**title, "limit": WIDTH}}
    return named


def _on_paper(spec: Spec) -> Spec:
    plain = in_print(spec)
    config = {**plain["config"], "background": "white", "font": "Helvetica, Arial, sans-serif"}
    return {**plain, "width": WIDTH, "config": config}
