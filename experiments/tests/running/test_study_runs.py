"""Studies are listed, found, cached and written like benchmarks."""

import json

import pytest

from repair import InputError
from repair_bench.running import study_runs
from repair_bench.running.many_runs import RunOptions, choose_runs, run_one
from repair_bench.running.study_runs import find_study, list_studies, run_cached_study
from repair_bench.sets.registry import get


@pytest.fixture
def one_study(monkeypatch):
    """Let there be one study, which counts how often it was run."""
    runs = []

    def run_study(name, *, data, quick, vectors, progress):
        runs.append(name)
        progress("a step")
        return {"study": name, "title": "Cases", "answer": 42}

    monkeypatch.setattr(study_runs, "STUDIES", ("case",))
    monkeypatch.setattr(study_runs, "run_study", run_study)
    monkeypatch.setattr(study_runs, "study_title", lambda name: "Cases")
    monkeypatch.setattr(study_runs, "study_folders", lambda name, data: list(get("massive").find(data).values()))
    return runs


def test_a_study_is_run_once_and_its_record_kept(one_study, tiny_massive, tmp_path):
    options = RunOptions(cache=str(tmp_path / "cache"), out=str(tmp_path / "out"), data=str(tiny_massive))
    said = []
    record = run_one("case", options, said.append)
    assert record["answer"] == 42
    assert json.loads((tmp_path / "out" / "case.json").read_bytes()) == record
    assert {"version", "versions", "seconds"} <= set(record)
    assert run_one("case", options, said.append) == record
    assert one_study == ["case"]
    assert said == ["  a step", "case: study computed", "case: study from the cache"]
    path = tiny_massive / "massive_en_us" / "test.jsonl.gz"
    path.write_bytes(path.read_bytes() + b"\0")
    run_cached_study("case", cache=options.cache, data=options.data)
    assert one_study == ["case", "case"]


def test_studies_are_chosen_with_all_where_their_data_are_here(one_study, tiny_massive, tmp_path):
    chosen = choose_runs(["all"], str(tiny_massive))
    # With the sentence model installed, its variants are there too.
    assert [one for one in chosen if not one.endswith("_minilm")] == ["synthetic", "case", "massive", "massive_lt"]
    assert [one[0] for one in list_studies(tiny_massive)] == ["synthetic", "case"]
    assert choose_runs(["all"], str(tmp_path / "nowhere")) == ("synthetic",)
    assert list_studies(tmp_path / "nowhere")[1][2].startswith("data not here: ")
    with pytest.raises(InputError, match="massive"):
        choose_runs(["case"], str(tmp_path / "nowhere"))


def test_the_synthetic_study_reads_nothing():
    assert find_study("synthetic") == {}


def test_a_wrong_name_lists_studies_too():
    with pytest.raises(
        InputError, match=r"no benchmark or study 'rarebenc'; choose one of .*rarebench, .*synthetic.*, all$"
    ):
        choose_runs(["rarebenc"])
