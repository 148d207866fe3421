"""A model file that changes is loaded again, and one that is damaged leaves the old model in place."""

import os
import shutil

import pytest

from repair import ArtifactError
from repair.serving.model_store import ModelStore

from .conftest import version_of


@pytest.fixture
def path(model_files, tmp_path):
    return shutil.copy(model_files["pairwise"], tmp_path / "model.safetensors")


def replace(path, content):
    temporary = path.with_suffix(".new")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def test_a_file_that_has_not_changed_is_not_read(path, monkeypatch):
    store = ModelStore(path)
    monkeypatch.setattr("repair.serving.model_store.load", lambda _: pytest.fail("the file was read"))
    assert store.refresh() == "unchanged"


def test_a_new_file_replaces_the_model(path, model_files):
    store = ModelStore(path, "shop")
    before = store.current
    replace(path, model_files["classwise"].read_bytes())
    assert store.refresh() == "loaded"
    assert (store.current.version, store.current.reranker.mode_) == (version_of(path), "classwise")
    assert (store.current.name, before.reranker.mode_) == ("shop", "pairwise")
    assert store.refresh() == "unchanged"


def test_the_same_content_again_is_not_another_model(path):
    store = ModelStore(path)
    before = store.current
    replace(path, path.read_bytes())
    assert store.refresh() == "unchanged"
    assert store.refresh(force=True) == "unchanged"
    assert store.current is before


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: replace(path, path.read_bytes()[:500]), "model.safetensors"),
        (lambda path: replace(path, b""), "model.safetensors"),
        (lambda path: replace(path, b"not a model" * 100), "model.safetensors"),
        (os.unlink, "the model file cannot be read: "),
        (lambda path: (os.unlink(path), os.mkdir(path)), "the model file cannot be read: "),
    ],
    ids=["cut", "empty", "other", "missing", "folder"],
)
def test_a_damaged_file_leaves_the_old_model_until_it_is_repaired(path, model_files, damage, reason):
    store = ModelStore(path)
    before = store.current
    damage(path)
    assert store.refresh() == "failed"
    assert store.current is before
    assert reason in store.failure
    assert store.refresh() == "unchanged"  # one file fails once
    assert store.refresh(force=True) == "failed"
    if path.is_dir():
        path.rmdir()
    replace(path, model_files["classwise"].read_bytes())
    assert store.refresh() == "loaded"
    assert store.failure is None
    replace(path, model_files["pairwise"].read_bytes())
    assert store.refresh() == "loaded"
    assert store.current.version == before.version


def test_the_old_file_put_back_ends_the_failure(path):
    store = ModelStore(path)
    content = path.read_bytes()
    replace(path, content[:-1])
    assert store.refresh() == "failed"
    replace(path, content)
    assert store.refresh() == "unchanged"
    assert store.failure is None


def test_a_file_that_is_still_being_written_is_tried_again(path, model_files, monkeypatch):
    """The file changes between the look at it and the end of reading, so what was read may be half of it."""
    from repair.serving import model_store

    store = ModelStore(path)
    whole = model_files["classwise"].read_bytes()
    path.write_bytes(whole[:1000])
    read = model_store.load

    def load_while_somebody_writes(given):
        with open(given, "ab") as stream:
            stream.write(whole[1000:])
        monkeypatch.setattr(model_store, "load", read)
        raise ArtifactError("cut")

    monkeypatch.setattr(model_store, "load", load_while_somebody_writes)
    assert store.refresh() == "unchanged"
    assert store.failure is None
    assert store.refresh() == "loaded"
    assert store.current.reranker.mode_ == "classwise"


def test_a_server_does_not_start_without_a_model(tmp_path):
    with pytest.raises(FileNotFoundError):
        ModelStore(tmp_path / "missing.safetensors")
