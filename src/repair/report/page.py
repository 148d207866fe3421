"""The report as one HTML file that needs no network and blocks any use of it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from repair._utils.json import plain
from repair._utils.version import __version__
from repair.diagnosis.checks import Check
from repair.errors import MissingExtraError
from repair.report.charts import charts_of
from repair.report.content import Content
from repair.report.picture import Picture
from repair.report.words import Tile, Words

__all__ = ["as_html", "as_json", "require_vega", "vega_bundle"]

SCRIPTS = ("charts.js", "classes.js", "explorer.js")
MARKS = {"failed": "!", "passed": "✓", "not applicable": "–"}
#: Charts that need the whole width of the page.
WIDE = ("pairs",)


def as_html(content: Content) -> str:
    """Return the page.  All user texts are escaped, and a policy blocks everything that is not part of the page."""
    style, scripts = asset("style.css"), [vega_bundle(), *map(asset, SCRIPTS)]
    # The policy allows only scripts and styles with these hashes, so nothing else on the page can run or set styles.
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": escape(policy),
        "title": escape(content.title),
        "style": style,
        "navigation": _navigation(content),
        "verdict": _verdict(content.words),
        "figures": "\n".join(map(_figure, content.pictures)),
        "class_sentence": escape(content.classes.sentence),
        "class_basis": escape(content.classes.basis),
        "explorer": asset("explorer.html") if content.examples is not None else "",
        "checks": "\n".join(map(_check, content.checks)),
        "facts": "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in content.facts),
        "footer": _paragraphs(content.footer),
        "version": escape(__version__),
        "data": as_json(_data(content)),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    # All placeholders are replaced in one pass, so a class called {{data}} is left unchanged.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], asset("page.html"))


def as_json(value: Any) -> str:
    r"""Return JSON that is safe inside a script element: it cannot close the element.

    Examples
    --------
    >>> from repair.report.page import as_json
    >>> as_json({"name": "</script><script>"})
    '{"name":"\\u003c/script\\u003e\\u003cscript\\u003e"}'
    """
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A lone surrogate, for example from a broken file name, cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode()


def require_vega() -> None:
    """Raise an error if the extra ``report`` is missing, before any work is done."""
    if find_spec("vl_convert") is None:
        raise MissingExtraError("a report needs the extra 'report': pip install 'repair-rerank[report]'")


@cache
def vega_bundle() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script.  Building it takes seconds, so it is cached."""
    require_vega()
    from vl_convert import javascript_bundle

    bundle: str = javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def asset(name: str) -> str:
    """Return the content of a file in the folder ``assets``."""
    return files("repair.report").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(content: Content) -> dict[str, Any]:
    return {
        "charts": {picture.key: charts_of(picture) for picture in content.pictures if not picture.reason},
        "classes": content.classes.columns,
        "examples": content.examples,
    }


def _navigation(content: Content) -> str:
    sections = [("verdict", "Verdict"), ("charts", "Charts"), ("classes", "Classes")]
    sections += [("explorer", "Single rows")] * (content.examples is not None)
    sections += [("checks", "Checks"), ("model", "Model")]
    return "\n".join(f'<a href="#{section}">{name}</a>' for section, name in sections)


def _verdict(words: Words) -> str:
    alarms = "".join(f"<li>{escape(text)}</li>" for text in words.alarms)
    alarm = f'<div class="alarm"><ul>{alarms}</ul></div>'
    return "\n".join(
        [
            alarm if words.alarms else "",
            f'<p class="headline">{escape(words.headline)}</p>',
            _paragraphs(words.sentences),
            f'<ul class="tiles">{"".join(map(_tile, words.tiles))}</ul>' if words.tiles else "",
            '<div class="advice"><h3>Diagnosis: which correction the calibration rows support</h3>'
            f"{_paragraphs(words.advice)}</div>",
        ]
    )


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts if text)


def _tile(tile: Tile) -> str:
    arrow = {"up": "▲", "down": "▼", "level": "•"}[tile.direction]
    return (
        f'<li class="tile {tile.direction}"><h3>{escape(tile.name)}</h3>'
        f'<p class="numbers"><span class="before"><span class="hidden">before </span>{escape(tile.before)}</span>'
        f'<span aria-hidden="true"> → </span><span class="after"><span class="hidden">after </span>{escape(tile.after)}'
        f'</span></p><p class="change"><span aria-hidden="true">{arrow}</span> {escape(tile.change)}</p>'
        f'<p class="interval">{escape(tile.interval)}</p></li>'
    )


def _figure(picture: Picture) -> str:
    wide = " wide" if picture.key in WIDE else ""
    title = f'<h3 id="{picture.key}-title">{escape(picture.title)}</h3>'
    if picture.reason:
        return f'<section class="card">{title}<p class="reason">No chart: {escape(picture.reason)}</p></section>'
    return (
        f'<figure class="card{wide}" id="{picture.key}" aria-labelledby="{picture.key}-title">{title}'
        f"<p>{escape(picture.sentence)}</p>{_places(picture)}"
        f"<figcaption>Computed on: {escape(picture.basis)}</figcaption>"
        f'<details><summary>Numbers<span class="hidden"> of {escape(picture.title)}</span></summary>{_table(picture)}'
        "</details></figure>"
    )


def _places(picture: Picture) -> str:
    """Return the empty boxes that scripts draw the charts into."""
    if picture.key != "pairs":
        return _box(picture.key, 0, f"Chart: {picture.title}. {picture.sentence}")
    boxes = []
    for index, pair in enumerate(picture.data["pairs"]):
        label = (
            f"Chart: score gaps of {pair['rows_first']} rows of {pair['first']}, upwards, "
            f"and {pair['rows_second']} rows of {pair['second']}, downwards."
        )
        boxes.append(
            f'<div class="pair"><h4><span class="first">▲ {escape(pair["first"])}</span> '
            f'<span class="second">▼ {escape(pair["second"])}</span></h4>{_box("pairs", index, label)}</div>'
        )
    return f'<div class="pairs">{"".join(boxes)}</div>'


def _box(key: str, index: int, label: str) -> str:
    return f'<div class="chart" role="img" data-chart="{key}" data-place="{index}" aria-label="{escape(label)}"></div>'


def _table(picture: Picture) -> str:
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in picture.header)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="Numbers of {escape(picture.title)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{_lines(picture.lines)}</tbody></table></div>"
    )


def _lines(lines: Iterable[Sequence[str]]) -> str:
    return "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines)


def _check(check: Check) -> str:
    kind = check.outcome.replace(" ", "-")
    remedy = f'<p class="remedy">{escape(check.remedy)}</p>' if check.outcome == "failed" else ""
    severity = f"{check.severity}, " if check.outcome == "failed" else ""
    return (
        f'<li class="check {kind} {check.severity}"><span class="mark" aria-hidden="true">{MARKS[check.outcome]}</span>'
        f"<div><h3><code>{check.code}</code> {escape(check.title)} "
        f'<span class="outcome">{severity}{check.outcome}</span></h3>'
        f"<p>{escape(check.explanation)}</p>{remedy}</div></li>"
    )
