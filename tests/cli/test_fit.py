import json

import numpy as np
import pytest

from repair import Reranker, load

pytestmark = pytest.mark.needs("typer", "pyarrow")


def test_auto_says_what_it_chose_and_what_that_gains(repair, data, tmp_path):
    out = tmp_path / "model.safetensors"
    done = repair("fit", data / "calibration.csv", "-o", out, "--classes", data / "classes.csv")
    assert done.code == 0, done.err
    assert load(out).mode == "auto"
    given = ("--classes", data / "classes.csv", "--json")
    as_json = json.loads(repair("fit", data / "calibration.csv", "-o", out, *given).out)["verdict"]
    assert done.out.startswith(as_json["headline"])
    for sentence in as_json["sentences"]:
        assert sentence in done.out
    assert [line.split()[0] for line in done.out.splitlines()[4:7]] == ["All", "Rare", "Frequent"]
    assert f"Wrote {out}." in done.out
    diagnosed = json.loads(repair("diagnose", data / "calibration.csv", *given).out)["verdict"]
    assert diagnosed == as_json  # one function makes the numbers of both


@pytest.mark.parametrize("name", ["calibration.csv", "calibration.parquet", "calibration.npz"])
def test_every_layout_is_fitted(repair, data, tmp_path, name, names):
    options = ("--mode", "classwise", "--n-candidates", "6", "--json")
    done = repair("fit", data / name, "-o", tmp_path / "m.safetensors", "--classes", data / "classes.csv", *options)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["mode"], found["n_rows"], found["n_classes"], found["n_candidates"]) == ("classwise", 400, 12, 6)
    gain = found["verdict"]["overall"]
    assert gain["low"] <= gain["gain"] <= gain["high"]
    assert load(tmp_path / "m.safetensors")._state.correction.table.class_names == names


def test_weights_of_classes_come_from_the_class_table_or_the_archive(repair, data, tmp_path, names):
    weights = np.linspace(0.5, 6.0, len(names))
    lines = [f"{name},{weight}" for name, weight in zip(names, weights, strict=True)]
    (tmp_path / "classes.csv").write_text("\n".join(["class,weight", *lines]) + "\n", encoding="utf-8")
    with np.load(data / "calibration.npz") as arrays:
        np.savez(tmp_path / "weighted.npz", **arrays, class_weights=weights)
        expected = Reranker("classwise").fit(
            arrays["scores"], arrays["labels"], class_names=names, class_weights=weights
        )
    for path, given in (
        (data / "calibration.npz", ("--classes", tmp_path / "classes.csv")),
        (tmp_path / "weighted.npz", ()),
    ):
        done = repair("fit", path, "-o", tmp_path / "m.safetensors", "--mode", "classwise", *given)
        assert done.code == 0, done.err
        model = load(tmp_path / "m.safetensors")
        np.testing.assert_array_equal(model.offsets_, expected.offsets_)
        assert model.state.correction.table.class_weights.tolist() == weights.tolist()
    found = json.loads(repair("inspect", tmp_path / "weighted.npz", "--json").out)
    assert found["about_classes"] == ["class_weights"]
    assert json.loads(repair("inspect", tmp_path / "classes.csv", "--json").out)["columns"] == ["weights"]


def test_the_gain_is_not_that_of_the_rows_that_were_fitted(repair, tmp_path, write_rows):
    # Labels that are pure noise: any gain in sample is overfitting, and must not be printed as a gain.
    rng = np.random.default_rng(7)
    scores, labels = 0.01 * rng.normal(size=(100, 12)), rng.integers(0, 12, size=100)
    write_rows(tmp_path, "calibration", scores, labels, k=12)
    path, out = tmp_path / "calibration.npz", tmp_path / "m.safetensors"
    options = ("--mode", "classwise", "--lambda-a", "1e-6", "--n-candidates", "12", "--json")
    done = repair("fit", path, "-o", out, *options)
    found = json.loads(done.out)
    in_sample = (load(out).predict(scores) == labels).mean() - (scores.argmax(axis=1) == labels).mean()
    assert in_sample > 0.05
    assert found["verdict"]["overall"]["gain"] < 0.02
    assert found["verdict"]["overall"]["low"] < 0


def test_the_limit_on_the_frequent_classes_loss_is_in_the_model(repair, data, tmp_path):
    out = tmp_path / "m.safetensors"
    options = ("--mode", "pairwise", "--head-loss", "0", "--json")
    done = repair("fit", data / "calibration.csv", "-o", out, "--classes", data / "classes.csv", *options)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["strength"] == load(out).strength_
    assert any("rows of frequent classes" in note for note in found["notes"])
    assert [stratum["name"] for stratum in found["verdict"]["strata"]] == ["rare", "frequent"]


@pytest.mark.parametrize("mode", ["auto", "pairwise"])
def test_the_dial_macro_is_in_the_model_and_its_own_gain_is_printed(repair, data, tmp_path, mode):
    out, options = tmp_path / "m.safetensors", ("--mode", mode, "--dial", "macro")
    done = repair("fit", data / "calibration.csv", "-o", out, "--classes", data / "classes.csv", *options, "--json")
    assert done.code == 0, done.err
    found, model = json.loads(done.out), load(out)
    assert model.dial_ == "macro"
    overall, everyone = found["verdict"]["overall"], found["verdict"]["strata"][0]
    assert (overall["name"], everyone["name"]) == ("macro", "all")
    assert overall["gain"] > everyone["gain"]
    done = repair("fit", data / "calibration.csv", "-o", out, "--classes", data / "classes.csv", *options)
    assert "Mean over classes " in done.out
    assert "accuracy averaged over classes rises from" in done.out


def test_groups_are_held_together(repair, data, tmp_path):
    # 400 rows in 200 groups of two: the interval has 199 degrees of freedom.
    options = ("--mode", "classwise", "--json")
    done = repair("fit", data / "calibration.csv", "-o", tmp_path / "m.safetensors", *options)
    assert json.loads(done.out)["verdict"]["overall"]["freedom"] == 199


def test_columns_can_be_named(repair, data, tmp_path):
    text = (data / "calibration.csv").read_text(encoding="utf-8")
    (tmp_path / "odd.csv").write_text(
        text.replace("query_id,class_name,score,label,group", "q,c,s,l,g", 1), encoding="utf-8"
    )
    named = ("--row-column", "q", "--candidate-column", "c", "--score-column", "s", "--label-column", "l")
    out = tmp_path / "m.safetensors"
    done = repair(
        "fit", tmp_path / "odd.csv", "-o", out, "--mode", "classwise", *named, "--group-column", "g", "--json"
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["verdict"]["overall"]["freedom"] == 199


def test_labels_of_their_own_file(repair, data, tmp_path):
    lines = [line.split(",") for line in (data / "calibration.csv").read_text(encoding="utf-8").splitlines()[1:]]
    (tmp_path / "scores.csv").write_text(
        "row,class,score\n" + "\n".join(",".join(line[:3]) for line in lines), encoding="utf-8"
    )
    labels = {line[0]: line[3] for line in lines}
    (tmp_path / "labels.csv").write_text("row,label\n" + "\n".join(map(",".join, labels.items())), encoding="utf-8")
    given = ("--labels", tmp_path / "labels.csv", "--mode", "base", "--json")
    done = repair("fit", tmp_path / "scores.csv", "-o", tmp_path / "m.safetensors", *given)
    assert json.loads(done.out)["verdict"]["overall"]["gain"] == 0.0


def test_too_few_rows_have_no_gain(repair, data, tmp_path):
    lines = (data / "calibration.csv").read_text(encoding="utf-8").splitlines()[: 1 + 20 * 6]
    (tmp_path / "few.csv").write_text("\n".join(lines), encoding="utf-8")
    done = repair("fit", tmp_path / "few.csv", "-o", tmp_path / "m.safetensors", "--mode", "classwise")
    assert done.code == 0
    assert done.out.startswith("Too few rows to say whether a correction helps: there are 19 covered rows")
    assert "RP111" in done.out
    done = repair("fit", tmp_path / "few.csv", "-o", tmp_path / "m.safetensors", "--json")
    verdict = json.loads(done.out)["verdict"]
    assert (verdict["answer"], verdict["overall"]) == ("too few rows to say", None)


def test_an_option_that_a_baseline_lacks_is_refused(repair, data, tmp_path):
    done = repair("fit", data / "calibration.csv", "-o", tmp_path / "m", "--mode", "base", "--lambda-a", "1")
    assert (done.code, done.out) == (2, "")
    assert done.err == "repair: method 'base' has no parameter lambda_a; drop --lambda-a, or use another --mode\n"
