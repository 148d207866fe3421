"""Fixtures, and the closing account of what was skipped and why."""

import os
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from repair import ScoreSet, Shortlist

# Random examples per property: few while developing, many in `make test EXTRAS=all` (see the Makefile).  Tests set no
# number of their own, and no deadline, because a busy machine may take any time.
settings.register_profile("quick", max_examples=15, deadline=None)
settings.register_profile("thorough", max_examples=150, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

#: Modules that cannot be imported without an optional library, so their examples are not collected without it.
collect_ignore = [
    f"src/repair/export/{name}.py"
    for library, names in {
        "torch": ("torch_module", "torch_ops"),
        "onnx": ("onnx_append", "onnx_graph", "onnx_ops"),
    }.items()
    for name in names
    if find_spec(library) is None
]

POSIX = os.name == "posix"

#: Features that some systems lack, and whether this one has them.  Tests name them with `pytest.mark.system`.
SYSTEM_FEATURES = {
    "POSIX signals": hasattr(signal, "SIGHUP"),
    "file modes": POSIX,
    "symbolic links": POSIX,  # on Windows, only administrators and developers may create them
    "file names with line breaks": POSIX,
    "renaming onto an open file": POSIX,
    "syncing a folder": POSIX,
    "named pipes": hasattr(os, "mkfifo"),
    "forking with threads": sys.platform.startswith("linux"),  # macOS has it, but its own libraries may crash
    "pseudo-terminals": hasattr(os, "openpty"),
    "a POSIX shell": POSIX and shutil.which("bash") is not None,  # Windows may have a bash that runs in WSL
    "/dev/full": os.path.exists("/dev/full"),
    "/proc": os.path.exists("/proc/self/task"),
    "Linux capabilities": sys.platform.startswith("linux"),
}

#: Runs a command with the signals as a terminal leaves them.  Tests in the background (`nohup make test &`) ignore
#: Ctrl-C and hang-ups, and every process they start would inherit that.  On Windows, which has no SIGHUP, `execv` would
#: start a second process instead of replacing the first one.
WITH_DEFAULT_SIGNALS = """
import os, signal, sys
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        for module in mark.args:
            if find_spec(module) is None:
                pytest.skip(f"needs {module}, which is not installed (make test EXTRAS=all)")
    for mark in item.iter_markers("system"):
        for feature in mark.args:
            if not SYSTEM_FEATURES[feature]:
                pytest.skip(f"needs {feature}, which this system does not have")


def pytest_terminal_summary(terminalreporter):
    reasons = defaultdict(list)
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")].append(report.nodeid)
    terminalreporter.section("skipped tests")
    if not reasons:
        terminalreporter.write_line("0 skipped")
    for reason, names in sorted(reasons.items()):
        terminalreporter.write_line(f"{len(names)} skipped: {reason}")
        for name in names:
            terminalreporter.write_line(f"    {name}")


@dataclass
class Problem:
    """A random labelled problem with a head that pushes the tail down."""

    scores: np.ndarray
    labels: np.ndarray
    class_counts: np.ndarray
    similarity: np.ndarray
    k: int

    @property
    def optional_fields(self):
        return {"class_counts": self.class_counts, "similarity": self.similarity}


@pytest.fixture
def make_problem():
    def make(n=300, n_classes=20, k=6, seed=0, ragged=False):
        rng = np.random.default_rng(seed)
        counts = np.round(500 / np.arange(1, n_classes + 1) ** 1.2) + 1
        labels = rng.choice(n_classes, size=n, p=counts / counts.sum())
        scores = rng.normal(size=(n, n_classes)) + 0.5 * np.log(counts)
        scores[np.arange(n), labels] += 1.5
        if ragged:
            scores[rng.random(scores.shape) < 0.75] = -np.inf
            scores[:, 0] = np.where(np.isinf(scores).all(axis=1), 0.0, scores[:, 0])
        similarity = rng.random((n_classes, n_classes))
        return Problem(scores, labels, counts, similarity, k)

    return make


@pytest.fixture(scope="session")
def make_vectors():
    """Vectors that tell the label: one centre a class, and noise around it."""

    def make(labels, width=8, noise=0.5, seed=0, n_classes=20):
        centres = np.random.default_rng(99).normal(size=(n_classes, width))
        return centres[labels] + noise * np.random.default_rng(seed).normal(size=(len(labels), width))

    return make


@pytest.fixture
def problem(make_problem):
    return make_problem()


@pytest.fixture
def make_shortlist():
    def make(n=50, n_classes=12, k=5, seed=0, ragged=True):
        rng = np.random.default_rng(seed)
        ids = np.array([rng.permutation(n_classes)[:k] for _ in range(n)])
        scores = rng.normal(size=(n, k)) * 3
        if ragged:
            lengths = rng.integers(1, k + 1, size=n)
            ids[np.arange(k) >= lengths[:, None]] = -1
        return Shortlist.from_candidates(ids, scores, n_classes)

    return make


@pytest.fixture
def start_program():
    """Start Python programs that signals reach; end and reap them, however the test ends."""
    if not SYSTEM_FEATURES["POSIX signals"]:
        pytest.skip("needs POSIX signals, which this system does not have")
    launcher = [sys.executable, "-I", "-S", "-c", WITH_DEFAULT_SIGNALS]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with ExitStack() as stack:

        def start(program, *arguments, **options):
            command = [sys.executable, "-c", program, *map(str, arguments)]
            process = stack.enter_context(subprocess.Popen([*launcher, *command], **{**pipes, **options}))
            stack.callback(process.kill)
            return process

        yield start


@pytest.fixture
def repair(capsys, monkeypatch):
    """Run a command; return its exit code, standard output and standard error."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        from repair.cli import run as run_command

        capsys.readouterr()
        code = run_command([str(one) for one in arguments])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


@pytest.fixture(scope="session")
def repository():
    return Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def shared_data(repository):
    """Find a public data set by its path in the data folder; skip, by name, where it is not there."""
    folder = Path(os.environ.get("REPAIR_DATA") or repository.parent / "shared" / "data")

    def find(name):
        if not (folder / name).exists():
            pytest.skip(f"needs the data set {name} (in ../shared/data, or in the folder that REPAIR_DATA names)")
        return folder / name

    return find


@pytest.fixture(scope="session")
def rare_disease_demo(tmp_path_factory):
    """Run the demonstration once, as ``repair demo`` does: what it prints, and the folder it writes."""
    from repair.demo import run_rare_disease

    folder = tmp_path_factory.mktemp("demo")
    return list(run_rare_disease(0, folder)), folder


@dataclass(frozen=True, eq=False)
class World:
    """Draws rows of 8 classes with embeddings of 6 numbers.

    The best possible scores are known, so a flaw can be planted in the scores of the base.
    """

    rng: np.random.Generator
    centres: np.ndarray
    signal: float

    def rows(self, n, flaw=lambda z, x, y: z, classes=8, **known):
        y = self.rng.integers(0, classes, size=n)
        z = self.rng.normal(size=(n, 8)) + self.signal * np.eye(8)[y]
        x = self.centres[y] + 0.35 * self.rng.normal(size=(n, 6))
        return ScoreSet(flaw(z * self.signal, x, y), y, embeddings=x, **known)


@pytest.fixture
def world():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(8, 6))
    return World(rng, centres / np.linalg.norm(centres, axis=1, keepdims=True), 2.0)


@pytest.fixture
def accuracy():
    def measure(model, rows):
        best = model.rerank(rows.scores, embeddings=rows.embeddings).best
        return float((best == rows.labels).mean())

    return measure


@pytest.fixture
def base_accuracy():
    return lambda rows: float((np.asarray(rows.scores).argmax(axis=1) == rows.labels).mean())
