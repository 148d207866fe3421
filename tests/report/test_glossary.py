"""The page explains its words, and takes their meanings from the glossary of the documentation."""

import re
from importlib.resources import files

import pytest

from repair.report.glossary import Marker, entries


def test_there_is_one_glossary(repository):
    """After a change: ``cp docs/glossary.md src/repair/report/assets/glossary.md``."""
    copy = files("repair.report").joinpath("assets", "glossary.md").read_text("utf-8")
    assert copy == (repository / "docs/glossary.md").read_text(encoding="utf-8")


def test_every_entry_has_a_meaning_and_its_own_key():
    assert len(entries()) > 50
    assert all(entry.meaning and "`" not in entry.meaning for entry in entries())
    assert len({entry.key for entry in entries()}) == len(entries())


def test_a_word_is_marked_once_per_part_and_in_any_form():
    mark = Marker()
    assert mark("Class offsets, class offsets").count("<button") == 1
    assert "<button" not in mark("an offset")
    mark.start()
    assert 'aria-describedby="term-class-offset">offset</button>' in mark("an offset")
    assert list(mark.used) == ["term-class-offset"]


def test_the_longest_name_is_taken_and_parts_of_words_are_not():
    assert 'aria-describedby="term-group-of-classes">group of classes<' in Marker()("its group of classes")
    assert "<button" not in Marker()("a rarely offsetting headline")


def test_what_is_not_ours_stays_text():
    assert Marker()("<b>dial</b> &").startswith("&lt;b&gt;<button")
    assert Marker()("<b>dial</b> &").endswith("</button>&lt;/b&gt; &amp;")


@pytest.mark.needs("vl_convert")
def test_every_marked_word_is_in_the_list_of_the_page(page):
    body = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    marked = set(re.findall(r'class="term" aria-describedby="([\w-]+)"', body))
    listed = re.findall(r'<dd id="([\w-]+)">', body)
    assert {"term-rare-class", "term-base-order", "term-dial", "term-coverage", "term-interval"} <= marked
    assert marked <= set(listed)
    assert len(listed) == len(set(listed))


def test_every_part_of_a_score_has_an_entry():
    """Terms are listed in the glossary by their names in code."""
    from repair.terms.registry import DEFAULT_LEARNED_TERMS, PAPER_TERMS

    codes = {code for entry in entries() for code in entry.codes}
    adjustments = {"base", "tau", "scale", "offset", "dial", "target_prior", "class_costs"}
    # The log-probability ratio is fitted as one column with the score gap, under its name.
    assert adjustments | {*PAPER_TERMS, *DEFAULT_LEARNED_TERMS} - {"log_prob_ratio"} <= codes
