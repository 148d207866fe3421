import json

import numpy as np
import pytest

pytestmark = pytest.mark.needs("typer", "pyarrow")


def test_verdict_and_checks(repair, data):
    given = ("--classes", data / "classes.csv", "--test", data / "test.csv")
    done = repair("diagnose", data / "calibration.csv", *given)
    assert done.code == 0, done.out
    assert done.out.splitlines()[2].split()[:4] == ["accuracy", "in", "per", "cent"]
    assert "Based on 400 calibration rows in 200 groups" in done.out


def test_json(repair, data):
    done = repair("diagnose", data / "calibration.npz", "--classes", data / "classes.csv", "--json")
    assert done.code == 0
    assert json.loads(done.out)["n_rows"] == 400


def test_test_rows_among_the_calibration_rows_end_with_one(repair, data):
    done = repair("diagnose", data / "calibration.csv", "--test", data / "calibration.csv", "--json")
    assert done.code == 1
    failed = [one["code"] for one in json.loads(done.out)["checks"] if one["outcome"] == "failed"]
    assert "RP110" in failed


def test_probabilities_are_converted_unless_they_are_said_to_be_logits(repair, tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, size=120)
    scores = np.exp(rng.normal(size=(120, 5)) + 2 * np.eye(5)[labels])
    np.savez(tmp_path / "p.npz", scores=scores / scores.sum(axis=1, keepdims=True), labels=labels)
    done = repair("diagnose", tmp_path / "p.npz", "--n-candidates", "3")
    assert "warning: the scores look like probabilities, so their logarithm is used" in done.err
    assert "RP106" not in done.out
    done = repair("diagnose", tmp_path / "p.npz", "--n-candidates", "3", "--score-type", "logits")
    assert done.code == 1
    assert done.out.startswith("No verdict yet: fix RP106 (probabilities instead of scores) first.")
    assert "RP106 error" in done.out.splitlines()[2]
    done = repair("diagnose", tmp_path / "p.npz", "--score-type", "cats")
    assert done.code == 2
    assert "score_type is 'cats'; choose one of" in done.err
