"""Writing the report's charts as SVG and PNG files, in the colours of the light theme."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from repair._utils.atomic_write import write_atomically
from repair.report.charts import charts_of
from repair.report.content import Content
from repair.report.page import require_vega
from repair.report.palette import in_print
from repair.report.vega import Spec

__all__ = ["write_figures"]

WIDTH = 620
#: Pixels of the PNG per unit of the SVG.
SCALE = 2


def write_figures(content: Content, folder: str | PathLike[str]) -> tuple[str, ...]:
    """Write every chart as ``NAME.svg`` and ``NAME.png``, and return the names.

    Each file is written completely or not at all.  Pairs are numbered, worst first.  The folder is created if it
    is missing.
    """
    require_vega()
    from vl_convert import svg_to_png, vegalite_to_svg

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    charts = _named(content)
    for name, spec in charts.items():
        svg = vegalite_to_svg(_on_paper(spec))
        write_atomically(target / f"{name}.svg", svg.encode())
        write_atomically(target / f"{name}.png", svg_to_png(svg, scale=SCALE))
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
            # On the page the names are above the chart, outside of it.
            title = {"text": [f"▲ {pair['first']}", f"▼ {pair['second']}"], "anchor": "start", "fontSize": 12}
            named[f"pair_{number}"] = {**spec, "title": {**title, "limit": WIDTH}}
    return named


def _on_paper(spec: Spec) -> Spec:
    plain = in_print(spec)
    config = {**plain["config"], "background": "white", "font": "Helvetica, Arial, sans-serif"}
    return {**plain, "width": WIDTH, "config": config}
