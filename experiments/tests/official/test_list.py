"""`repair bench list` tells the truth: on an empty folder, on a wrong one, and on official files."""

import gzip

import numpy as np
import pytest

from repair_bench.data.sources import SOURCES
from repair_bench.running.benchmark_run import describe
from repair_bench.sets.registry import benchmarks, get

PAPER = (
    "goemotions", "massive", "huffpost", "few_nerd", "inat2018", "imagenet_lt", "places_lt", "gmdb", "rarebench_gmdb",
)  # fmt: skip


def states(data):
    table = describe(str(data)).split("\n\n")[0]
    return {line.split()[0]: line for line in table.splitlines()[2:]}


def test_nothing_is_ready_in_an_empty_folder_and_every_source_is_named(tmp_path):
    listed = describe(str(tmp_path))
    lines = states(tmp_path)
    for name in (one.name for one in benchmarks()):
        assert "not here" in lines[name], name
    below = listed.split("\n\n")[1]
    for name, one in SOURCES.items():
        assert f"  {name}: {one.home} (licence: {one.licence}). {one.how}" in below


def test_official_files_are_ready(published_folder):
    lines = states(published_folder)
    for name in PAPER:
        assert lines[name].endswith("ready"), lines[name]
    for name in ("few_tk", "phenopackets", "caltech101", "huffpost_natural"):
        assert "data not here" in lines[name]


@pytest.mark.parametrize(
    "name", ["goemotions", "massive", "huffpost", "few_nerd", "inat2018", "imagenet_lt", "places_lt"]
)
def test_the_publishers_own_folder_is_enough(published_folder, name):
    lines = states(published_folder / name)
    ready = {key for key, line in lines.items() if line.endswith("ready")} & set(PAPER)
    assert ready == {name}


def test_several_folders_are_separated_as_in_path(published_folder):
    import os

    lines = states(os.pathsep.join(str(published_folder / name) for name in ("goemotions", "massive")))
    assert lines["goemotions"].endswith("ready")
    assert lines["massive"].endswith("ready")


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


def packed_and_cut(path):
    content = gzip.compress(path.read_bytes())
    path.with_name(path.name + ".gz").write_bytes(content[: len(content) // 2])
    path.unlink()


def writing(content):
    data = content if isinstance(content, bytes) else content.encode()
    return lambda path: path.write_bytes(data)


SPOILED = [
    ("goemotions", "goemotions/dev.tsv", lambda path: path.unlink(), "dev.tsv is missing"),
    ("goemotions", "goemotions/dev.tsv", lambda path: path.write_text(""), "dev.tsv: it is empty"),
    ("goemotions", "goemotions/dev.tsv", lambda path: path.write_text("text,label\nhi,3\n"), "line 1: expected text"),
    ("goemotions", "goemotions/dev.tsv", cut, "line 19: expected text, label ids and comment id"),
    ("goemotions", "goemotions/dev.tsv", packed_and_cut, "dev.tsv.gz is not a complete gzip file"),
    (
        "massive",
        "massive/1.0/data/en-US.jsonl",
        lambda path: path.write_text('{"text": "x"}\n'),
        "no 'partition' and no",
    ),
    ("massive", "massive/1.0/data/en-US.jsonl", cut, "its last line: not a JSON object; the file may be cut"),
    ("huffpost", "huffpost/News_Category_Dataset_v3.json", writing(b"\xff\xfe\x00"), "not UTF-8"),
    (
        "few_nerd",
        "few_nerd/supervised/dev.txt",
        lambda path: path.write_text("Adam ML-tool\n"),
        "a token, a tab and a tag",
    ),
    (
        "few_nerd",
        "few_nerd/supervised/dev.txt",
        lambda path: path.write_text("Adam\tML-tool\n"),
        "the tag 'ML-tool' belongs to another data set",
    ),
    ("imagenet_lt", "imagenet_lt/scores.npz", cut, "scores.npz is not a complete npz file"),
    ("imagenet_lt", "imagenet_lt/scores.npz", lambda path: path.unlink(), "scores.npz is missing"),
    (
        "imagenet_lt",
        "imagenet_lt/scores.npz",
        lambda path: np.savez(path, logits=np.eye(3)),
        "it has no array 'scores', only logits",
    ),
    (
        "imagenet_lt",
        "imagenet_lt/ImageNet_LT_test.txt",
        lambda path: path.write_text("a.jpg\n"),
        "expected an image path",
    ),
    ("inat2018", "inat2018/val2018.json", cut, "the file is cut: it ends inside the document"),
    ("gmdb", "hpo/hp.obo", lambda path: path.write_text("<html>"), "it does not start with 'format-version'"),
    (
        "gmdb",
        "hpo/phenotype.hpoa",
        lambda path: path.write_text("#DatabaseID\tHPO_ID\nOMIM:1\tHP:1\n"),
        "its header has no column 'database_id' and no 'hpo_id'",
    ),
    (
        "gmdb",
        "gmdb/gmdb_metadata/gmdb_val_images_v1.1.0.csv",
        lambda path: path.write_text("image,syndrome\n1,2\n"),
        "its header has no column 'image_id' and no 'label'",
    ),
    ("rarebench_gmdb", "rarebench/data/MME.jsonl", lambda path: path.unlink(), "data/MME.jsonl is missing"),
]


@pytest.mark.parametrize(("name", "path", "spoil", "said"), SPOILED)
def test_wrong_and_cut_files_are_named(published_folder, name, path, spoil, said):
    spoil(published_folder / path)
    state = get(name).state(published_folder)
    assert state.startswith("data not here: in ")
    assert said in state


def test_the_command_lists_a_given_folder(repair, published_folder, monkeypatch):
    monkeypatch.delenv("REPAIR_DATA", raising=False)
    done = repair("bench", "list", "--data", published_folder)
    assert done.code == 0
    assert "Where to get the data sets that are not here" in done.out
    done = repair("bench", "run", "goemotions", "--quick", "--data", published_folder / "nothing")
    assert (done.code, done.out) == (2, "")
    assert "there is no folder" in done.err
