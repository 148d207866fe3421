"""Several benchmarks at a time: what is chosen, what fails, what goes on."""

import json
import os
import signal
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from repair import InputError
from repair_bench.running.many_runs import THREADS, RunOptions, _Child, choose_runs, run_many

pytestmark = pytest.mark.needs("sklearn", "lightgbm")


@pytest.fixture
def options(tiny_massive, tmp_path):
    folder = tiny_massive / "goemotions"  # it looks complete, but a label has no name
    folder.mkdir()
    (folder / "emotions.txt").write_text("joy\n")
    for part in ("train", "dev", "test"):
        (folder / f"{part}.tsv").write_text("a text\t7\tid1\n")
    return RunOptions(
        cache=str(tmp_path / "cache"),
        out=str(tmp_path / "out"),
        data=str(tiny_massive),
        methods=("base", "classwise", "pairwise"),
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
        assert "label 7 has no name" in failed["goemotions"]
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
    assert child.process.exitcode < 0  # -9, or -15 on Windows
    assert child.failure == f"its process ended with code {child.process.exitcode}"


def children(pid):
    """The benchmarks' processes among the children of a process."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return [one for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.system("/proc")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_children_end_with_their_parent(start_program, options, name):
    program = (
        "import sys\n"
        "from repair._utils.signals import end_at_signals\n"
        "from repair_bench.running.many_runs import RunOptions, run_many\n"
        "if __name__ == '__main__':\n"
        "    end_at_signals()\n"
        "    options = RunOptions(**eval(sys.argv[1]))\n"
        "    run_many(('massive', 'massive_lt'), options, 2, lambda line: print(line, flush=True))\n"
    )
    process = start_program(program, asdict(replace(options, trials=1000)))
    assert process.stdout.readline() != ""  # one of them is at work
    started = children(process.pid)
    assert len(started) == 2
    process.send_signal(getattr(signal, name))
    process.wait(timeout=60)
    assert process.returncode == (143 if name == "SIGTERM" else -signal.SIGKILL)
    end = time.monotonic() + 8  # of its own accord, a child would only end when it next has something to say
    while any(map(is_running, started)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(is_running, started))
