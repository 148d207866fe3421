"""The section on what goes beyond the paper."""

import json

import pytest

from repair_bench.report.beyond import beyond_page, beyond_tables, headline
from repair_bench.report.command import tables_of
from repair_bench.report.entries import entries_text
from repair_bench.report.publish import pages
from repair_bench.report.reading import read_results
from repair_bench.report.table import AbsentError


def test_it_begins_with_accuracy_and_ends_with_what_was_dropped(beyond_results):
    page = beyond_page(beyond_results)
    assert page.startswith("# How much does the extended mode gain?")
    assert "not from the committed harness" in page.split("## What was tried and dropped")[1]
    first = beyond_tables(beyond_results)[0]
    assert first.rows[0] == ["better", "80.0", "80.0", "–", "–", "80.0", "80.0", "–"]
    for table in beyond_tables(beyond_results):
        assert table.written("markdown") in page


def test_benchmarks_without_the_mode_are_left_out_and_none_at_all_is_said(beyond_results, make_result):
    names = {line[0] for line in beyond_tables(beyond_results | {"plain": make_result("plain")})[0].rows}
    assert names == {"better", "open", "small"}
    with pytest.raises(AbsentError, match="no benchmark has Extended"):
        beyond_tables({"plain": make_result("plain")})


def test_the_command_prints_it_and_the_summary_opens_with_it(tmp_path, beyond_results):
    for name, record in beyond_results.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    text, missing = tables_of("beyond", tmp_path, (), "text")
    assert text.startswith("Accuracy over all rows")
    assert "What the parts bring" in text
    assert missing == []
    made = dict(pages(read_results(tmp_path)))
    assert "# How much does the extended mode gain?" in made["beyond.md"]
    summary = made["README.md"]
    assert summary.index("Accuracy over all rows") < summary.index("Targets") < summary.index("## Benchmarks")
    assert "(beyond.md)" in summary


def test_the_limits_of_the_headline_stand_before_its_figures(beyond_results):
    text = "\n\n".join(headline(beyond_results))
    opening = " ".join(text[: text.index("**Accuracy over all rows")].split())
    assert "was first designed while we could see test rows of twelve of the benchmark entries" in opening
    assert "The rivals in these tables get no embeddings" in opening
    assert "The 3 benchmark entries come from 1 data set" in opening


def test_what_is_not_natural_about_the_entries_is_said():
    names = {"massive": "a", "massive_lt": "a", "massive_lt_minilm": "a", "cifar100": "b"}
    text = entries_text({name: {"home": home} for name, home in names.items()})
    assert text.startswith("The 4 benchmark entries come from 2 data sets, so they are not independent evidence.")
    assert "We made the long tail by leaving out rows in `massive_lt`, `massive_lt_minilm`." in text
    assert "One is semi-synthetic: the long tail of `cifar100`" in text
    del names["cifar100"]
    assert "cifar100" not in entries_text({name: {"home": home} for name, home in names.items()})
    alone = entries_text({"birds": {"home": "c"}})
    assert alone == "The 1 benchmark entry comes from 1 data set."
