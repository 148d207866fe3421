"""The page on rivals with the same information, and what the summary shows of it."""

import json

import pytest

from repair.rerankers.rivals.rival import ScoreRival
from repair_bench.harness.methods import METHODS
from repair_bench.report.command import tables_of
from repair_bench.report.entries import DESIGN, JUDGING
from repair_bench.report.publish import pages
from repair_bench.report.reading import read_results
from repair_bench.report.rival_text import DESCRIPTIONS, descriptions
from repair_bench.report.rivals_page import has_rivals, rival_tables, rivals_page
from repair_bench.report.table import AbsentError
from repair_bench.sets.registry import benchmarks


@pytest.fixture
def folder(tmp_path, contests):
    for name, record in contests.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    return tmp_path


def test_the_page_has_a_section_for_each_kind_of_information(contests):
    page = rivals_page(contests)
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## The project's own targets",
        "## Scores only",
        "## Scores and embeddings",
        "## Scores and unlabelled test rows",
    ]
    for table in rival_tables(contests):
        assert table.written("markdown") in page
    assert "Design entries: `massive`. Judging entries, of which no row was used for design: `rarebench`." in page
    opening = " ".join(page[: page.index("## ")].split())
    assert "first designed while we could see test rows of twelve of the benchmark entries" in opening
    assert "on calibration rows of the design entries only" in opening


def test_every_table_of_accuracies_says_what_its_rivals_get(contests):
    captions = [table.caption for table in rival_tables(contests)[1:]]
    assert len(captions) == 3 * 4
    assert all(caption.startswith("Rivals that get scores") for caption in captions)


def test_the_summary_shows_targets_and_best_rivals_first(folder):
    made = dict(pages(read_results(folder)))
    assert list(made)[:3] == ["README.md", "rivals.md", "beyond.md"]
    summary = made["README.md"]
    order = ["## Rivals with the same information", "Targets: our methods", "| best rival |", "## The extended mode"]
    places = [summary.index(part) for part in order]
    assert places == sorted(places)
    assert "(rivals.md)" in summary
    assert "†" not in summary  # the long tables are on their own page
    assert "- *Vector scaling* multiplies" in summary.split("Rivals that get scores only:\n")[1]
    assert "on [a page of their own](rivals.md)" in made["beyond.md"]


def test_the_command_prints_the_tables(folder):
    text, missing = tables_of("rivals", folder, (), "text")
    assert text.startswith("Targets: our methods and rivals with the same information")
    assert missing == []


def test_without_rivals_there_is_no_page(tmp_path, beyond_results):
    assert not has_rivals(beyond_results)
    with pytest.raises(AbsentError, match="no benchmark has a rival with a figure on calibration rows"):
        rivals_page(beyond_results)
    for name, record in beyond_results.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    made = dict(pages(read_results(tmp_path)))
    assert "rivals.md" not in made
    assert not any("rivals.md" in page for page in made.values())


def test_every_rival_has_a_description(contests):
    rivals = {method.title for method in METHODS.values() if isinstance(method.make(3, None), ScoreRival)}
    assert set(DESCRIPTIONS) == rivals
    text = descriptions(contests)
    assert "- *GDA* mixes" in text.split("Rivals that get scores and embeddings:")[1]
    assert "Tip-Adapter" not in text  # was not run
    assert descriptions({}) == ""


def test_every_entry_is_for_design_or_for_judging_as_documented(repository):
    stored = {path.name.removesuffix(".json.gz") for path in (repository / "experiments" / "results").iterdir()}
    assert set(DESIGN) | set(JUDGING) == stored & {benchmark.name for benchmark in benchmarks()}
    assert not set(DESIGN) & set(JUDGING)
    text = (repository / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    listed = text.split("- **Judging entries:**")[1].split(". ")[0]
    assert all(f"`{name}`" in listed for name in JUDGING)
    assert not any(f"`{name}`" in listed for name in DESIGN)
