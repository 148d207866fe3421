"""The cache: used while nothing changed, and never trusted when damaged."""

import os

import numpy as np
import pytest

import repair
from repair_bench.harness.cache import Cache, file_marks


@pytest.fixture
def counted():
    calls = []

    def make():
        calls.append(1)
        return {"values": np.arange(3) + len(calls)}, {"call": len(calls)}

    return make, calls


def values(cache, fingerprint, make, name="part/stage"):
    return cache.get(name, fingerprint, make)[0]["values"].tolist()


def test_a_result_is_computed_once_and_again_when_its_fingerprint_changes(tmp_path, counted):
    make, calls = counted
    assert values(Cache(tmp_path), {"seed": 1}, make) == [1, 2, 3]
    assert values(Cache(tmp_path), {"seed": 1}, make) == [1, 2, 3]
    assert len(calls) == 1
    assert values(Cache(tmp_path), {"seed": 2}, make) == [2, 3, 4]
    assert values(Cache(tmp_path), {"seed": 1}, make) == [3, 4, 5]


def test_another_version_of_the_library_computes_again(tmp_path, counted, monkeypatch):
    make, calls = counted
    values(Cache(tmp_path), {}, make)
    monkeypatch.setattr(repair, "__version__", "99")
    values(Cache(tmp_path), {}, make)
    assert len(calls) == 2


@pytest.mark.parametrize("ending", ["npz", "json"])
@pytest.mark.parametrize("damage", ["cut", "empty", "gone"])
def test_damaged_files_are_computed_again(tmp_path, counted, ending, damage):
    make, calls = counted
    values(Cache(tmp_path), {}, make)
    path = tmp_path / "part" / f"stage.{ending}"
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-20] if damage == "cut" else b"")
    assert values(Cache(tmp_path), {}, make) == [2, 3, 4]
    assert values(Cache(tmp_path), {}, make) == [2, 3, 4]
    assert len(calls) == 2


def test_a_foreign_json_is_no_result(tmp_path, counted):
    make, calls = counted
    values(Cache(tmp_path), {}, make)
    (tmp_path / "part" / "stage.json").write_text("[1]")
    values(Cache(tmp_path), {}, make)
    assert len(calls) == 2


def test_a_failed_computation_leaves_the_old_result(tmp_path, counted):
    make, calls = counted
    values(Cache(tmp_path), {"seed": 1}, make)

    def fail():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        Cache(tmp_path).get("part/stage", {"seed": 2}, fail)
    assert values(Cache(tmp_path), {"seed": 1}, make) == [1, 2, 3]
    assert len(calls) == 1


def test_marks_change_with_the_files_and_not_with_their_readme(tmp_path):
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "rows.txt"
    file.write_text("one")
    first = file_marks([tmp_path / "data"])
    (tmp_path / "data" / "README.md").write_text("hello")
    assert file_marks([tmp_path / "data"]) == first
    os.utime(file, ns=(1, 1))
    assert file_marks([tmp_path / "data"]) == first
    file.write_text("two")
    assert file_marks([tmp_path / "data"]) != first
