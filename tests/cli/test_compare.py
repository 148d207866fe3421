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


def test_hyperparameters_on_the_line_are_those_of_the_library(repair, data, tmp_path):
    spec = "repair:lambda_a=0.5,lambda_theta=0.01,alpha=0.3,tau=1,shrinkage=false"
    given = (
        "--classes",
        data / "classes.csv",
        "--trials",
        "1",
        "--method",
        spec,
        "--method",
        "classwise:lambda_a=1e-2",
    )
    done = repair("compare", data / "calibration.csv", data / "test.csv", *given, "--out", tmp_path)
    assert done.code == 0, done.err
    written = json.loads((tmp_path / "comparison.json").read_bytes())
    assert list(written["methods"]) == ["base", spec, "classwise:lambda_a=1e-2"]

    (tmp_path / "methods.toml").write_text(
        '[paper]\nmethod = "repair"\nlambda_a = 0.5\nlambda_theta = 0.01\nalpha = 0.3\ntau = 1\nshrinkage = false\n'
    )
    by_file = {"paper": {"method": "pairwise", "lambda_a": 0.5, "lambda_theta": 0.01, "alpha": 0.3, "tau": 1}}
    (tmp_path / "methods.json").write_text(json.dumps(by_file))
    for name in ("methods.toml", "methods.json"):
        options = ("--classes", data / "classes.csv", "--trials", "1", "--method-file", tmp_path / name, "--json")
        done = repair("compare", data / "calibration.csv", data / "test.csv", *options)
        assert done.code == 0, done.err
        again = json.loads(done.out)["methods"]["paper"]
        assert again["metrics"]["hit@1"]["full"] == written["methods"][spec]["metrics"]["hit@1"]["full"]
        assert again["metrics"]["nll"]["full"] == written["methods"][spec]["metrics"]["nll"]["full"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "pairwise:alpha=2"), "alpha is 2; it must be a finite number of at least 0 and at most 1"),
        (("--method", "repair:tau=high"), "tau is 'high'; it must be a finite number of at least -10 and at most 10"),
        (("--method", "pairwise:lambda_b=1"), "pairwise has no parameter 'lambda_b'; it has terms, lambda_a"),
        (
            ("--method", "auto:lambda_a=1"),
            "mode 'auto' chooses lambda_a itself; leave lambda_a out",
        ),
        (("--method", "published:tau=1"), "method 'published' fixes or chooses tau itself; leave it out"),
        (("--method", "pairwise:alpha"), "'alpha' is not PARAMETER=VALUE"),
        (("--method", "pairwise:tau=1,tau=2"), "tau is given twice"),
        (("--method", "logitadj:tau=1"), "there is no method 'logitadj'; choose one of base"),
        (("--method", "base", "--method", "base"), "is given twice"),
    ],
)
def test_wrong_hyperparameters_are_named_with_their_range(repair, data, options, message):
    done = repair("compare", data / "calibration.csv", data / "test.csv", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", "[pairwise\n", "is not valid TOML"),
        ("a.json", "{", "is not valid JSON"),
        ("a.toml", "lambda_a = 1\n", "does not have one section per method"),
        ("a.json", "{}", "does not have one section per method"),
        (
            "a.toml",
            "[pairwise]\nlambda_a = -1\n",
            "a.toml, pairwise: lambda_a is -1; it must be a finite number above 0",
        ),
    ],
)
def test_wrong_files_of_methods_are_named(repair, data, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    done = repair("compare", data / "calibration.csv", data / "test.csv", "--method-file", tmp_path / name)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
