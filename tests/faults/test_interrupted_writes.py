"""A save that fails leaves the old file, and nothing else."""

import os
import stat

import pytest

from repair import Reranker
from repair._utils.atomic_write import write_atomically


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
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    with pytest.raises(FileNotFoundError, match=r"nowhere\W+model\.safetensors'"):
        model.save(tmp_path / "nowhere" / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.system("renaming onto an open file")
def test_readers_see_whole_files_only(tmp_path, problem):
    """One writer, one reader, many rounds."""
    import threading

    from repair import load

    path = tmp_path / "model.safetensors"
    models = [
        Reranker("classwise", n_candidates=problem.k, lambda_a=penalty).fit(problem.scores, problem.labels)
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


@pytest.mark.system("syncing a folder")
def test_file_then_rename_then_folder_are_synced_in_this_order(tmp_path, monkeypatch):
    steps, sync, replace = [], os.fsync, os.replace

    def record_sync(handle):
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def record_replace(source, target):
        steps.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_replace)
    write_atomically(tmp_path / "model", b"new")
    assert steps == ["file", "rename", "folder"]


def test_a_temporary_file_of_somebody_else_is_never_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda _: "taken")
    (tmp_path / ".taken.tmp").write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "model", b"new")
    assert not (tmp_path / "model").exists()


@pytest.mark.system("file modes")
def test_the_mode_is_kept_where_fchmod_does_not_exist(tmp_path, monkeypatch):
    """As on Windows before Python 3.13."""
    monkeypatch.delattr(os, "fchmod", raising=False)
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o7777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


@pytest.mark.system("file modes")
def test_private_content_is_never_in_a_file_that_others_may_read(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(0o600)
    modes, sync = [], os.fsync

    def record_mode(handle):
        modes.append(os.fstat(handle).st_mode & 0o777)
        sync(handle)

    monkeypatch.setattr(os, "fsync", record_mode)
    write_atomically(path, b"new")
    assert modes[0] == 0o600
