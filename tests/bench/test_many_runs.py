"""Several benchmarks at a time: what is chosen, what fails, what goes on."""

import json
import os
from dataclasses import replace

import pytest

from repair import InputError
from repair.bench.many_runs import THREADS, RunOptions, _Child, choose_runs, run_many

pytestmark = pytest.mark.needs("sklearn", "lightgbm")


@pytest.fixture
def options(tiny_massive, tmp_path):
    (tiny_massive / "goemotions").mkdir()  # it is there, but it holds nothing
    return RunOptions(
        cache=str(tmp_path / "cache"),
        out=str(tmp_path / "out"),
        data=str(tiny_massive),
        methods=("base", "classwise", "repair"),
        trials=2,
        quick=True,
        lengths=(5,),
    )


def test_all_is_what_has_its_data_and_the_synthetic_study(options):
    chosen = choose_runs(["all"], options.data)
    # With the sentence model installed, its variants are there too.
    plain = [one for one in chosen if not one.endswith("_minilm")]
    assert plain[0] == "synthetic"
    assert plain[-3:] == ["goemotions", "massive", "massive_lt"]
    assert choose_runs(["massive", "all"], options.data)[:2] == ("massive", "synthetic")


@pytest.mark.parametrize("name", ["mnist", "imagenet_lt", "few_tk"])
def test_what_cannot_be_run_is_refused_before_anything_starts(options, name):
    with pytest.raises(InputError, match=name):
        choose_runs(["massive", name], options.data)


def test_one_that_fails_stops_no_other_and_processes_find_what_this_one_finds(options, tmp_path):
    names, said = ("goemotions", "massive", "massive_lt"), {1: [], 2: []}
    found = {}
    for jobs in (1, 2):
        places = {"cache": str(tmp_path / f"cache{jobs}"), "out": str(tmp_path / f"out{jobs}")}
        failed = run_many(names, replace(options, **places), jobs, said[jobs].append)
        assert list(failed) == ["goemotions"]
        assert "labels.txt" in failed["goemotions"]  # the file that is missing
        found[jobs] = [json.loads((tmp_path / f"out{jobs}" / f"{name}.json").read_bytes()) for name in names[1:]]
        assert "massive: record computed" in said[jobs]
    for here, there in zip(found[1], found[2], strict=True):
        for title, one in here["methods"].items():
            assert one["metrics"] == there["methods"][title]["metrics"], title
    assert said[2][-1].endswith("(3 of 3)")
    assert not any(line.startswith(" ") for line in said[2])
    assert "massive: n_candidates=10 is more than the 8 classes; using 8" in said[2]  # a warning, from over there


def test_the_failure_of_the_only_one_is_raised(options):
    with pytest.raises((InputError, OSError)):
        run_many(("goemotions",), options, 2, lambda line: None)


def test_a_process_that_is_ended_is_a_failure_with_its_code(options):
    before = {name: os.environ.get(name) for name in THREADS}
    child = _Child.start("massive", options)
    assert {name: os.environ.get(name) for name in THREADS} == before
    child.process.kill()
    child.process.join()
    list(child.lines())
    assert child.ended
    assert child.failure == "its process ended with code -9"
