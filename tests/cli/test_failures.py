"""Whatever goes wrong: the right exit code, one plain line, and nothing half-written."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from repair.cli import run
from repair.errors import NotFittedError

pytestmark = pytest.mark.needs("typer", "pyarrow")

PROGRAM = [sys.executable, "-c", "from repair.cli import main; main()"]


def refusals(err):
    """Return the lines of standard error that say what is wrong; all others must be warnings or notes."""
    lines = err.splitlines()
    assert all(line.startswith(("repair: ", "warning: ", "note: ")) for line in lines), err
    return [line for line in lines if line.startswith("repair: ")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "{tmp}/none.csv", "-o", "{tmp}/m"], "none.csv: {no_such_file}"),
        (["fit", "{tmp}", "-o", "{tmp}/m"], "the ending of the name is not a known format"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}"], "Is a directory"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/no/m"], f"{os.sep}no: No such file or directory"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--mode", "dance"], "there is no method 'dance'"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--head-loss", "1"], "give --classes with a column"),
        (
            ["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--mode", "pairwise", "--terms", "similarity"],
            "--taxonomy",
        ),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--classes", "{data}/calibration.csv"], "repeats class"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--head-loss", "x"], "--head-loss"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--exact"], "add --head-loss"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--classes", "{tmp}/c.csv"], "c.csv: {no_such_file}"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--row-column", "x"], "no column 'x' for the row"),
        (["fit", "{data}/calibration.csv"], "Missing option '--out' / '-o'. (see repair fit --help)"),
        (["fit", "{data}/calibration.csv", "-o", "{tmp}/m", "--dance"], "No such option: --dance"),
        (["rerank", "{data}/classes.csv", "{data}/test.csv", "-o", "{tmp}/r.csv"], "not a readable model"),
        (["rerank", "{model}", "{data}/test.csv", "-o", "{tmp}/r.xls"], "the ending of the name is not a known format"),
        (["rerank", "{model}", "{data}/classes.csv", "-o", "{tmp}/r.csv"], "classes.csv: "),
        (["rerank", "{model}", "{data}/test.csv", "-o", "{tmp}/r.csv", "--layout", "x"], "layout is 'x'"),
        (["rerank", "{model}", "{data}/test.csv", "-o", "{tmp}/r.csv", "--dial", "1000"], "dial is 1000"),
        (["evaluate", "{tmp}/m.safetensors", "{data}/test.csv"], "m.safetensors: {no_such_file}"),
        (["evaluate", "{model}"], "(see repair evaluate --help)"),
        (["compare", "{data}/calibration.csv", "{data}/test.csv", "--out", "{model}"], "Not a directory"),
        (["inspect", "{tmp}/x.safetensors"], "{no_such_file}"),
        (["dance"], "No such command 'dance'"),
        (["--dance"], "No such option: --dance (see repair --help)"),
    ],
)
def test_bad_input_ends_with_two_and_one_line(repair, data, fitted, tmp_path, no_such_file, arguments, message):
    given = [one.format(tmp=tmp_path, data=data, model=fitted) for one in arguments]
    done = repair(*given)
    assert (done.code, done.out) == (2, "")
    assert len(refusals(done.err)) == 1
    assert message.format(no_such_file=no_such_file) in refusals(done.err)[0]
    assert list(tmp_path.iterdir()) == []


def test_folders_that_may_not_be_written(repair, data, tmp_path, monkeypatch):
    # The tests may be run by root, who may do everything.
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    done = repair("fit", data / "calibration.csv", "-o", tmp_path / "m")
    assert (done.code, done.err) == (2, f"repair: {tmp_path}: Permission denied\n")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (OSError(28, "No space left on device", "m"), 2, "repair: m: No space left on device"),
        (NotFittedError("call fit first"), 2, "repair: call fit first"),
        (MemoryError(), 2, "repair: there is not enough memory"),
        (KeyError("oops"), 3, "repair: unexpected KeyError: 'oops'; this is a bug in repair; --debug shows where"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_what_the_library_raises(repair, data, fitted, tmp_path, monkeypatch, error, code, line):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("repair.io.write_ranking", fail)
    done = repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "r.csv")
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(line)
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named(repair, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = repair("inspect", data / "test.csv")
    assert (done.code, done.out) == (2, "")
    assert "pip install 'repair-rerank[arrow]'" in refusals(done.err)[0]


def test_debug_shows_the_traceback_wherever_it_stands(repair, tmp_path):
    for arguments in (["--debug", "inspect", tmp_path / "x.npz"], ["inspect", tmp_path / "x.npz", "--debug"]):
        done = repair(*arguments)
        assert done.code == 2
        assert "Traceback (most recent call last)" in done.err
        assert done.err.splitlines()[-1].startswith("repair: ")


@pytest.mark.system("file names with line breaks")
def test_a_line_break_in_a_name_does_not_make_two_lines(repair, tmp_path):
    done = repair("inspect", tmp_path / "a\nb.csv")
    assert done.err == f"repair: {tmp_path}/a b.csv: No such file or directory\n"


def test_warnings_are_plain_lines_each_once(repair, data, tmp_path):
    done = repair("fit", data / "calibration.csv", "-o", tmp_path / "m", "--mode", "classwise")
    assert done.code == 0
    warned = [line for line in done.err.splitlines() if line.startswith("warning: ")]
    assert warned == [
        "warning: there is no class table, so the 12 names among candidates and labels are used as classes, sorted"
    ]


@pytest.mark.system("a POSIX shell")
def test_a_reader_who_has_seen_enough(data, fitted):
    program = f"{sys.executable} -c 'from repair.cli import main; main()' inspect {fitted} | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", program], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "kind                  model\n"
    closed = subprocess.run(["bash", "-o", "pipefail", "-c", program.replace("head -n 1", "true")], capture_output=True)
    assert (closed.returncode, closed.stderr) == (0, b"")


@pytest.mark.system("/dev/full")
def test_a_full_disk_behind_standard_output(fitted):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*PROGRAM, "inspect", str(fitted)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "repair: standard output: No space left on device\n")


def test_signs_that_the_terminal_has_not(data, fitted):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*PROGRAM, "explain", str(fitted), str(data / "test.csv"), "--row", "é"], capture_output=True, env=environment
    )
    assert done.returncode == 2
    assert done.stderr.startswith(rb"repair: there is no row '\xe9'")


def test_an_interrupt_that_python_has_wrapped_is_one(monkeypatch, capsys):
    """As it does while it makes a class: RuntimeError, 'Error calling __set_name__ on …'."""

    def wrapped(arguments):
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("repair.cli.runner._run", wrapped)
    assert run(["inspect", "model"]) == 130
    assert capsys.readouterr().err == ""


@pytest.fixture
def rows(tmp_path):
    """A file with so many rows that fitting them takes seconds."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 40, size=20_000)
    scores = rng.normal(size=(20_000, 40)) + 2 * np.eye(40)[labels]
    np.savez(tmp_path / "c.npz", scores=scores, labels=labels)
    return tmp_path / "c.npz"


def press_ctrl_c(start_program, rows, delay):
    """Start a fit, press Ctrl-C some seconds later, and check that it ends as it should."""
    program = "import repair.cli; print('ready', flush=True); repair.cli.main()"
    process = start_program(program, "fit", rows, "-o", rows.with_name("m.safetensors"))
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert out == ""
    assert [path.name for path in rows.parent.iterdir()] == ["c.npz"]


@pytest.mark.parametrize("delay", [0.05, 0.3, 1.0])
def test_ctrl_c_leaves_nothing_behind(start_program, rows, delay):
    press_ctrl_c(start_program, rows, delay)


def test_ctrl_c_is_tested_in_the_background_too(start_program, rows):
    """As under `nohup make test &`, where this process ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        press_ctrl_c(start_program, rows, 0.3)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_ctrl_c_while_writing_leaves_the_old_file(repair, data, fitted, tmp_path, monkeypatch, step):
    (tmp_path / "r.csv").write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupt)
    done = repair("rerank", fitted, data / "test.csv", "-o", tmp_path / "r.csv")
    monkeypatch.undo()
    assert done.code == 130
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]
