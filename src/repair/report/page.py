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
from repair.report.class_charts import ClassRows
from repair.report.content import Content
from repair.report.glossary import Marker
from repair.report.picture import Picture
from repair.report.words import Tile

__all__ = ["as_html", "as_json", "require_vega", "vega_bundle"]

ROWS = (
    "Select a row to see its base shortlist next to the new one, and the parts of every score. Rows were drawn from "
    "each outcome in turn, so the share of an outcome here is not its share of all rows. Each row is ranked by a model "
    "that was not fitted on it."
)
SCRIPTS = ("page.js", "charts.js", "classes.js", "explorer.js")
MARKS = {"error": "!", "warning": "!", "information": "i", "passed": "✓", "not applicable": "–"}
#: Charts that need the whole width of the page, and the one that takes it if another would stand alone on its line.
WIDE, WIDENED = ("pairs",), "long_tail"
#: What the verdict and the diagnosis rest on, as keys of pictures and of other sections.
RESTS_ON = {
    "verdict": ("by_frequency", "coverage", "classes"),
    "diagnosis": ("gap_closed", "pairs", "quintiles", "checks"),
}


def as_html(content: Content) -> str:
    """Return the page.  All user texts are escaped, and a policy blocks everything that is not part of the page."""
    style, scripts = asset("style.css"), [vega_bundle(), *map(asset, SCRIPTS)]
    # The policy allows only scripts and styles with these hashes, so nothing else on the page can run or set styles.
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    mark = Marker()
    parts = {
        "policy": escape(policy),
        "title": escape(content.title),
        "style": style,
        "navigation": _navigation(content),
        "verdict": _verdict(content, mark),
        "figures": _figures(content.pictures, mark),
        "absent": _absent(content.pictures),
        **_classes(content.classes, mark),
        "explorer": _explorer(content, mark),
        "checks": "\n".join(_check(check, mark) for check in content.checks),
        "facts": "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in content.facts),
        "footer": "".join(f"<p>{escape(text)}</p>" for text in content.footer),
        "version": escape(__version__),
        "data": as_json(_data(content, mark)),
        "glossary": _glossary(mark),
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


def _data(content: Content, mark: Marker) -> dict[str, Any]:
    parts = () if content.examples is None else content.examples.parts
    return {
        "charts": {picture.key: charts_of(picture) for picture in content.pictures if not picture.reason},
        "classes": content.classes.columns,
        "examples": content.examples,
        "terms": {part: key for part in parts if (key := mark.use_code(part)) is not None},
    }


def _navigation(content: Content) -> str:
    sections = [("verdict", "Verdict"), ("charts", "Charts"), ("classes", "Classes")]
    sections += [("explorer", "Single rows")] * (content.examples is not None)
    sections += [("checks", "Checks"), ("model", "Model"), ("glossary", "Glossary")]
    return "\n".join(f'<a href="#{section}">{name}</a>' for section, name in sections)


def _verdict(content: Content, mark: Marker) -> str:
    words = content.words
    alarms = "".join(f"<li>{_with_link(text)}</li>" for text in words.alarms)
    alarm = f'<div class="alarm"><ul>{alarms}</ul></div>'
    mark.start()
    return "\n".join(
        [
            alarm if words.alarms else "",
            f'<p class="headline">{escape(words.headline)}</p>',
            f'<h3 class="tiles-title">{mark(words.tiles_title)}</h3>' if words.tiles_title else "",
            f'<ul class="tiles">{"".join(_tile(tile, mark) for tile in words.tiles)}</ul>' if words.tiles else "",
            f'<p class="basis">Computed on: {mark(words.tiles_basis)}</p>' if words.tiles_basis else "",
            _paragraphs(words.sentences, mark),
            _links(content, ("verdict",) if words.advice else ("verdict", "diagnosis")),
            _advice(content, mark) if words.advice else "",
        ]
    )


def _advice(content: Content, mark: Marker) -> str:
    words = content.words
    return (
        f'<div class="advice"><h3>{mark("Diagnosis")}: which correction the calibration rows support</h3>'
        f"{_paragraphs(words.advice, mark)}{_links(content, ('diagnosis',))}"
        f'{f"""<p class="basis">{mark(words.advice_basis)}</p>""" if words.advice_basis else ""}</div>'
    )


def _with_link(alarm: str) -> str:
    """Return an alarm whose code is a link to the check."""
    code, _, rest = alarm.partition(" ")
    return f'<a href="#{escape(code)}">{escape(code)}</a> {escape(rest)}'


def _links(content: Content, parts: Sequence[str]) -> str:
    """Return links to what these parts of the verdict rest on."""
    titles = {picture.key: picture.title for picture in content.pictures if not picture.reason}
    titles |= {"checks": "Checks"} | ({"classes": content.classes.title} if content.words.tiles else {})
    targets = [key for part in parts for key in RESTS_ON[part] if key in titles]
    links = " · ".join(f'<a href="#{key}">{escape(titles[key])}</a>' for key in targets)
    return f'<p class="rests">Rests on: {links}</p>' if targets else ""


def _paragraphs(texts: Iterable[str], mark: Marker) -> str:
    return "".join(f"<p>{mark(text)}</p>" for text in texts if text)


def _figures(pictures: Sequence[Picture], mark: Marker) -> str:
    """Return the drawn pictures, two on a line."""
    drawn = [picture for picture in pictures if not picture.reason]
    wide = {picture.key for picture in drawn if picture.key in WIDE}
    if (len(drawn) - len(wide)) % 2:
        wide.add(WIDENED)
    return "\n".join(_figure(picture, mark, wide=picture.key in wide) for picture in drawn)


def _absent(pictures: Sequence[Picture]) -> str:
    """Return a list of the charts that these data do not allow, with the reasons."""
    lines = [f"<li>{escape(picture.title)}: {escape(picture.reason)}</li>" for picture in pictures if picture.reason]
    if not lines:
        return ""
    what = f"{len(lines)} charts are" if len(lines) > 1 else "One chart is"
    return f'<details id="absent"><summary>{what} not drawn</summary><ul>{"".join(lines)}</ul></details>'


def _classes(rows: ClassRows, mark: Marker) -> dict[str, str]:
    mark.start()
    return {
        "class_title": escape(rows.title),
        "class_sentence": mark(f"{rows.sentence} The last column is the class offset of the fitted model."),
        "class_basis": mark(rows.basis),
    }


def _explorer(content: Content, mark: Marker) -> str:
    mark.start()
    return asset("explorer.html").replace("{{intro}}", mark(ROWS)) if content.examples is not None else ""


def _glossary(mark: Marker) -> str:
    """Return the words that are marked on the page, with their meanings."""
    used = sorted(mark.used.values(), key=lambda entry: entry.title.lower())
    return "\n".join(
        f'<dt>{escape(entry.title)}</dt><dd id="{entry.key}">{escape(entry.meaning)}</dd>' for entry in used
    )


def _tile(tile: Tile, mark: Marker) -> str:
    arrow = {"up": "▲", "down": "▼", "level": "•"}[tile.direction]
    return (
        f'<li class="tile {tile.direction}"><h3>{mark(tile.name)}</h3>'
        f'<p class="numbers"><span class="before"><span class="hidden">before </span>{escape(tile.before)}</span>'
        f'<span aria-hidden="true"> → </span><span class="after"><span class="hidden">after </span>{escape(tile.after)}'
        f'</span></p><p class="change"><span aria-hidden="true">{arrow}</span> {escape(tile.change)}</p>'
        f'<p class="interval">{mark(tile.interval)}</p></li>'
    )


def _figure(picture: Picture, mark: Marker, *, wide: bool) -> str:
    mark.start()
    return (
        f'<figure class="card{" wide" * wide}" id="{picture.key}" aria-labelledby="{picture.key}-title">'
        f'<h3 id="{picture.key}-title">{mark(picture.title)}</h3>'
        f"<p>{mark(picture.sentence)}</p>{_places(picture)}"
        f"<figcaption>Computed on: {mark(picture.basis)}</figcaption>"
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


def _check(check: Check, mark: Marker) -> str:
    failed = check.outcome == "failed"
    status = check.status
    mark.start()
    remedy = f'<p class="remedy">{escape(check.remedy)}</p>' if failed else ""
    return (
        f'<li class="check {status.replace(" ", "-")}" id="{check.code}"><span class="mark" aria-hidden="true">'
        f"{MARKS[status]}</span>"
        f"<div><h3><code>{check.code}</code> {mark(check.title)} "
        f'<span class="outcome">{status}</span></h3>'
        f"<p>{mark(check.explanation)}</p>{remedy}</div></li>"
    )
