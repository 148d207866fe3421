"""Fifty clients at the same time: every answer is complete and right, also while the model or the server changes."""

import http.client
import json
import os
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from repair import load

from .conftest import PATIENCE, assert_same_bits, version_of, wait_until

pytestmark = [
    pytest.mark.needs("typer", "fastapi", "uvicorn", "prometheus_client", "pyarrow"),
    pytest.mark.system("POSIX signals"),
]

CLIENTS = 50
#: Answers to wait for: a few seconds' worth, and ten times as many in `make test EXTRAS=all`.
ANSWERS = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 1_000
ROWS = 20
ANSWERED = 'repair_requests_total{route="/rerank",status="200"}'


@dataclass
class Load:
    """Clients that send requests until told to stop, and what they got."""

    server: object
    bodies: list
    answers: list = field(default_factory=list)  # (row, answer), appended by all threads
    losses: list = field(default_factory=list)
    refused: int = 0
    stopping: bool = False

    def client(self, number):
        """Send requests, every other client over one connection and the others over a new one per request."""
        keeps, connection = number % 2 == 0, None
        for turn in range(10**9):
            if self.stopping:
                break
            row = (number * 7 + turn) % len(self.bodies)
            if connection is None:
                connection = http.client.HTTPConnection(*self.server.address, timeout=PATIENCE)
                try:
                    connection.connect()
                except ConnectionRefusedError:  # the server no longer listens, and says so
                    self.refused += 1
                    break
            try:
                connection.request("POST", "/rerank", self.bodies[row], {"Content-Type": "application/json"})
                response = connection.getresponse()
                content = response.read()
            except Exception as error:
                self.losses.append(repr(error))
                break
            if response.status != 200:
                self.losses.append((response.status, content))
                break
            self.answers.append((row, json.loads(content)))
            if response.getheader("connection") == "close" or not keeps:
                connection.close()
                connection = None
        if connection is not None:
            connection.close()

    def __enter__(self):
        self.pool = ThreadPoolExecutor(CLIENTS)
        self.clients = [self.pool.submit(self.client, number) for number in range(CLIENTS)]
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.pool.shutdown()
        for client in self.clients:
            client.result()

    def wait(self, answers):
        """Wait until this many more answers have come."""
        goal = len(self.answers) + answers
        while (before := len(self.answers)) < goal and not self.losses:
            wait_until(lambda: len(self.answers) > before or self.losses, "another answer")
        assert self.losses == []


@pytest.fixture
def bodies(rows):
    return [json.dumps({"scores": [row.tolist()]}).encode() for row in rows.scores[:ROWS]]


@pytest.fixture
def check(rows, model_files):
    """Check answers against the library, with the model that each of them names."""
    rankings = {
        version_of(path): [load(path).rerank(rows.scores[[row]]) for row in range(ROWS)]
        for path in model_files.values()
    }

    def check_all(answers):
        for row, answer in answers:
            assert_same_bits(answer, rankings[answer["model"]["version"]][row])

    return check_all


def test_nothing_fails_under_load(start_server, model_files, bodies, check):
    server = start_server(model_files["pairwise"])
    with Load(server, bodies) as load_:
        load_.wait(ANSWERS)
        assert server.get("/health")[0] == 200
    assert load_.losses == []
    check(load_.answers)
    assert server.metric(ANSWERED) == server.metric("repair_rows_total") == len(load_.answers)
    assert server.metric("repair_requests_aborted_total") == 0


def test_replacing_the_model_loses_nothing(start_server, model_files, bodies, check):
    server = start_server(model_files["pairwise"])
    with Load(server, bodies) as load_:
        for name in ("classwise", "pairwise", "classwise"):
            load_.wait(ANSWERS // 8)
            server.replace_model(model_files[name])
        server.model.with_suffix(".bad").write_bytes(b"damaged")
        os.replace(server.model.with_suffix(".bad"), server.model)
        wait_until(lambda: server.get("/health")[1]["reload_error"], "the report of the damaged file")
        load_.wait(ANSWERS // 8)
    assert load_.losses == []
    check(load_.answers)
    versions = [answer["model"]["version"] for _, answer in load_.answers]
    assert set(versions) == {version_of(model_files[name]) for name in ("pairwise", "classwise")}
    assert versions[-1] == version_of(model_files["classwise"])
    assert server.metric(ANSWERED) == len(load_.answers)
    assert server.metric('repair_reloads_total{outcome="loaded"}') == 3
    assert server.metric('repair_reloads_total{outcome="failed"}') == 1
    assert server.metric("repair_reload_failing") == 1
    assert server.get("/health")[0] == 200
    assert "the changed model file is not used: " in server.err.read_text()


def test_telling_the_server_to_stop_loses_nothing(start_server, model_files, bodies, check):
    server = start_server(model_files["pairwise"])
    with Load(server, bodies) as load_:
        load_.wait(ANSWERS // 4)
        server.process.terminate()
        wait_until(lambda: load_.refused == CLIENTS or load_.losses, "all clients to be refused")
    assert load_.losses == []
    check(load_.answers)
    assert server.process.wait(PATIENCE) == 0
    assert server.err.read_text().splitlines()[-1].endswith(f"stopped after {len(load_.answers)} reranking requests")


def test_a_request_in_progress_is_finished(start_server, model_files, rows, model):
    """The body arrives in two parts, and the server is told to stop between them."""
    server = start_server(model_files["pairwise"], "--drain-seconds", "0")
    body = json.dumps({"scores": rows.scores[:5].tolist()}).encode()
    connection = http.client.HTTPConnection(*server.address, timeout=PATIENCE)
    connection.putrequest("POST", "/rerank")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body[:50])
    wait_until(lambda: server.metric("repair_requests_in_progress") == 2, "the request")
    server.process.terminate()
    wait_until(lambda: is_refused(server), "the end of listening")
    connection.send(body[50:])
    response = connection.getresponse()
    assert (response.status, response.getheader("connection")) == (200, "close")
    assert_same_bits(json.loads(response.read()), model.rerank(rows.scores[:5]))
    assert server.process.wait(PATIENCE) == 0


def is_refused(server):
    connection = http.client.HTTPConnection(*server.address, timeout=PATIENCE)
    try:
        connection.connect()
    except ConnectionRefusedError:
        return True
    finally:
        connection.close()
    return False


def test_a_stopping_server_is_live_but_not_ready(start_server, model_files):
    server = start_server(model_files["pairwise"], "--drain-seconds", "60")
    assert server.get("/health/ready")[0] == 200
    server.process.terminate()
    wait_until(lambda: server.get("/health")[0] == 503, "the change")
    assert server.get("/health")[1]["ready"] is False
    for path in ("/health/ready", "/v2/health/ready", "/v2/models/model/ready"):
        assert server.get(path)[0] == 503
    assert server.get("/health/live")[0] == server.get("/v2/health/live")[0] == 200
    assert server.metric("repair_ready") == 0
    server.process.send_signal(2)  # Ctrl-C does not wait for the end of the drain
    assert server.process.wait(PATIENCE) == 0


def test_a_client_that_never_finishes_does_not_stop_the_end(start_server, model_files):
    server = start_server(model_files["pairwise"], "--drain-seconds", "0", "--grace-seconds", "1")
    connection = http.client.HTTPConnection(*server.address, timeout=PATIENCE)
    connection.putrequest("POST", "/rerank")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "100")
    connection.endheaders(b"{")
    assert server.stop() == 0
    connection.close()


def test_a_hang_up_loads_the_model_at_once(start_server, model_files):
    import signal

    server = start_server(model_files["pairwise"], "--reload-seconds", "0")
    shutil.copy(model_files["classwise"], server.model)
    time.sleep(0.3)
    assert server.get("/health")[1]["version"] == version_of(model_files["pairwise"])
    server.process.send_signal(signal.SIGHUP)
    version = version_of(model_files["classwise"])
    wait_until(lambda: server.get("/health")[1]["version"] == version, "the new model")
    assert server.process.poll() is None


def test_requests_of_many_threads_in_this_process(model_files, rows, model):
    """The application under a server of one's own: no part of it depends on `repair serve`."""
    import asyncio

    import httpx

    from repair.serving import build_app

    async def all_at_once():
        transport = httpx.ASGITransport(build_app(model_files["pairwise"]))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            requests = [client.post("/rerank", json={"scores": [row.tolist()]}) for row in rows.scores[:30]]
            return [response.json() for response in await asyncio.gather(*requests)]

    before = threading.active_count()
    with ThreadPoolExecutor(1) as own_thread:  # a browser test in this process may have left an event loop running
        answers = own_thread.submit(lambda: asyncio.run(all_at_once())).result()
    for row, answer in enumerate(answers):
        assert_same_bits(answer, model.rerank(rows.scores[[row]]))
    assert threading.active_count() <= before + 8
