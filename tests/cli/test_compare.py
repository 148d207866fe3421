import json

import numpy as np
import pytest

pytestmark = pytest.mark.needs("typer", "pyarrow")


def test_prints_and_writes_everything(repair, data, tmp_path):
    given = ("--classes", data / "classes.csv", "--trials", "2", "--methods", "base,logit_adjustment,classwise")
    done = repair("compare", data / "calibration.csv", data / "test.csv", *given, "--out", tmp_path / "new" / "out")
    assert done.code == 0, done.err
    assert "LogitAdj" in done.out
    written = {path.name for path in (tmp_path / "new" / "out").iterdir()}
    assert written == {"comparison.md", "comparison.tex", "comparison.csv", "comparison.json", "rows.npz"}
    saved = np.load(tmp_path / "new" / "out" / "rows.npz")
    assert saved["labels"].shape == (200,)


def test_json_and_a_requirement_that_is_met(repair, data):
    given = ("--methods", "base,classwise", "--trials", "1", "--require", "classwise", "--json")
    done = repair("compare", data / "calibration.parquet", data / "test.parquet", *given)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["required"]["passed"] is True
    assert found["required"]["method"] == "classwise"


def test_a_method_that_is_significantly_worse_ends_with_one(repair, tmp_path, write_rows):
    # Calibration rows whose labels are mostly class 0, and test rows on which the base scores are right.
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 12, size=300)
    scores = rng.normal(size=(300, 12)) + 2 * np.eye(12)[labels]
    wrong = np.where(rng.random(300) < 0.9, 0, labels)
    write_rows(tmp_path, "calibration", scores, wrong, k=12)
    write_rows(tmp_path, "test", scores, labels, k=12)
    given = ("--methods", "base,classwise", "--trials", "1", "--require", "classwise")
    done = repair("compare", tmp_path / "calibration.csv", tmp_path / "test.csv", *given)
    assert done.code == 1, done.err
    assert "classwise fails" in done.out
    assert repair("compare", tmp_path / "calibration.csv", tmp_path / "test.csv", *given[:4]).code == 0


def test_classes_of_either_file_are_compared(repair, data, tmp_path):
    text = (data / "test.csv").read_text(encoding="utf-8")
    text += "extra,lynx,9.0,lynx,px,s0\nextra,class 01,1.0,lynx,px,s0\n"
    (tmp_path / "test.csv").write_text(text, encoding="utf-8")
    given = ("--methods", "base,classwise", "--trials", "1", "--json")
    done = repair("compare", data / "calibration.csv", tmp_path / "test.csv", *given)
    assert done.code == 0, done.err
    assert json.loads(done.out)["setup"]["n_classes"] == 13


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--methods", "base,dance"), "there is no method 'dance'; choose one of base, "),
        (("--methods", ","), "--methods is empty; choose one of"),
        (("--methods", "classwise", "--require", "classwise"), "base is not among --methods; add it"),
        (("--methods", "base", "--require", "auto"), "auto is not among --methods; add it"),
        (("--trials", "0"), "Invalid value for '--trials'"),
        (("--methods", "base,logit_adjustment"), "needs class_counts"),
    ],
)
def test_wrong_wishes(repair, data, options, message):
    done = repair("compare", data / "calibration.csv", data / "test.csv", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_without_counts_the_usual_methods_are_those_that_need_none(repair, data):
    done = repair("compare", data / "calibration.csv", data / "test.csv", "--trials", "1", "--json")
    assert done.code == 0, done.err
    assert list(json.loads(done.out)["methods"]) == ["base", "classwise", "classwise_temperature", "pairwise", "auto"]
