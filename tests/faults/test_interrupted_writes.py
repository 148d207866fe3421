"""A save that fails leaves the old file, and nothing else."""

import os

import pytest

from repair import Reranker
from repair.files import write_atomically


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_failure_at_any_step_leaves_the_old_content(tmp_path, monkeypatch, step, error):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"old")

    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_folder_that_does_not_exist_is_the_systems_own_error(tmp_path, problem):
    model = Reranker(problem.k).fit(problem.scores, problem.labels, **problem.known)
    with pytest.raises(FileNotFoundError, match=r"nowhere/model\.safetensors'"):
        model.save(tmp_path / "nowhere" / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_readers_see_whole_files_only(tmp_path, problem):
    """One writer, one reader, many rounds."""
    import threading

    from repair import load

    path = tmp_path / "model.safetensors"
    models = [
        Reranker(problem.k, "classwise", lambda_a=penalty).fit(problem.scores, problem.labels)
        for penalty in (1e-3, 1.0)
    ]
    models[0].save(path)
    stop = threading.Event()

    def keep_writing():
        turn = 0
        while not stop.is_set():
            models[turn % 2].save(path)
            turn += 1

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        seen = {load(path).lambda_a for _ in range(60)}
    finally:
        stop.set()
        writer.join()
    assert seen <= {1e-3, 1.0}
