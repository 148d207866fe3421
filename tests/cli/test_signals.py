"""Wherever a signal arrives: its exit code, the old output, and no temporary file."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [
    pytest.mark.needs("typer", "pyarrow"),
    pytest.mark.system("POSIX signals"),
]

#: Each program puts `send` somewhere and then runs the command.
SEND = "import os, signal, sys\ndef send(*_, **__): os.kill(os.getpid(), signal.{name})\n"
RUN = "from repair.cli import main; main()\n"

IMPORTING = """
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            send()
sys.meta_path.insert(0, Finder())
"""
MOMENTS = {
    "importing typer": IMPORTING.format(module="typer"),
    "importing numpy": IMPORTING.format(module="numpy"),
    # LLVM calls this hook through ctypes, which prints what it raises and goes on.
    "compiling": "from numba.core.codegen import JITCodeLibrary as library\n"
    "library._object_compiled_hook = classmethod(send)\n",
    "fitting": "import repair.fitting.newton\nrepair.fitting.newton.minimize = send\n",
    "creating": "create = os.open\n"
    "def create_and_send(path, *rest):\n"
    "    handle = create(path, *rest)\n"
    "    if str(path).endswith('.tmp'): send()\n"
    "    return handle\n"
    "os.open = create_and_send\n",
    "syncing": "os.fsync = send\n",
    # Python prints what a finalizer raises and goes on.
    "finalizing": "class Last: __del__ = send\nos.fsync = lambda handle: Last()\n",
    "renaming": "os.replace = send\n",
}

FIT = ("fit", "calibration.npz", "-o", "out", "--mode", "classwise")
RERANK = ("rerank", "model.safetensors", "test.npz", "-o", "out.npz")


@pytest.fixture
def folder(data, fitted, tmp_path):
    for name in ("calibration.npz", "test.npz"):
        shutil.copy(data / name, tmp_path / name)
    shutil.copy(fitted, tmp_path / "model.safetensors")
    for name in ("out", "out.npz"):
        (tmp_path / name).write_text("old")
    return tmp_path


@pytest.fixture
def empty_cache(tmp_path_factory):
    """An environment in which numba has compiled nothing yet."""
    return {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("numba"))}


def check_files(folder, before):
    assert sorted(os.listdir(folder)) == before
    assert (folder / "out").read_bytes() == (folder / "out.npz").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("moment", "name", "command"),
    [
        ("importing typer", "SIGINT", RERANK),
        ("importing numpy", "SIGTERM", RERANK),
        ("compiling", "SIGINT", FIT),
        ("compiling", "SIGTERM", FIT),
        ("fitting", "SIGINT", FIT),
        ("fitting", "SIGTERM", FIT),
        ("creating", "SIGTERM", RERANK),
        ("syncing", "SIGINT", RERANK),
        ("syncing", "SIGTERM", RERANK),
        ("syncing", "SIGHUP", RERANK),
        ("finalizing", "SIGTERM", RERANK),
        ("renaming", "SIGINT", RERANK),
        ("renaming", "SIGTERM", RERANK),
    ],
)
def test_the_exit_code_is_the_signals_and_files_are_whole(start_program, folder, empty_cache, moment, name, command):
    before = sorted(os.listdir(folder))
    environment = empty_cache if moment == "compiling" else None
    process = start_program(SEND.format(name=name) + MOMENTS[moment] + RUN, *command, cwd=folder, env=environment)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 128 + getattr(signal, name), err
    assert "Traceback" not in err
    assert "ignored" not in err
    check_files(folder, before)


@pytest.mark.parametrize("delay", [0.0, 0.4, 1.2])
def test_signals_from_outside_at_any_time(start_program, folder, empty_cache, delay):
    """From the first line of `main` to the compiler, wherever the machine's speed puts these moments."""
    before = sorted(os.listdir(folder))
    ready = "import repair.cli.entry as entry\nopen_streams = entry._open_closed_streams\n"
    ready += "def say(): open_streams(); print('ready', flush=True)\nentry._open_closed_streams = say\n"
    process = start_program(ready + RUN, *FIT, cwd=folder, env=empty_cache)
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143, err
    check_files(folder, before)


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_a_signal_that_was_ignored_stays_ignored(start_program, folder, name):
    """As under nohup, or for a job in the background."""
    ignore = f"signal.signal(signal.{name}, signal.SIG_IGN)\n"
    process = start_program(SEND.format(name=name) + ignore + MOMENTS["syncing"] + RUN, *RERANK, cwd=folder)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert (folder / "out.npz").read_bytes() != b"old"


def test_a_signal_after_the_end_of_the_work_does_not_turn_it_into_a_failure(start_program):
    """While the interpreter unloads its modules, which takes a moment, no handler of ours would run."""
    late = "class Late:\n    __del__ = send\nlate = Late()\n"
    process = start_program(SEND.format(name="SIGTERM") + late + RUN, "--version")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err


def test_the_cleanups_of_a_parent_are_not_for_its_forked_child(start_program, tmp_path):
    (tmp_path / "half").write_text("of the parent")
    program = (
        "import os, signal, sys\n"
        "from repair._utils.signals import at_sudden_end, end_at_signals\n"
        "end_at_signals()\n"
        "with at_sudden_end(lambda: os.unlink(sys.argv[1])):\n"
        "    if (child := os.fork()) == 0:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "sys.exit(code)\n"
    )
    process = start_program(program, tmp_path / "half")
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert (tmp_path / "half").exists()


def test_little_is_imported_before_signals_are_taken_care_of():
    program = (
        "import sys; before = set(sys.modules)\n"
        "from repair.cli.entry import main\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('_')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    ours = {"repair", "repair._utils", "repair._utils.lazy_names", "repair._utils.signals", "repair._utils.version"}
    small = {"atexit", "collections", "contextlib", "enum", "functools", "importlib", "itertools", "keyword"}
    small |= {"operator", "reprlib", "signal", "types", "warnings"}
    imported = {name for name in done.stdout.split() if name.partition(".")[0] not in small}
    assert imported == ours | {"repair.cli", "repair.cli.entry"}


def test_the_command_starts_where_signals_are_taken_care_of(repository):
    import tomllib

    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"repair": "repair.cli.entry:main"}
