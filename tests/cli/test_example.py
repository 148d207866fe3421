import pytest

from repair.datasets import EXAMPLE_FILES, example_files

pytestmark = pytest.mark.needs("typer")


def test_it_writes_the_files_into_a_new_folder(repair, tmp_path):
    folder = tmp_path / "new" / "folder"
    done = repair("example", folder)
    assert (done.code, done.err) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == sorted(EXAMPLE_FILES)
    for name, content in example_files().items():
        assert (folder / name).read_text(encoding="utf-8") == content
        assert name in done.out


def test_files_that_are_there_are_kept_unless_asked(repair, tmp_path):
    (tmp_path / "test.csv").write_text("mine", encoding="utf-8")
    done = repair("example", tmp_path)
    assert done.code == 2
    assert str(tmp_path / "test.csv") in done.err
    assert "--overwrite" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["test.csv"]
    assert (tmp_path / "test.csv").read_text(encoding="utf-8") == "mine"
    assert repair("example", tmp_path, "--overwrite").code == 0
    assert (tmp_path / "test.csv").read_text(encoding="utf-8") == example_files()["test.csv"]


def test_a_file_in_the_folders_place_is_refused(repair, tmp_path):
    (tmp_path / "folder").write_text("mine", encoding="utf-8")
    done = repair("example", tmp_path / "folder")
    assert done.code == 2
    assert "folder" in done.err
    assert (tmp_path / "folder").read_text(encoding="utf-8") == "mine"
