"""``repair bench`` passes on what the harness says."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("typer", "pyarrow", "sklearn", "lightgbm")


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Put MASSIVE's files, tiny, where REPAIR_DATA says, and go to an empty folder."""
    import gzip

    folder = tmp_path / "data" / "massive_en_us"
    folder.mkdir(parents=True)
    lines = [
        {"text": f"word{label} shared{place % 7} other{place % 3}", "label": label, "label_text": f"intent{label}"}
        for label, count in enumerate((40, 20, 12, 8, 6, 6))
        for place in range(count)
    ]
    for part in ("train", "validation", "test"):
        content = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{part}.jsonl.gz").write_bytes(gzip.compress(content.encode()))
    monkeypatch.setenv("REPAIR_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_there_is_to_run(repair):
    done = repair("bench", "list")
    assert done.code == 0
    for name in ("massive", "phenopackets", "imagenet_lt", "synthetic"):
        assert name in done.out


@pytest.mark.parametrize("name", ["nobody", "imagenet_lt", "massive"])
def test_what_cannot_be_run_is_refused_in_one_line(repair, name, monkeypatch, tmp_path):
    monkeypatch.delenv("REPAIR_DATA", raising=False)
    done = repair("bench", "run", name, "--cache", tmp_path / "cache", "--quick")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_one_run_prints_its_tables_and_leaves_its_results(repair, texts):
    done = repair("bench", "run", "massive", "--quick", "--methods", "base, pairwise", "--k", "3,5", "--seed", 7)
    assert done.code == 0, done.err
    assert "Covered rows, k = 10, mean ± std over 2 trials" in done.out
    assert "massive: base computed" in done.err
    record = json.loads((texts / ".repair-bench" / "results-quick" / "massive.json").read_bytes())
    assert list(record["methods"]) == ["Base", "Pairwise"]
    assert (list(record["by_k"]), record["settings"]["seed"]) == (["3", "5"], 7)
    assert not (texts / ".repair-bench" / "results").exists()  # a quick run takes the place of no whole one


def test_several_runs_print_an_overview_and_name_failures_at_the_end(repair, texts):
    folder = texts / "data" / "goemotions"  # it looks complete, but a label has no name
    folder.mkdir()
    (folder / "emotions.txt").write_text("joy\n")
    for part in ("train", "dev", "test"):
        (folder / f"{part}.tsv").write_text("a text\t7\tid1\n")
    done = repair(
        "bench", "run", "goemotions", "massive", "massive_lt", "--quick", "--methods", "base,pairwise", "--jobs", 1
    )
    assert done.code == 1
    assert "massive_lt" in done.out
    assert f"Results are in {Path('.repair-bench', 'results-quick')}." in done.out
    assert done.err.splitlines()[-1].startswith("repair: goemotions failed: ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--methods", "base,nothing"), "there is no method 'nothing'; choose from base"),
        (("--k", "5,many"), "--k is '5,many'"),
        (("--k", "0"), "--k is '0'"),
        (("--jobs", "0"), "--jobs"),
    ],
)
def test_wrong_options_are_refused_before_anything_starts(repair, texts, options, said):
    done = repair("bench", "run", "massive", *options)
    assert done.code == 2
    assert said in done.err
    assert not (texts / ".repair-bench").exists()


def test_tables_figures_and_the_document_come_from_the_results(repair, texts):
    methods = "base,classwise,pairwise"
    assert repair("bench", "run", "massive", "--trials", 2, "--k", "3,5", "--methods", methods, "--jobs", 1).code == 0
    done = repair("bench", "table", "signs", "massive", "--format", "csv")
    assert (done.code, done.out.splitlines()[0]) == (0, "metric,W/L/T,≥ 4/5,p,p Holm")
    assert "massive" in repair("bench", "table", "overview").out
    assert repair("bench", "table", "quintiles").code == 2  # so few classes have none
    done = repair("bench", "publish", "--out", "docs/results")
    assert done.out.splitlines()[0] == f"Wrote {Path('docs', 'results', 'README.md')}."
    assert (texts / "docs" / "results" / "massive.md").read_text(encoding="utf-8").startswith("# massive: ")


@pytest.mark.needs("altair", "vl_convert")
def test_a_figure_is_written_as_its_ending_says(repair, texts):
    methods = "base,classwise,pairwise"
    assert repair("bench", "run", "massive", "--trials", 1, "--k", "3,5", "--methods", methods, "--jobs", 1).code == 0
    assert repair("bench", "figure", "k", "--out", "k.svg").out == "Wrote k.svg.\n"
    assert (texts / "k.svg").read_text(encoding="utf-8").startswith("<svg")
    assert repair("bench", "figure", "distribution", "--out", "figures").code == 0
    assert (texts / "figures" / "massive_distribution.png").read_bytes().startswith(b"\x89PNG")
    done = repair("bench", "figure", "pie", "--out", "pie.svg")
    assert (done.code, done.out) == (2, "")
    assert "choose one of quintiles" in done.err


def test_a_folder_without_results_says_how_to_get_some(repair, tmp_path):
    done = repair("bench", "table", "main", "--results", tmp_path)
    assert done.code == 2
    assert "make some with `repair bench run NAME" in done.err


def test_a_quick_run_of_real_data(repair, shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("REPAIR_DATA", str(shared_data("flowers102").parent))
    done = repair(
        "bench", "run", "flowers102", "--cache", tmp_path / "c", "--out", tmp_path / "o", "--quick", "--trials", "2"
    )
    assert done.code == 0, done.err
    assert "Base" in done.out
    assert (tmp_path / "o" / "flowers102.json").exists()
