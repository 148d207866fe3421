"""The examples of docs/files.md are read as the document says."""

import json
import re

import pytest

from repair.io import read_class_table, read_score_set
from repair.io.columns import SYNONYMS

pytestmark = pytest.mark.needs("pyarrow")


@pytest.fixture
def document(repository):
    return (repository / "docs" / "files.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(document, tmp_path):
    files = dict(re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)```", document, re.DOTALL))
    assert set(files) == {"long.csv", "labels.csv", "dense.csv", "lists.jsonl", "classes.csv"}
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "layout", "ids", "labels"),
    [
        ("long.csv", "long", [[0, 1], [0, 2]], ["lynx", "cat"]),
        ("dense.csv", "dense", [[0, 1], [0, 2]], ["lynx", "cat"]),
        ("lists.jsonl", "candidates", [[0, 1], [0, -1]], ["lynx", "cat"]),
    ],
)
def test_layouts(folder, name, layout, ids, labels):
    classes = read_class_table(folder / "classes.csv")
    read = read_score_set(folder / name, classes=classes)
    assert read.layout == layout
    assert read.rows.shortlist(2).ids.tolist() == ids
    assert read.rows.labels.tolist() == labels
    assert read.rows.class_counts.tolist() == [900, 12, 3]
    assert read.rows.class_groups == ("felidae", "felidae", "unknown")


def test_labels_of_their_own(folder):
    read = read_score_set(folder / "long.csv", labels_path=folder / "labels.csv")
    assert read.rows.labels.tolist() == ["lynx", "cat"]


def test_the_snippets_run(document, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", document, re.DOTALL):
        exec(compile(block, "docs/files.md", "exec"), names)
    assert "long ('cat', 'lynx', 'NA')" in capsys.readouterr().out
    rows = [json.loads(line) for line in (folder / "ranked.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["row"] for row in rows] == ["q1", "q2"]
    assert rows[1]["candidates"] == ["cat", "NA"]


@pytest.mark.parametrize("role", SYNONYMS)
def test_usual_names_are_those_of_the_document(document, role):
    listed = re.search(rf"^\| {role} \| (.*) \|$", document, re.MULTILINE)[1].split(", ")
    assert tuple(listed) == SYNONYMS[role]
