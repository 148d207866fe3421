import json

import numpy as np
import pytest

from repair import Ranking, evaluate, load
from repair.io import read_score_set
from repair.stats.paired_gains import paired_gain

pytestmark = pytest.mark.needs("typer", "pyarrow")


def test_numbers_are_those_of_the_library(repair, data, fitted, names):
    done = repair("evaluate", fitted, data / "test.csv", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    rows = read_score_set(data / "test.csv", class_names=names).rows
    model = load(fitted)
    shortlist = rows.shortlist(10)
    base = evaluate(
        Ranking.from_scores(shortlist, shortlist.scores), rows.labels, model.class_counts_, names, rows.groups
    )
    ours = evaluate(model.rerank(shortlist), rows.labels, model.class_counts_, names, rows.groups)
    for name, one in (("base", base), ("model", ours)):
        assert found[name]["conditional"]["hit@1"] == pytest.approx(one.conditional["hit@1"])
        assert found[name]["unconditional"]["rare"] == pytest.approx(one.unconditional["rare"])
    codes = np.unique(rows.groups, return_inverse=True)[1]
    gain = paired_gain(ours.rows["hit@1"] - base.rows["hit@1"], ours.weights, codes)
    verdict = found["verdict"]
    assert verdict["overall"]["gain"] == pytest.approx(gain.gain)
    assert verdict["overall"]["low"] == pytest.approx(gain.interval()[0])
    assert verdict["overall"]["freedom"] == 99  # 200 rows in 100 groups
    assert verdict["overall"]["after"] == pytest.approx(ours.unconditional["hit@1"])
    for stratum in verdict["strata"]:
        assert stratum["before"] == pytest.approx(base.unconditional[stratum["name"]])
        assert stratum["after"] == pytest.approx(ours.unconditional[stratum["name"]])
    assert [stratum["name"] for stratum in verdict["strata"]] == ["rare", "frequent"]


@pytest.mark.parametrize("name", ["test.csv", "test.parquet", "test.npz"])
def test_the_table_has_base_beside_the_model(repair, data, fitted, name):
    done = repair("evaluate", fitted, data / name)
    lines = done.out.splitlines()
    assert any(line.split()[:3] == ["metric", "Base,", "covered"] for line in lines)
    assert any(line.startswith("Hit@1 ") and len(line.split()) == 5 for line in lines)
    assert "of 200 rows covered" in done.out
    assert any(line.startswith("Rare classes ") for line in lines)


def test_few_medium_and_many_examples(repair, data, fitted):
    done = repair("evaluate", fitted, data / "test.csv", "--strata", "counts", "--json")
    found = json.loads(done.out)
    names = [stratum["name"] for stratum in found["verdict"]["strata"]]
    assert set(names) <= {"few", "medium", "many"}
    assert {"few", "medium", "many"} <= set(found["model"]["unconditional"])
    assert found["verdict"]["strata_rule"].startswith("Strata by training examples: few (below 20")
    done = repair("evaluate", fitted, data / "test.csv", "--strata", "rarest")
    assert done.code == 2
    assert "strata is 'rarest'" in done.err


def test_a_file_without_labels_cannot_be_evaluated(repair, fitted, tmp_path):
    (tmp_path / "t.csv").write_text("row,class,score\na,class 01,1\na,class 02,2\n")
    done = repair("evaluate", fitted, tmp_path / "t.csv")
    assert (done.code, done.out) == (2, "")
    assert "--label-column" in done.err
    assert "--labels" in done.err
    assert "ColumnNames" not in done.err


def test_the_rows_of_the_fit_are_recognised(repair, data, fitted):
    done = repair("evaluate", fitted, data / "calibration.csv")
    assert done.code == 0
    assert "about 100 % of these rows are rows that the model was fitted on" in done.err
    assert done.out.startswith("No verdict yet: fix RP110 (test rows in calibration) first.")
    assert "fitted on" not in repair("evaluate", fitted, data / "test.csv").err


def test_labels_in_another_class_order_are_an_error_of_the_verdict(repair, data, fitted, tmp_path):
    scores = np.load(data / "test.npz")
    moved = {**scores, "labels": (scores["labels"] + 1) % len(scores["class_names"])}
    np.savez(tmp_path / "moved.npz", **moved)
    done = repair("evaluate", fitted, tmp_path / "moved.npz")
    assert done.out.startswith("No verdict yet: fix RP115 (class order of labels and scores)")
    np.savez(tmp_path / "lower.npz", **{**scores, "scores": -scores["scores"]})
    assert "RP116" in repair("evaluate", fitted, tmp_path / "lower.npz").out
    assert "RP11" not in repair("evaluate", fitted, data / "test.npz").out
