import json

import pytest

from repair import load
from repair.io import read_score_set

pytestmark = pytest.mark.needs("typer", "pyarrow")


def test_one_row_adds_up(repair, data, fitted, names):
    done = repair("explain", fitted, data / "test.csv", "--row", "t7", "--json")
    found = json.loads(done.out)
    for one in found["candidates"]:
        assert sum(one["contributions"].values()) == pytest.approx(one["score"])
    rows = read_score_set(data / "test.csv", class_names=names).rows
    ranking = load(fitted).rerank(rows.shortlist(10).take([7]))
    assert [one["class_id"] for one in found["candidates"]] == ranking.ids[0].tolist()
    assert found["label"] == rows.labels[7]


def test_a_row_is_found_by_its_id_or_its_number(repair, data, fitted):
    by_id, by_number = (repair("explain", fitted, data / "test.csv", "--row", one).out for one in ("t7", "7"))
    assert by_id.splitlines()[1:] == by_number.splitlines()[1:]
    assert by_id.splitlines()[0].startswith("Row t7, true class class ")
    assert "offset" in by_id.splitlines()[1]


def test_an_id_that_is_a_number_is_an_id(repair, fitted, tmp_path):
    (tmp_path / "t.csv").write_text("row,class,score\n1,class 01,1\n1,class 02,2\n0,class 03,4\n0,class 04,3\n")
    done = repair("explain", fitted, tmp_path / "t.csv", "--row", "0", "--json")
    assert {one["name"] for one in json.loads(done.out)["candidates"]} == {"class 03", "class 04"}


@pytest.mark.parametrize("row", ["t999", "200", "-1", "١"])
def test_a_row_that_is_not_there(repair, data, fitted, row):
    done = repair("explain", fitted, data / "test.csv", f"--row={row}")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"repair: there is no row {row!r}; ids look like 't0', and numbers run from 0 to 199\n"


def test_a_model_tells_what_it_holds(repair, fitted):
    found = json.loads(repair("inspect", fitted, "--json").out)
    assert (found["kind"], found["mode"], found["classes"], found["calibration_rows"]) == (
        "model",
        "classwise",
        12,
        400,
    )
    assert found["ranked_per_row"] == found["candidates"]
    assert found["row_level_content"] is False
    assert found["arrays"]["offsets"] == [12]
    text = repair("inspect", fitted).out
    assert "contains single rows  no" in text
    assert "class 00, class 01" in text


@pytest.mark.parametrize(("name", "layout"), [("test.csv", "long"), ("test.parquet", "dense"), ("test.npz", "dense")])
def test_data_tells_its_layout(repair, data, name, layout):
    found = json.loads(repair("inspect", data / name, "--json").out)
    assert (found["kind"], found["layout"], found["rows"], found["classes"]) == ("scores", layout, 200, 12)
    assert found["labels"] is True
    assert found["other_columns"] == (["source"] if layout == "long" else [])


def test_class_tables_are_known_too(repair, data):
    found = json.loads(repair("inspect", data / "classes.csv", "--json").out)
    assert (found["kind"], found["classes"], found["columns"]) == ("class table", 12, ["counts", "groups", "paths"])
