"""A ranking that cannot be written leaves the old file, and nothing else."""

import os

import numpy as np
import pytest

from repair import InputError, Ranking, Shortlist
from repair.io import write_ranking

pytestmark = pytest.mark.needs("pyarrow")

FORMATS = ("r.csv", "r.csv.gz", "r.jsonl", "r.parquet", "r.arrow", "r.npz", "r.npy")


@pytest.fixture
def ranking():
    shortlist = Shortlist.from_scores(np.eye(3), 2)
    return Ranking.from_scores(shortlist, shortlist.scores)


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), MemoryError()])
def test_failure_at_any_step_leaves_the_old_content(tmp_path, monkeypatch, ranking, name, step, error):
    path = tmp_path / name
    path.write_bytes(b"old")

    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_ranking(path, ranking)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("r.csv", "pyarrow.csv.write_csv"),
        ("r.parquet", "pyarrow.parquet.write_table"),
        ("r.arrow", "pyarrow.ipc.new_file"),
        ("r.jsonl", "json.dumps"),
        ("r.npz", "numpy.savez"),
        ("r.npy", "numpy.save"),
    ],
)
def test_a_writer_that_fails_half_way(tmp_path, monkeypatch, ranking, name, where):
    path = tmp_path / name
    path.write_bytes(b"old")

    def fail(*arguments, **_):
        for one in arguments:
            if hasattr(one, "write"):
                one.write(b"half")
        raise ValueError("no such luck")

    monkeypatch.setattr(where, fail)
    with pytest.raises(InputError, match=r"the ranking cannot be written as \.\w+ \(no such luck\); try another"):
        write_ranking(path, ranking)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_folder_that_does_not_exist_is_the_systems_own_error(tmp_path, ranking):
    with pytest.raises(FileNotFoundError, match=r"nowhere\W+r\.csv'"):
        write_ranking(tmp_path / "nowhere" / "r.csv", ranking)
    assert list(tmp_path.iterdir()) == []
