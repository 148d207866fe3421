import json

import numpy as np
import pytest

pytestmark = pytest.mark.needs("typer", "pyarrow")


@pytest.mark.parametrize("name", ["test.csv", "test.parquet", "test.npz"])
def test_rows_of_the_same_source(repair, data, fitted, name):
    done = repair("monitor", fitted, data / name)
    assert done.code == 0, done.out
    assert done.out.startswith("No drift found.")
    assert "Level 0.05 for all tests together (Holm)." in done.out


def test_drift_is_reported_and_sets_the_exit_code(repair, data, fitted, tmp_path):
    arrays = dict(np.load(data / "test.npz"))
    np.savez(tmp_path / "new.npz", scores=3 * arrays["scores"], class_names=arrays["class_names"])
    done = repair("monitor", fitted, tmp_path / "new.npz", "--json", "--level", "0.001")
    assert done.code == 1
    result = json.loads(done.out)
    assert (result["drift"], result["level"], result["n_rows"], result["n_calibration"]) == (True, 0.001, 200, 200)
    tests = {test["name"]: test for test in result["tests"]}
    assert list(tests) == ["gaps", "spans", "first_candidates", "listed_candidates"]  # there are no labels
    assert tests["gaps"]["drifted"]
    assert not tests["first_candidates"]["drifted"]


def test_too_few_rows(repair, fitted, tmp_path):
    (tmp_path / "new.csv").write_text("row,class,score\na,class 01,1.0\na,class 02,0.0\n")
    done = repair("monitor", fitted, tmp_path / "new.csv")
    assert done.code == 2
    assert "needs at least 20 of each" in done.err
