"""What the commands do with several results, some of which lack something."""

import json
import re

import pytest

from repair import InputError
from repair_bench.report.command import summary_of, tables_of
from repair_bench.report.overview import OVERVIEWS
from repair_bench.report.result_tables import KINDS
from repair_bench.report.table import AbsentError


def test_a_table_of_several_names_each_and_says_what_is_missing(folder, make_result):
    lacking = make_result("few_tk") | {"by_k": {}}
    (folder / "few_tk.json").write_text(json.dumps(lacking))
    text, missing = tables_of("k", folder, (), "text")
    assert text.startswith("massive: Shortlist length")
    assert missing == ["few_tk: no other shortlist length was run"]
    with pytest.raises(AbsentError, match="few_tk"):
        tables_of("k", folder, ("few_tk",), "text")


def test_wrong_kinds_and_forms_are_refused_before_reading(tmp_path):
    with pytest.raises(InputError, match=r"there is no table 'pie'; choose one of main.*standing"):
        tables_of("pie", tmp_path, (), "text")
    with pytest.raises(InputError, match="format is 'html'"):
        tables_of("main", tmp_path, (), "html")


@pytest.mark.needs("typer")
def test_the_help_names_every_kind_of_table():
    from repair_bench.command import TABLES

    assert set(re.findall(r"\w+", TABLES)) >= {*KINDS, *OVERVIEWS}


def test_one_result_is_shown_whole_and_several_as_an_overview(folder):
    study = {"study": "synthetic", "document": "# Made up\n"}
    (folder / "synthetic.json").write_text(json.dumps(study))
    assert summary_of(folder, ["massive"]).startswith("Birds | made up: 5 classes")
    assert summary_of(folder, ["synthetic"]) == "# Made up"
    several = summary_of(folder, ["massive", "few_tk", "synthetic"])
    assert several.startswith("Hit@1 (Rare) over covered rows")
    assert several.endswith(f"Results are in {folder}.")
    (folder / "case.json").write_text(json.dumps({"study": "case"}))
    assert summary_of(folder, ["case", "synthetic"]) == f"Results are in {folder}."
