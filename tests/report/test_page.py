"""The page is one file without a network in which names are text."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from repair import InputError, MissingExtraError
from repair.report import write_report
from repair.report.page import as_html, as_json

pytestmark = pytest.mark.needs("vl_convert")


class Elements(HTMLParser):
    """Collect elements with their attributes, and the text of scripts and of everything else."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.scripts, self.inside = [], [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        else:
            self.texts.append(data)


@pytest.fixture(scope="module")
def parsed(page):
    return Elements(page)


def test_names_that_mean_harm_are_text(parsed, hostile, secret):
    assert len(parsed.scripts) == 6  # the data, Vega and our four
    assert not any(tag in ("img", "iframe", "object", "link", "base", "b") for tag, _ in parsed.elements)
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)
    data = json.loads(parsed.scripts[0])
    assert set(hostile) <= set(data["classes"]["name"])
    assert "</script" not in parsed.scripts[0]
    assert data["examples"]["rows"][0]["text"].startswith(secret)


def test_nothing_is_loaded_from_anywhere(parsed):
    for _, attributes in parsed.elements:
        assert "src" not in attributes
        assert "style" not in attributes
        assert attributes.get("href", "#").startswith("#")


def test_the_policy_names_exactly_what_is_there(page, parsed):
    policy = next(one["content"] for tag, one in parsed.elements if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]

    def hashed(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert len(scripts) == 5
    assert set(re.findall(r"'sha256-[^']+'", policy)) == {hashed(one) for one in (*scripts, style)}


def test_every_chart_has_a_label_and_a_table(parsed, content):
    boxes = [one for _, one in parsed.elements if "data-chart" in one]
    drawn = [one for one in content.pictures if not one.reason]
    assert {one["data-chart"] for one in boxes} == {one.key for one in drawn}
    assert all(one["role"] == "img" and one["aria-label"].startswith("Chart: ") for one in boxes)
    tables = [one["aria-label"] for _, one in parsed.elements if one.get("aria-label", "").startswith("Numbers of")]
    assert len(tables) == len(drawn)


def test_links_lead_to_what_the_verdict_rests_on(parsed, content, few, kept):
    for page in (parsed, *(Elements(as_html(one)) for one in (few, kept.content))):
        ids = [one["id"] for _, one in page.elements if "id" in one]
        assert len(ids) == len(set(ids))
        links = {one["href"] for tag, one in page.elements if tag == "a"}
        assert {"#by_frequency", "#classes", "#pairs", "#checks", "#glossary"} <= links
        assert {link.removeprefix("#") for link in links} <= set(ids)
        described = {one["aria-describedby"] for _, one in page.elements if "aria-describedby" in one}
        assert described <= set(ids)


def test_an_alarm_leads_to_its_check(rows, model, diagnosis):
    from repair.report.content import gather

    page = as_html(gather(model, rows.calibration, rows.calibration, diagnosis=diagnosis))  # RP110: the same rows
    alarm = re.search(r'<div class="alarm">.*?</div>', page, re.DOTALL)[0]
    assert '<a href="#RP110">' in alarm
    assert '<li class="check error" id="RP110">' in page


def test_there_are_no_empty_cards(few):
    absent = [picture for picture in few.pictures if picture.reason]
    assert absent
    page = as_html(few)
    grid = re.search(r'<div class="grid">.*?\n</div>', page, re.DOTALL)[0]
    assert grid.count('class="card') == len(few.pictures) - len(absent)
    listed = re.search(r'<details id="absent">.*?</details>', page, re.DOTALL)[0]
    for picture in absent:
        assert f"<li>{picture.title}: " in listed


def test_information_has_not_failed(rows, model, diagnosis):
    from dataclasses import replace

    from repair.diagnosis.checks import Check

    found = Check("RP101", "coverage ceiling", "info", "failed", "It is 80 %.", "Raise it.")
    from repair.report.content import gather

    content = replace(gather(model, rows.calibration, rows.test, diagnosis=diagnosis), checks=(found,))
    listed = re.search(r'<ul class="checks card">.*?</ul>', as_html(content), re.DOTALL)[0]
    assert '<span class="outcome">information</span>' in listed
    assert "failed" not in listed
    assert str(found) == "RP101 information, coverage ceiling: It is 80 %. Raise it."


def test_without_rows_no_row_is_in_the_file(by_folds, content, secret):
    assert secret not in as_html(by_folds)
    assert "example-row" not in re.sub(r"<script>.*?</script>", "", as_html(by_folds), flags=re.DOTALL)
    assert secret in as_html(content)


def test_the_same_content_gives_the_same_bytes(content, page):
    assert as_html(content) == page


def test_json_survives_what_unicode_and_numbers_can_be():
    text = as_json({"a": "\u2028</SCRIPT>", "b": float("nan"), "c": "\ud800"})
    assert json.loads(text) == {"a": "\u2028</SCRIPT>", "b": None, "c": "?"}
    assert "<" not in text


def test_writing_is_whole_or_not_at_all_and_small(tmp_path, rows, model, diagnosis, monkeypatch):
    path = tmp_path / "report.html"
    found = write_report(path, model, rows.calibration, rows.test, diagnosis=diagnosis, title="A & B <i>")
    written = path.read_bytes()
    assert b"<title>A &amp; B &lt;i&gt;</title>" in written
    assert len(written) < 3e6
    assert found.title == "A & B <i>"
    monkeypatch.setattr("repair.report.write.as_html", lambda content: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(path, model, rows.calibration, rows.test, diagnosis=diagnosis)
    assert path.read_bytes() == written
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_bad_arguments_are_named(tmp_path, rows, model, diagnosis):
    def write(*sets, **options):
        write_report(tmp_path / "r.html", model, *sets, diagnosis=diagnosis, **options)

    with pytest.raises(InputError, match="model is str; pass a fitted reranker as the second argument, after the path"):
        write_report(model, "r.html", rows.calibration)
    with pytest.raises(InputError, match="calibration is list; pass a ScoreSet"):
        write([1, 2])
    with pytest.raises(InputError, match="row_texts has 3 entries, but there are 300 rows"):
        write(rows.calibration, rows.test, rows=2, row_texts=["a", "b", "c"])
    with pytest.raises(InputError, match="rows is -1"):
        write(rows.calibration, rows=-1)
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("repair.report.page.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"repair-rerank\[report\]"):
        write_report(tmp_path / "r.html", None, None)
