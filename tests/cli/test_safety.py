"""Inputs are never lost, nothing stays behind, and exit codes mean what they say."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.needs("typer", "pyarrow")


@pytest.fixture
def copies(data, fitted, tmp_path):
    for name in ("calibration.csv", "test.csv", "classes.csv"):
        shutil.copy(data / name, tmp_path / name)
    shutil.copy(fitted, tmp_path / "model.safetensors")
    return tmp_path


@pytest.mark.system("symbolic links")
def test_an_input_is_never_overwritten(repair, copies):
    calibration, test, classes, model = (
        copies / name for name in ("calibration.csv", "test.csv", "classes.csv", "model.safetensors")
    )
    os.link(test, copies / "same.csv")
    os.symlink(test, copies / "link.csv")
    before = {path.name: path.read_bytes() for path in copies.iterdir()}
    commands = [
        ("fit", calibration, "-o", calibration, "--mode", "base"),
        ("fit", calibration, "--classes", classes, "-o", classes, "--mode", "base"),
        ("rerank", model, test, "-o", test),
        ("rerank", model, test, "-o", copies / "same.csv"),
        ("rerank", model, test, "-o", copies / "link.csv"),
        ("rerank", model, test, "-o", copies / "sub" / ".." / "test.csv"),
    ]
    (copies / "sub").mkdir()
    for command in commands:
        done = repair(*command)
        assert done.code == 2
        assert "is an input of this command and would be overwritten" in done.err
    (copies / "sub").rmdir()
    assert {path.name: path.read_bytes() for path in copies.iterdir()} == before


def test_a_comparison_does_not_overwrite_its_inputs(repair, copies):
    (copies / "test.csv").rename(copies / "comparison.csv")
    before = (copies / "comparison.csv").read_bytes()
    done = repair(
        "compare", copies / "calibration.csv", copies / "comparison.csv", "--out", copies, "--methods", "base"
    )
    assert done.code == 2
    assert "comparison.csv is an input" in done.err
    assert (copies / "comparison.csv").read_bytes() == before


@pytest.mark.system("named pipes")
def test_a_pipe_is_not_replaced_by_a_file(repair, copies):
    os.mkfifo(copies / "pipe")
    done = repair("fit", copies / "calibration.csv", "-o", copies / "pipe", "--mode", "base")
    assert done.code == 2
    assert "not a regular file" in done.err
    assert not (copies / "pipe").is_file()


def test_an_empty_group_is_refused(repair, copies):
    lines = (copies / "calibration.csv").read_text(encoding="utf-8").splitlines()
    header = lines[0].split(",")
    place = header.index("group") if "group" in header else len(header)
    first = lines[3].split(",")
    first[place] = ""
    lines[3] = ",".join(first)
    (copies / "calibration.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = repair("inspect", copies / "calibration.csv")
    assert done.code == 2
    assert "group" in done.err


def test_what_published_fixes_cannot_be_chosen(repair, copies):
    out = ("-o", copies / "m.safetensors")
    done = repair("fit", copies / "calibration.csv", *out, "--mode", "published", "--tuning", "cv")
    assert done.code == 2
    assert "drop --tuning, or use --mode pairwise" in done.err


def test_an_id_that_two_rows_have_is_refused_by_explain(repair, copies, names):
    line = ",".join(["a", *map(str, range(len(names)))])
    (copies / "wide.csv").write_text("\n".join([",".join(["id", *names]), line, line, ""]), encoding="utf-8")
    done = repair("explain", copies / "model.safetensors", copies / "wide.csv", "--row", "a")
    assert done.code == 2
    assert "2 rows have the id 'a'" in done.err


@pytest.mark.system("a POSIX shell")
@pytest.mark.parametrize(
    ("redirection", "arguments", "code"),
    [
        (">&-", "--help", 0),
        (">&-", "inspect test.csv", 0),
        ("2>&-", "inspect nowhere.csv", 2),
        pytest.param("2>/dev/full", "inspect nowhere.csv", 2, marks=pytest.mark.system("/dev/full")),
        ("| true", "fit --help", 0),
    ],
)
def test_closed_and_full_streams_keep_the_exit_code(copies, redirection, arguments, code):
    command = f'"{sys.executable}" -c "import repair.cli; repair.cli.main()" {arguments} {redirection}'
    tail = "; exit ${PIPESTATUS[0]}" if redirection.startswith("|") else ""
    done = subprocess.run(["bash", "-c", command + tail], cwd=copies, capture_output=True, text=True)
    assert done.returncode == code, done.stderr


def test_signals_are_left_alone_inside_other_programs(repair):
    before = signal.getsignal(signal.SIGTERM)
    repair("--version")
    assert signal.getsignal(signal.SIGTERM) is before
