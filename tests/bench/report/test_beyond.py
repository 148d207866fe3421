"""The section on what goes beyond the paper."""

import json

import pytest

from repair.bench.report.beyond import beyond_section, beyond_tables
from repair.bench.report.command import tables_of
from repair.bench.report.publish import document
from repair.bench.report.reading import read_results
from repair.bench.report.table import AbsentError


def test_it_begins_with_accuracy_and_ends_with_what_was_dropped(beyond_results):
    section = beyond_section(beyond_results)
    assert section[0] == "## Beyond the paper"
    assert "not from the committed harness" in section[-1]
    first = beyond_tables(beyond_results)[0]
    assert first.rows[0] == ["better", "80.0", "80.0", "–", "–", "80.0", "80.0", "–"]
    for table in beyond_tables(beyond_results):
        assert table.written("markdown") in section


def test_benchmarks_without_the_mode_are_left_out_and_none_at_all_is_said(beyond_results, make_result):
    names = {line[0] for line in beyond_tables(beyond_results | {"plain": make_result("plain")})[0].rows}
    assert names == {"better", "open", "small"}
    with pytest.raises(AbsentError, match="no benchmark has extended"):
        beyond_tables({"plain": make_result("plain")})


def test_the_command_prints_it_and_the_document_has_it_near_the_top(tmp_path, beyond_results):
    for name, record in beyond_results.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    text, missing = tables_of("beyond", tmp_path, (), "text")
    assert text.startswith("Accuracy over all rows")
    assert "What the parts bring" in text
    assert missing == []
    whole = document(read_results(tmp_path))
    assert whole.index("## Beyond the paper") < whole.index("## Overview") < whole.index("## better: ")
