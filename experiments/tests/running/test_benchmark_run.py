"""A run from data to tables, on tiny files: what is computed, what is kept, what is written."""

import gzip
import json

import numpy as np
import pytest

import repair_bench
from repair import InputError
from repair_bench.bases.base_scores import TextBase
from repair_bench.harness.stages import ALL_CODE, DATA_CODE, NOT_DATA, NOT_RESULTS, OUR_FITS, code_mark
from repair_bench.report.result_tables import all_tables
from repair_bench.running.benchmark_run import describe, run

pytestmark = pytest.mark.needs("sklearn", "lightgbm")

FAST = ("base", "logit_adjustment", "classwise", "pairwise_only", "pairwise")


@pytest.fixture
def go(tiny_massive, tmp_path):
    """Run a benchmark on the tiny data and return the result and what was said."""

    def run_it(name="massive", **options):
        said = []
        settings = {"methods": FAST, "trials": 2, "resamples": 50, "lengths": (5, 50)} | options
        result = run(name, cache=tmp_path / "cache", data=tiny_massive, progress=said.append, **settings)
        return result, said

    return run_it


def computed(said):
    return [line.split(": ")[1].removesuffix(" computed") for line in said if line.endswith(" computed")]


def test_a_second_run_computes_nothing_and_finds_the_same(go):
    first, said = go()
    assert computed(said)[:2] == ["data", "base"]
    assert computed(said)[-1] == "record"
    assert set(computed(said)[2:-1]) == {f"method-{one}-k10" for one in FAST} | {
        f"method-{one}-k5" for one in ("base", "logit_adjustment", "classwise", "pairwise")
    }  # 50 is more than there are classes
    again, said = go()
    notes = [line for line in said if ": note: " in line]
    assert "classes: 8 here, 60 in the paper" in notes[0]
    others = [line for line in said if line not in notes]
    assert others == ["massive: base from the cache", "massive: record from the cache"]  # nothing else is even read
    assert again == first


def test_an_interrupted_run_goes_on_where_it_stopped(go):
    go(methods=("base", "classwise"), lengths=())
    result, said = go(lengths=())
    assert computed(said) == [
        "method-logit_adjustment-k10",
        "method-pairwise_only-k10",
        "method-pairwise-k10",
        "record",
    ]
    assert list(result["methods"]) == ["Base", "LogitAdj", "Classwise", "Pairwise-only", "Pairwise"]


def test_changed_data_and_settings_are_computed_again(go, tiny_massive):
    go(methods=("base",), lengths=())
    assert computed(go(methods=("base",), lengths=(), trials=3)[1]) == ["method-base-k10", "record"]
    path = tiny_massive / "massive_en_us" / "test.jsonl.gz"
    path.write_bytes(path.read_bytes())  # the same content
    assert computed(go(methods=("base",), lengths=(), trials=3)[1]) == []
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), 1))  # other bytes
    assert computed(go(methods=("base",), lengths=())[1])[:2] == ["data", "base"]


def test_changed_code_is_run_again(go, monkeypatch):
    go(methods=("base",), lengths=())
    monkeypatch.setattr("repair_bench.harness.stages.code_mark", lambda folders, without: "changed")
    assert computed(go(methods=("base",), lengths=())[1]) == ["data", "base", "method-base-k10", "record"]


def test_code_that_only_prints_makes_nothing_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "repair_bench.harness.stages.PACKAGES", {name: tmp_path / name for name in ("repair", "repair_bench")}
    )
    solver, command = "repair/fitting/newton.py", "repair/cli/fit.py"
    methods_file, texts = "repair_bench/harness/methods.py", "repair_bench/data/texts.py"
    printing = ("repair_bench/report/publish.py", "repair_bench/command.py", "repair_bench/running/many_runs.py")
    rival = "repair_bench/rivals/gda.py"
    for name in (solver, command, methods_file, texts, rival, *printing):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")

    def marks(changed):
        (tmp_path / changed).write_text("2")
        code_mark.cache_clear()
        found = code_mark(DATA_CODE, NOT_DATA), code_mark(ALL_CODE, NOT_RESULTS)
        (tmp_path / changed).write_text("1")
        return found

    def marks_of_rivals(changed):
        (tmp_path / changed).write_text("2")
        code_mark.cache_clear()
        found = code_mark(ALL_CODE, (*NOT_RESULTS, *OUR_FITS))
        (tmp_path / changed).write_text("1")
        return found

    data, methods = marks(command)
    for name in printing:
        assert marks(name) == (data, methods)
    assert marks(methods_file)[0] == data
    assert marks(solver)[0] == data
    assert methods not in (marks(methods_file)[1], marks(solver)[1], marks(texts)[1])
    assert marks(texts)[0] != data
    rivals = marks_of_rivals(command)
    assert marks_of_rivals(solver) == marks_of_rivals(methods_file) == rivals
    assert marks_of_rivals(rival) != rivals
    code_mark.cache_clear()


def test_another_base_has_its_own_place_and_settings(go):
    go(methods=("base",), lengths=())
    other, said = go(methods=("base",), lengths=(), base=TextBase(c=100.0))
    assert "base" in computed(said)
    assert other["settings"]["c"] == 100.0


def test_methods_run_one_by_one_equal_one_comparison(go, tiny_massive):
    """Trials share subsamples and the bootstrap shares resamples, though every method was run alone."""
    from repair import Base, Reranker, compare
    from repair_bench.sets.massive import read

    result, _ = go(methods=("base", "pairwise"), lengths=())
    base = TextBase()(read({"massive_en_us": tiny_massive / "massive_en_us"}, 0))
    pair = {"Base": Base(), "Pairwise": Reranker("pairwise")}
    found = compare(pair, base.calibration, base.test, trials=2, resamples=50)
    metrics = result["methods"]["Pairwise"]["metrics"]
    np.testing.assert_allclose(metrics["hit@1"]["trials"], found.trials["Pairwise"]["hit@1"])
    gap = found.difference("Pairwise")["hit@1"]
    shown = result["methods"]["Pairwise"]["against"]["Base"]["hit@1"]["difference"]
    np.testing.assert_allclose([shown["estimate"], shown["low"], shown["high"]], [gap.estimate, gap.low, gap.high])


def test_everything_is_written(go, tmp_path):
    result, _ = go(out=tmp_path / "out")
    written = json.loads((tmp_path / "out" / "massive.json").read_text(encoding="utf-8"))
    assert written == result
    assert written["settings"]["base"] == "TextBase"
    assert written["published"]["hyperparameters"] == "not published"
    assert written["data"]["test_rows"] == 263
    assert sorted(written["data"]["class_counts"], reverse=True) == [80, 60, 40, 30, 20, 15, 10, 8]
    assert written["seconds"]["methods"] == pytest.approx(sum(one["seconds"] for one in written["methods"].values()))
    assert written["seconds"]["other lengths"] > 0
    with np.load(tmp_path / "out" / "massive_rows.npz", allow_pickle=False) as rows:
        hits = rows["hit@1"][list(rows["methods"]).index("Base")]
        assert hits.mean() == pytest.approx(result["methods"]["Base"]["metrics"]["accuracy"]["full"])
    assert (tmp_path / "out" / "massive.txt").read_text(encoding="utf-8") == all_tables(result)


def test_a_result_says_what_each_method_is_and_compares_only_ours(go):
    result, _ = go(methods=("base", "logit_adjustment", "vector_scaling", "em_prior", "classwise", "pairwise"))
    methods = result["methods"]
    assert {title: one["role"] for title, one in methods.items()} == {
        "Base": "base",
        "LogitAdj": "rival",
        "Vector scaling": "rival",
        "EM prior": "rival",
        "Classwise": "ours",
        "Pairwise": "ours",
    }
    assert methods["EM prior"]["information"] == "scores and unlabelled test rows"
    assert {methods[title]["information"] for title in methods if title != "EM prior"} == {"scores"}
    for title in methods:
        compared = set(methods) - {title} if title in ("Classwise", "Pairwise") else set()
        assert set(methods[title]["against"]) == compared
        assert not result["by_k"]["5"].get(title, {}).get("against")
    base = methods["Base"]["calibration"]["accuracy"]
    for title in ("LogitAdj", "Vector scaling", "EM prior"):
        assert base - 0.05 < methods[title]["calibration"]["accuracy"] < 1.0
    assert methods["Pairwise"]["calibration"] is None
    assert len(methods["Vector scaling"]["trade_off"]["macro"]) == len(methods["Pairwise"]["trade_off"]["dials"])


def test_a_long_tailed_training_part_is_longer_tailed(go):
    plain, tailed = go(methods=("base",))[0], go("massive_lt", methods=("base",))[0]
    assert (tailed["data"]["smallest_class"], plain["data"]["smallest_class"]) == (2, 8)
    assert tailed["data"]["largest_class"] == plain["data"]["largest_class"] == 80
    assert tailed["data"]["test_rows"] == plain["data"]["test_rows"]
    assert tailed["settings"]["seed"] == 42


def test_a_quick_run_is_short(go):
    result, _ = go(methods=None, lengths=None, trials=5, quick=True)
    assert result["setup"]["trials"] == 2
    assert "REPAIR as published" not in result["methods"]
    assert "LambdaRank" in result["methods"]


def test_placeholders_are_listed_and_refuse(tiny_massive, tmp_path):
    listed = describe(tiny_massive)
    states = {line.split()[0]: line for line in listed.split("\n\n")[0].splitlines()[2:]}
    assert states["massive"].endswith("ready")
    assert states["synthetic"].endswith("ready")
    assert "data not here: there is no folder" in states["imagenet_lt"]
    assert "goemotions: github.com/google-research" in listed
    with pytest.raises(InputError, match=r"'qwen' cannot be run, data not here: the fine-tuned.* \(published at"):
        run("qwen", cache=tmp_path)
    with pytest.raises(InputError, match="there is no benchmark 'mnist'"):
        run("mnist", cache=tmp_path)
    with pytest.raises(InputError, match="no folder"):
        run("goemotions", cache=tmp_path, data=tiny_massive)
    assert list(tmp_path.glob("*/seed*")) == []


def test_the_package_offers_list_and_run():
    assert repair_bench.run is run
    assert repair_bench.list is describe
    with pytest.raises(AttributeError, match="no attribute 'runs'"):
        repair_bench.runs  # noqa: B018


def test_a_slice_of_the_real_data_runs(shared_data, tmp_path):
    folder = shared_data("massive_en_us").parent
    result = run("massive", cache=tmp_path, data=folder, methods=("base", "pairwise"), quick=True)
    assert result["data"]["classes"] == 60
    reached = {title: one["metrics"]["hit@1"]["full"] for title, one in result["methods"].items()}
    assert reached["Pairwise"] > reached["Base"]
