"""The commands in the documents are run, in the order in which they stand there, on the files of `repair example`."""

import re
import shlex

import pytest

pytestmark = pytest.mark.needs("typer", "pyarrow", "vl_convert")


@pytest.mark.parametrize(("name", "count"), [("README.md", 11), ("docs/cli.md", 11)])
def test_they_all_succeed(repair, repository, tmp_path, monkeypatch, name, count):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```bash\n(.*?)```", (repository / name).read_text(encoding="utf-8"), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("repair ")]
    assert len(commands) == count
    assert commands[0].startswith("repair example .")
    for command in commands:
        words = shlex.split(command.partition(" > ")[0], comments=True)
        done = repair(*words[1:])
        assert done.code == 0, (command, done.err)
        assert done.out
        if "-o" in words:
            assert (tmp_path / words[words.index("-o") + 1]).exists()
    assert (tmp_path / "results" / "comparison.md").exists()


@pytest.mark.needs("onnx", "onnxruntime")
def test_the_exports_succeed(repair, repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (repository / "docs" / "export.md").read_text(encoding="utf-8")
    commands = [line for line in text.splitlines() if line.startswith("repair ")]
    commands = [line for line in commands if "--append-to" not in line]  # needs the reader's own classifier
    assert len(commands) == 6
    for command in commands:
        done = repair(*shlex.split(command, comments=True)[1:])
        assert done.code == 0, (command, done.err)


def test_every_command_is_in_the_document(repository):
    from repair.cli.app import EXAMPLES

    text = (repository / "docs" / "cli.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert listed == [command.__name__ for command in EXAMPLES]
