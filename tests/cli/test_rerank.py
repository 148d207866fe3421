import csv
import json

import numpy as np
import pytest

from repair import load
from repair.io import read_score_set

pytestmark = pytest.mark.needs("typer", "pyarrow")


@pytest.mark.parametrize("source", ["test.csv", "test.parquet", "test.npz"])
@pytest.mark.parametrize("target", ["r.csv", "r.jsonl", "r.parquet", "r.arrow", "r.npz", "r.npy", "r.tsv.gz"])
def test_any_format_to_any_format(repair, data, fitted, tmp_path, source, target, names):
    done = repair("rerank", fitted, data / source, "-o", tmp_path / target, "--layout", "lists", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["rows"] == 200
    if target in ("r.jsonl", "r.parquet", "r.arrow", "r.npz"):
        again = read_score_set(tmp_path / target, class_names=names)
        model = load(fitted)
        expected = model.rerank(read_score_set(data / source, class_names=names).rows.scores)
        assert (again.rows.shortlist(10).ids == expected.ids).all()
        np.testing.assert_allclose(again.rows.shortlist(10).scores, expected.scores)


def test_the_columns_that_came_along_are_kept(repair, data, fitted, tmp_path, names):
    done = repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "r.csv", "--layout", "lists")
    assert "Wrote 200 rows" in done.out
    with open(tmp_path / "r.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    first = rows[3]
    assert (first["query_id"], first["source"], first["group"], first["label"] in names) == ("t3", "s3", "p1", True)
    assert first["prediction"] == first["rank_1"]
    assert sum(float(first[f"probability_{rank}"]) for rank in range(1, 7)) == pytest.approx(1.0)
    assert float(first["score_1"]) >= float(first["score_2"])


def test_long_form_stays_long_form(repair, data, fitted, tmp_path):
    repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "r.csv")
    with open(tmp_path / "r.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 200 * 6
    assert [row["rank"] for row in rows[:7]] == ["1", "2", "3", "4", "5", "6", "1"]
    with open(data / "test.csv", encoding="utf-8") as stream:
        given = {(row["query_id"], row["class_name"]): float(row["score"]) for row in csv.DictReader(stream)}
    for row in rows[:60]:
        assert float(row["base_score"]) == given[row["query_id"], row["class_name"]]
    by_rank = sorted(rows[:6], key=lambda row: int(row["base_rank"]))
    assert [float(row["base_score"]) for row in by_rank] == sorted(float(row["base_score"]) for row in by_rank)[::-1]


def test_classes_that_the_model_has_never_seen(repair, data, fitted, tmp_path):
    (tmp_path / "new.csv").write_text("row,class,score\na,class 01,1.0\na,lynx,9.0\nb,wolf,3\nb,class 02,2\n")
    done = repair("rerank", fitted, tmp_path / "new.csv", "-o", tmp_path / "r.jsonl", "--json", "--layout", "lists")
    assert done.code == 0
    assert (
        done.err
        == "warning: classes that are new to the model (2) get the mean offset of all classes: 'lynx', 'wolf'\n"
    )
    assert json.loads(done.out)["new_classes"] == ["lynx", "wolf"]
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    model = load(fitted)
    prior = model.shrinkage_.prior
    assert rows[0]["prediction"] == "lynx"
    expected = 9.0 + (model.offsets_.mean() if len(prior.means) > 1 else prior.means[0])
    assert rows[0]["candidate_scores"][0] == pytest.approx(expected)


def test_new_classes_get_the_offset_of_their_group(repair, data, fitted, tmp_path):
    (tmp_path / "new.csv").write_text("row,class,score\na,class 01,1.0\na,lynx,9.0\n")
    table = (data / "classes.csv").read_text(encoding="utf-8") + "lynx,3,g1,root/g1/lynx\n"
    (tmp_path / "classes.csv").write_text(table, encoding="utf-8")
    given = ("--classes", tmp_path / "classes.csv", "--layout", "lists")
    done = repair("rerank", fitted, tmp_path / "new.csv", "-o", tmp_path / "r.jsonl", *given)
    assert "get the mean offset of their group: 'lynx'" in done.err
    row = json.loads((tmp_path / "r.jsonl").read_text(encoding="utf-8"))
    model = load(fitted)
    codes = model.shrinkage_.prior.groups
    means = model.shrinkage_.prior.means
    assert len(means) == 3  # the class table's groups
    assert row["candidate_scores"][0] == pytest.approx(9.0 + means[codes[1]])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("long.csv", "row,class,score,label\na,class 01,1,\na,class 02,2,\n"),
        ("lists.jsonl", '{"row": "a", "candidates": ["class 01"], "candidate_scores": [1.0], "label": null}\n'),
    ],
)
def test_a_label_column_that_nobody_filled_in(repair, fitted, tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = repair("rerank", fitted, tmp_path / name, "-o", tmp_path / "r.jsonl")
    assert done.code == 0, done.err
    assert "label" not in json.loads((tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()[0])
    done = repair("evaluate", fitted, tmp_path / name)
    assert (done.code, "every label is missing" in done.err) == (2, True)


def test_the_dial_changes_the_order(repair, data, fitted, tmp_path):
    repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "a.npz", "--layout", "lists")
    repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "b.npz", "--layout", "lists", "--dial", "2")
    repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "c.npz", "--layout", "lists", "--dial", "macro")
    a, b, c = (np.load(tmp_path / f"{name}.npz")["candidate_ids"] for name in "abc")
    assert (a != b).any()
    assert (a != c).any()
    done = repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "d.npz", "--dial", "micro")
    assert done.code == 2
    assert "'micro' is neither a number nor 'macro'" in done.err


def test_models_of_ids_take_ids(repair, data, tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, size=120)
    scores = rng.normal(size=(120, 4)) + 2 * np.eye(4)[labels]
    np.savez(tmp_path / "cal.npz", scores=scores, labels=labels)
    out = tmp_path / "m.safetensors"
    assert repair("fit", tmp_path / "cal.npz", "-o", out, "--mode", "classwise").code == 0
    assert repair("rerank", out, tmp_path / "cal.npz", "-o", tmp_path / "r.npz").code == 0
    assert (np.load(tmp_path / "r.npz")["prediction"] == load(out).predict(scores)).all()
    (tmp_path / "long.csv").write_text("row,class,score\na,3,5.0\na,1,0.0\n")
    assert repair("rerank", out, tmp_path / "long.csv", "-o", tmp_path / "r.jsonl", "--layout", "lists").code == 0
    assert json.loads((tmp_path / "r.jsonl").read_text(encoding="utf-8"))["candidate_ids"] == [3, 1]


@pytest.mark.parametrize("target", ["r.csv", "r.jsonl", "r.npz"])
def test_its_own_output_is_refused_by_every_command(repair, data, fitted, tmp_path, target):
    ranked = tmp_path / target
    assert repair("rerank", fitted, data / "test.csv", "-o", ranked, "--layout", "lists").code == 0
    commands = [
        ("rerank", fitted, ranked, "-o", tmp_path / "again.csv"),
        ("evaluate", fitted, ranked),
        ("fit", ranked, "-o", tmp_path / "m.safetensors"),
        ("diagnose", ranked),
    ]
    for command in commands:
        done = repair(*command)
        assert done.code == 2, command
        assert "applied twice; pass the file that was given to repair rerank" in done.err
    assert not (tmp_path / "again.csv").exists()
    if target != "r.csv":  # the CSV is for people and cannot be read as scores
        assert "contain a correction already" in repair("inspect", ranked).err


def test_base_scores_of_its_own_output_are_the_scores_of_before(repair, data, fitted, tmp_path):
    repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "r.csv")
    done = repair("evaluate", fitted, tmp_path / "r.csv")
    assert "or add --score-column base_score" in done.err
    done = repair("evaluate", fitted, tmp_path / "r.csv", "--score-column", "base_score", "--json")
    assert (
        json.loads(done.out)["model"]
        == json.loads(repair("evaluate", fitted, data / "test.csv", "--json").out)["model"]
    )


def test_probabilities_for_a_model_of_log_probabilities(repair, data, fitted, tmp_path):
    scores = np.load(data / "test.npz")["scores"]
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.savez(tmp_path / "p.npz", **{**np.load(data / "test.npz"), "scores": probabilities})
    for command in (("rerank", "-o", tmp_path / "r.npz"), ("evaluate",)):
        done = repair(command[0], fitted, tmp_path / "p.npz", *command[1:])
        assert done.code == 0
        assert "the scores look like probabilities (between 0 and 1), but the model was fitted on logits" in done.err
