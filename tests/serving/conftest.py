"""Servers in processes of their own, on free ports."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from repair import Reranker, ScoreSet, kernels, load

PROGRAM = [sys.executable, "-c", "from repair.cli.entry import main; main()"]
#: Seconds after which something is certainly wrong, on however busy a machine.
PATIENCE = 120
NAMES = ["cat", "dog", "lynx", "wolf", "étoile", "NA", "007", "a b", 'quote"', "null"]
#: Bit patterns are compared, so both sides must add up in the same order.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def wait_until(condition, what):
    """Wait until a function returns something true, and return it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {PATIENCE} seconds for {what}")


@pytest.fixture(autouse=True)
def plain_kernels(monkeypatch):
    """Use the kernels that a fresh server uses.  Those of numba add up float32 in another order."""
    monkeypatch.setattr(kernels, "loaded", None)


@dataclass
class RunningServer:
    """A server process, the model file it serves, and what it has printed."""

    process: subprocess.Popen
    model: Path
    out: Path
    err: Path

    @property
    def url(self):
        return self.out.read_text(encoding="utf-8").split(" on ")[1].strip()

    @property
    def address(self):
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    def request(self, path, body=None, content_type="application/json", **headers):
        """Return status, headers and body of an answer."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and content_type is not None:
            headers["Content-Type"] = content_type
        request = urllib.request.Request(f"{self.url}{path}", data=body, headers=headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=PATIENCE) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def post(self, path, body, content_type="application/json", **headers):
        """Return status and parsed JSON of an answer."""
        status, _, content = self.request(path, body, content_type, **headers)
        return status, json.loads(content)

    def get(self, path):
        status, _, content = self.request(path)
        return status, json.loads(content)

    def metric(self, line):
        """Return the value of a line of the metrics, 0 if it is not there."""
        for text in self.request("/metrics")[2].decode().splitlines():
            name, _, value = text.rpartition(" ")
            if name == line:
                return float(value)
        return 0.0

    def replace_model(self, path):
        """Put another file in the place of the model, as a careful user would, and wait until it is served."""
        temporary = self.model.with_suffix(".new")
        shutil.copy(path, temporary)
        os.replace(temporary, self.model)
        version = version_of(path)
        wait_until(lambda: self.get("/health")[1]["version"] == version, f"version {version}")

    def stop(self):
        """Tell the process to stop, and return its exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE)


def version_of(path):
    from hashlib import sha256

    return sha256(Path(path).read_bytes()).hexdigest()[:16]


@pytest.fixture(scope="module")
def start_server(tmp_path_factory):
    """Start ``repair serve`` on a copy of a model file; end the processes, however the tests end."""
    with ExitStack() as stack:

        def start(model, *options, **environment):
            folder = tmp_path_factory.mktemp("server")
            copy = Path(shutil.copy(model, folder / "model.safetensors"))
            out, err = folder / "out.txt", folder / "err.txt"
            command = [*PROGRAM, "serve", copy, "--port", "0", "--reload-seconds", "0.05", *options]
            streams = [stack.enter_context(open(path, "wb")) for path in (out, err)]
            process = stack.enter_context(
                subprocess.Popen(
                    [str(part) for part in command],
                    stdin=subprocess.DEVNULL,
                    stdout=streams[0],
                    stderr=streams[1],
                    env={**os.environ, **ONE_THREAD, **environment},
                )
            )

            def end():
                with suppress(OSError):
                    process.kill()
                process.wait()
                assert "Traceback" not in err.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")

            stack.callback(end)
            server = RunningServer(process, copy, out, err)
            wait_until(lambda: " on http://" in out.read_text() or process.poll() is not None, "the server")
            assert process.poll() is None, err.read_text()
            return server

        yield start


@pytest.fixture(scope="session")
def rows():
    """Rows of a long-tailed problem with ten named classes."""
    rng = np.random.default_rng(3)
    labels = rng.choice(10, size=300, p=np.arange(10, 0, -1) / 55)
    scores = rng.normal(size=(300, 10)) * 1.3 + 2.0 * np.eye(10)[labels] + np.linspace(1.5, 0, 10)
    return ScoreSet(scores, labels, class_names=NAMES, class_counts=np.arange(100.0, 0.0, -10.0))


@pytest.fixture(scope="session")
def model_files(rows, tmp_path_factory):
    """Two models for the same classes: a pairwise one and a classwise one."""
    folder = tmp_path_factory.mktemp("models")
    paths = {}
    for mode in ("pairwise", "classwise"):
        paths[mode] = folder / f"{mode}.safetensors"
        Reranker(mode, n_candidates=4, lambda_a=0.001, lambda_theta=0.001).fit(rows).save(paths[mode])
    return paths


@pytest.fixture(scope="session")
def model(model_files):
    """The pairwise model, in this process."""
    return load(model_files["pairwise"])


@pytest.fixture(scope="module")
def server(start_server, model_files):
    """A server of the pairwise model, for all tests of a module."""
    return start_server(model_files["pairwise"], "--max-rows", "50", "--max-bytes", "100000")


def assert_same_bits(answer, ranking):
    """Check a JSON answer against a ranking of the library, number by number."""
    real = ranking.ids >= 0
    assert answer["ids"] == [row[which].tolist() for row, which in zip(ranking.ids, real, strict=True)]
    for name in ("scores", "probabilities"):
        expected = [row[which].tolist() for row, which in zip(getattr(ranking, name), real, strict=True)]
        assert answer[name] == expected, name
