"""Clients that are wrong, hostile or slow get an answer of ours with status 4xx, and the server keeps working."""

import io
import json
import re
import socket
import struct
import time
from pathlib import Path

import numpy as np
import pytest

from repair import Base, ScoreSet

from .conftest import PATIENCE, wait_until

pytestmark = [
    pytest.mark.needs("typer", "fastapi", "uvicorn", "prometheus_client", "pyarrow"),
    pytest.mark.system("POSIX signals"),
]

ARROW = "application/vnd.apache.arrow.stream"
GOOD = {"candidate_ids": [[3, 0, 5]], "candidate_scores": [[1.5, 2.5, 0.25]]}
HEADER = b"POST /rerank HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def impatient(start_server, model_files):
    """A server for slow clients.  Other tests must not fail because this machine is busy."""
    return start_server(model_files["pairwise"], "--body-seconds", "1")


@pytest.fixture(autouse=True)
def still_works(server):
    """Whatever a test sent: the server answers the next client."""
    yield
    assert server.post("/rerank", GOOD)[0] == 200
    assert server.metric('repair_requests_total{route="/rerank",status="500"}') == 0


BAD_JSON = [
    (b"", 400, "the body is not JSON (EOF while parsing"),
    (b"{", 400, "the body is not JSON (EOF while parsing"),
    (b'{"scores": [[1.0]]} trailing', 400, "the body is not JSON (trailing characters"),
    (b'{"candidates": [["caf\xe9"]], "candidate_scores": [[1.0]]}', 400, "the body is not JSON (invalid unicode"),
    (b'{"candidates": [["\\ud800"]], "candidate_scores": [[1.0]]}', 400, "the body is not JSON (unexpected end of hex"),
    (b"\xff\xfe{\x00}\x00", 400, "the body is not JSON (expected value"),
    (b"[" * 50_000, 400, "the body is not JSON (recursion limit exceeded"),
    (b'{"scores": ' + b"[" * 40_000 + b"]" * 40_000 + b"}", 400, "the body is not JSON (recursion limit exceeded"),
    (b'{"a":' * 15_000 + b"1" + b"}" * 15_000, 400, "the body is not JSON (recursion limit exceeded"),
    (b"null", 422, "the body: input should be an object"),
    (b"[]", 422, "the body: input should be an object"),
    (b'"text"', 422, "the body: input should be an object"),
    (b'{"scores": [[NaN, 1]]}', 422, "scores[0][0]: input should be a finite number, got nan"),
    (b'{"scores": [[1, -Infinity]]}', 422, "scores[0][1]: input should be a finite number, got -inf"),
    (b'{"scores": [[1, 1e999]]}', 422, "scores[0][1]: input should be a finite number, got inf"),
    (b'{"scores": [[1, ' + b"9" * 5000 + b"]]}", 400, "the body is not JSON (number out of range"),
]


@pytest.mark.parametrize(("body", "status", "message"), BAD_JSON, ids=range(len(BAD_JSON)))
def test_bodies_that_are_not_what_they_claim(server, body, status, message):
    got, answer = server.post("/rerank", body)
    assert (got, list(answer)) == (status, ["error"])
    assert answer["error"].startswith(message)
    assert len(answer["error"]) < 300


TEN = [0.5] * 10
BAD_FIELDS = [
    ({}, "send either 'scores' of all classes, or candidates with 'candidate_scores'"),
    ({**GOOD, "scores": [TEN]}, "send either 'scores' of all classes, or candidates with 'candidate_scores'"),
    ({"scores": [TEN], "candidates": [["cat"]]}, "'scores' are of all classes; send the scores of candidates as"),
    ({"candidate_scores": [[1.0]]}, "send the candidates either as names ('candidates') or as ids"),
    ({**GOOD, "candidates": [["cat"]]}, "send the candidates either as names ('candidates') or as ids"),
    ({**GOOD, "class_names": ["cat"]}, "'class_names' are the columns of 'scores'"),
    ({**GOOD, "top": 3}, "there is no field 'top'; the fields are scores, class_names, candidates"),
    ({"scores": []}, "scores has no rows; send at least one"),
    ({"scores": [[]]}, "scores has 0 column"),
    ({"scores": [[0.5] * 9]}, "scores are over 9 classes, but the model was fitted for 10"),
    ({"scores": [TEN, [0.5] * 9]}, "scores[1] has 9 numbers, but scores[0] has 10"),
    ({"scores": [["0.5"] * 10]}, "scores[0][0]: input should be a valid number, got '0.5'"),
    ({"scores": [[True] * 10]}, "scores[0][0]: input should be a valid number, got True"),
    ({"scores": TEN}, "scores[0]: input should be a valid array, got 0.5"),
    ({"scores": {"0": TEN}}, "scores: input should be a valid array"),
    ({"scores": [[1e300] * 10]}, "scores[0, 0] is 1e+300, beyond ±1e+30"),
    ({"scores": [TEN], "class_names": ["cat"]}, "class_names has 1 names, but scores have 10 columns"),
    ({"scores": [TEN], "class_names": ["cat"] * 10}, "class_names has 'cat' twice"),
    ({"scores": [[*TEN, 1.0]], "class_names": ["cat"] * 11}, "class_names has 'cat' twice"),
    ({"scores": [TEN[:2]], "class_names": ["cat", "dog"]}, "class_names lacks 'lynx'; send a score for every class"),
    ({"scores": [TEN], "class_names": ["?"] * 10}, "'?' is not one of the 10 classes"),
    ({"candidate_ids": [[1, 1]], "candidate_scores": [[1, 2]]}, "row 0 lists class 1 twice"),
    ({"candidate_ids": [[1, 10]], "candidate_scores": [[1, 2]]}, "candidate ids[0, 1] is 10; ids run from 0 to 9"),
    ({"candidate_ids": [[2**40]], "candidate_scores": [[1]]}, "candidate_ids[0][0]: input should be less than"),
    ({"candidate_ids": [[-2]], "candidate_scores": [[1]]}, "candidate_ids[0][0]: input should be greater than"),
    ({"candidate_ids": [[1.5]], "candidate_scores": [[1]]}, "candidate_ids[0][0]: input should be a valid integer"),
    ({"candidate_ids": [[1, 2]], "candidate_scores": [[1]]}, "row 0 has 2 candidates, but 1 scores"),
    ({"candidate_ids": [[1]], "candidate_scores": [[1], [2]]}, "there are candidates of 1 rows, but scores of 2"),
    ({"candidate_ids": [], "candidate_scores": []}, "there are no candidates"),
    ({"candidate_ids": [[], []], "candidate_scores": [[], []]}, "there are no candidates"),
    ({"candidates": [["cat"], ["Cat"]], "candidate_scores": [[1], [2]]}, "row 1: 'Cat' is not one of the 10 classes"),
    ({"candidates": [[3]], "candidate_scores": [[1]]}, "candidates[0][0]: input should be a valid string, got 3"),
    ({**GOOD, "dial": "most"}, "dial"),
    ({**GOOD, "dial": 1e9}, "dial is 1000000000.0; it must be a finite number of at least -100 and at most 100"),
    ({**GOOD, "embeddings": [["x"]]}, "embeddings[0][0]: input should be a valid number, got 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), BAD_FIELDS, ids=range(len(BAD_FIELDS)))
def test_fields_that_cannot_be_used(server, body, message):
    status, answer = server.post("/rerank", body)
    assert status == 422
    assert answer["error"].startswith(message)
    assert len(answer["error"]) < 300


def tensor(name="candidate_scores", shape=(1, 3), datatype="FP64", data=(1.0, 2.0, 3.0), **more):
    return {"name": name, "shape": list(shape), "datatype": datatype, "data": list(data), **more}


BAD_TENSORS = [
    ([], "send either the input 'scores', or 'candidate_scores' with"),
    ([tensor()], "send either the input 'scores', or 'candidate_scores' with"),
    ([tensor("logits")], "there is no input 'logits'; the inputs are scores, candidate_ids"),
    ([tensor("scores"), tensor("scores")], "two inputs have the same name"),
    ([tensor("scores", shape=(3,))], "scores has shape [3]; send at least one row, as [rows, columns]"),
    ([tensor("scores", shape=(0, 10), data=())], "scores has shape [0, 10]; send at least one row"),
    ([tensor("scores", shape=(2, 10))], "scores has 3 entries, but its shape [2, 10] needs 20"),
    ([tensor("scores", data=[[1.0, 2.0], [3.0]])], "scores has other rows than its shape [1, 3] says"),
    ([tensor("scores", datatype="BOOL")], "scores has datatype 'BOOL'; send one of FP16, FP32, FP64"),
    ([tensor("scores", data=(1.0, "2", 3.0))], "scores: entry 1 is '2'; send numbers"),
    ([tensor("scores", shape=(1, 10), datatype="FP16", data=[1e30] * 10)], "scores has a number too large for FP16"),
    ([tensor("candidate_ids", datatype="INT8", data=(1, 2, 300)), tensor()], "candidate_ids has a number too large"),
    ([tensor("candidate_ids", datatype="INT32", data=(1, 2.5, 3)), tensor()], "candidate_ids: entry 1 is '2.5'; send"),
    ([tensor("candidate_ids", datatype="INT32", data=(1, 2, 99)), tensor()], "candidate ids[0, 2] is 99"),
    ([tensor("candidates", data=("cat", "dog", "lynx")), tensor()], "candidates has datatype 'FP64'; send BYTES"),
    ([tensor("candidates", datatype="BYTES", data=("cat", "dog", "?")), tensor()], "row 0: '?' is not one of"),
    (
        [tensor("candidate_ids", (1, 2), "INT32", (1, 2)), tensor()],
        "the candidates have shape [1, 2], but candidate_scores [1, 3]",
    ),
    ([tensor("scores", shape=(1, 2, 3))], "inputs[0].shape: list should have at most 2 items"),
    ([tensor(f"x{number}") for number in range(9)], "inputs: list should have at most 5 items"),
]


@pytest.mark.parametrize(("inputs", "message"), BAD_TENSORS, ids=range(len(BAD_TENSORS)))
def test_tensors_that_cannot_be_used(server, inputs, message):
    status, answer = server.post("/v2/models/model/infer", {"inputs": inputs})
    assert status == 422
    assert answer["error"].startswith(message)
    unknown = {"inputs": [], "outputs": [{"name": "logits"}]}
    assert server.post("/v2/models/model/infer", unknown)[1]["error"].startswith("there is no output 'logits'")


def arrow_stream(**columns):
    import pyarrow as pa

    sink, table = io.BytesIO(), pa.table(columns)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def bad_arrow_bodies():
    import pyarrow as pa

    good = {"candidate_ids": [[1, 2]], "candidate_scores": [[1.0, 2.0]]}
    whole = arrow_stream(**good)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    view = pa.array([[1.0]], pa.list_view(pa.float64()))
    yield "empty", b"", 400, "not a readable arrow file"
    yield "cut", whole[: len(whole) // 2], 400, "not a readable arrow file"
    yield "json", json.dumps(GOOD).encode(), 400, "not a readable arrow file"
    yield "huge length", b"\xff\xff\xff\xff" + struct.pack("<i", 2**31 - 1) + b"x" * 100, 400, "not a readable arrow"
    yield "bomb", compressed_zeros(), 400, "1400 bytes decompress to 32000000, but the limit is 400000"
    yield "other column", arrow_stream(**good, label=["cat"]), 422, "the column 'label' is unknown or there twice"
    yield "no rows", arrow_stream(scores=pa.array([], pa.list_(pa.float64()))), 422, "there are no rows"
    yield "no lists", arrow_stream(scores=[1.0]), 422, "scores has type double; send lists"
    yield "views", arrow_stream(scores=view), 422, "scores has type list_view"
    yield "missing list", arrow_stream(scores=pa.array([None, [1.0]])), 422, "scores has a missing list"
    yield "texts", arrow_stream(scores=[["a"] * 10]), 422, "scores has entries of type string; send numbers"
    yield "uneven", arrow_stream(scores=[TEN, [1.0]]), 422, "scores has 1 numbers in row 1, but 10 in row 0"
    yield "NaN", arrow_stream(scores=[[np.nan] * 10]), 422, "scores[0, 0] is nan"
    yield "twice", arrow_stream(**{**good, "candidate_ids": [[1, 1]]}), 422, "row 0 lists class 1 twice"
    yield "lengths", arrow_stream(**{**good, "candidate_ids": [[1]]}), 422, "row 0 has 1 candidates, but 2 scores"
    yield "both", arrow_stream(**good, scores=[TEN]), 422, "send either 'scores' of all classes, or 'candidate_scores'"
    names = {"candidates": [["cat"], ["?"]], "candidate_scores": [[1.0], [1.0]]}
    yield "unknown name", arrow_stream(**names), 422, "row 1: '?' is not one of the 10 classes"
    missing = {"candidates": [["cat", None]], "candidate_scores": [[1.0, 1.0]]}
    yield "missing name", arrow_stream(**missing), 422, "candidates have a missing name"
    numbers = {"candidates": [[1.5]], "candidate_scores": [[1.0]]}
    yield "names that are numbers", arrow_stream(**numbers), 422, "candidates have type double; send class names"


def compressed_zeros():
    """Return a small body that unpacks to many megabytes."""
    import pyarrow as pa

    table = pa.table({"scores": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(4_000_000)), 10)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    assert len(sink.getvalue()) < 100_000
    return sink.getvalue()


def test_arrow_bodies_that_cannot_be_used(server):
    for name, body, status, message in bad_arrow_bodies():
        got, answer = server.post("/rerank", body, ARROW)
        assert got == status, (name, answer)
        assert answer["error"].startswith(message), name


def test_arrow_bodies_with_flipped_bytes(server):
    whole = arrow_stream(candidates=[["cat", "dog"], ["NA"]], candidate_scores=[[1.0, 2.0], [0.5]])
    rng = np.random.default_rng(0)
    for place in rng.permutation(len(whole))[:150]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        status, _, content = server.request("/rerank", bytes(damaged), ARROW)
        assert status in (200, 400, 413, 422), (place, content)
        if status != 200:
            assert list(json.loads(content)) == ["error"]


def test_types_of_bodies(server):
    body = json.dumps(GOOD).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/octet-stream", "json", "\x7f"):
        status, answer = server.post("/rerank", body, kind)
        assert status == 415
        assert answer["error"].endswith(f"send application/json or {ARROW}")
    assert server.post("/v2/models/model/infer", body, ARROW)[0] == 415
    status, answer = server.post("/rerank", body, Content_Encoding="gzip")
    assert (status, answer["error"]) == (415, "the body has a Content-Encoding; send it without compression")
    assert server.post("/rerank", body, "Application/JSON; charset=utf-8")[0] == 200


def test_too_many_rows_and_bytes(server):
    row = GOOD["candidate_ids"][0], GOOD["candidate_scores"][0]
    many = {"candidate_ids": [row[0]] * 51, "candidate_scores": [row[1]] * 51}
    status, answer = server.post("/rerank", many)
    assert (status, answer["error"]) == (413, "the request has 51 rows, but the limit is 50; send fewer rows")
    for size in (100_001, 150_000):
        status, answer = server.post("/rerank", b" " * size)
        assert (status, answer["error"]) == (413, "the body is larger than 100000 bytes; send fewer rows per request")
    long = {"candidate_ids": [[0]] * 49 + [[-1] * 5000], "candidate_scores": [[0]] * 49 + [[0] * 5000]}
    status, answer = server.post("/rerank", long)
    assert status == 413
    assert answer["error"].startswith("50 rows with up to 5000 entries are more than 50000 numbers")


def exchange(server, *parts, pause=0.0):
    """Send bytes over a connection of its own, and return everything that comes back until it is closed."""
    with socket.create_connection(server.address, timeout=PATIENCE) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    return answer


def status_and_error(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


def test_a_gigantic_content_length_is_refused_before_the_body(server):
    for length in (b"1000000000000000", b"9" * 18):
        answer = exchange(server, HEADER + b"Content-Length: " + length + b"\r\n\r\n")
        assert status_and_error(answer) == (413, "the body is larger than 100000 bytes; send fewer rows per request")


def test_an_endless_chunked_body_is_refused(server):
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    answer = exchange(server, HEADER + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 7)
    assert status_and_error(answer)[0] == 413


def test_a_body_that_never_arrives_is_given_up(impatient):
    answer = exchange(impatient, HEADER + b"Content-Length: 100\r\n\r\n{")
    assert status_and_error(answer) == (408, "the body did not arrive within 1 seconds; send it faster")


def test_headers_that_never_arrive_are_given_up(impatient):
    for start in (b"", b"POST /rer", HEADER):
        began = time.monotonic()
        answer = exchange(impatient, start)
        assert time.monotonic() - began > 0.7
        assert status_and_error(answer) == (408, "the header did not arrive within 1 seconds; send it faster")


def test_a_header_that_comes_byte_by_byte_is_given_up(impatient):
    with socket.create_connection(impatient.address, timeout=PATIENCE) as connection:
        for byte in HEADER:
            try:
                connection.sendall(bytes([byte]))
            except OSError:  # the server has closed the connection
                return
            time.sleep(0.05)
    raise AssertionError("the whole header was accepted")


def test_a_client_that_does_not_read_its_answer_is_cut_off(start_server, tmp_path):
    """The answer has 20 MB, of which the system buffers some."""
    names = [str(number) * 500 for number in range(4)]
    Base(4).fit(ScoreSet(4.0 * np.eye(4), np.arange(4), class_names=names)).save(tmp_path / "long.safetensors")
    server = start_server(tmp_path / "long.safetensors", "--body-seconds", "2", "--max-connections", "2")
    body = json.dumps({"candidate_ids": [[0, 1, 2, 3]] * 10_000, "candidate_scores": [[4, 3, 2, 1]] * 10_000}).encode()
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect(server.address)
        connection.sendall(HEADER + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
        assert server.request("/health")[0] == 503  # this one would be the second connection
        wait_until(lambda: server.request("/health")[0] == 200, "the end of the connection that nobody reads")


def test_memory_for_hostile_bodies_is_bounded(start_server, model_files):
    """Bodies of the largest size, made of what takes the most memory when it is parsed."""
    server = start_server(model_files["pairwise"], "--max-bytes", "2000000")
    many = 2_000_000
    fields = b"".join(b',"%x":1' % number for number in range(many // 12))
    bodies = {
        "unknown fields": b'{"a":1' + fields + b"}",
        "unknown fields of a tensor": b'{"inputs":[{"x":1' + fields + b"}]}",
        "wrong entries": b'{"scores":[[' + b",".join([b'""'] * (many // 4)) + b"]]}",
        "wrong rows": b'{"scores":[' + b",".join([b"1"] * (many // 3)) + b"]}",
        "short rows": b'{"scores":[' + b",".join([b"[1]"] * (many // 5)) + b"]}",
        "one row": b'{"scores":[[' + b",".join([b"1"] * (many // 3)) + b"]]}",
        "one name": b'{"candidates":[["' + b"x" * (many - 100) + b'"]],"candidate_scores":[[1]]}',
        "many names": b'{"class_names":[' + b",".join([b'"cat"'] * (many // 7)) + b'],"scores":[[1,2]]}',
    }
    for name, body in bodies.items():
        path = "/v2/models/model/infer" if "tensor" in name else "/rerank"
        status, answer = server.post(path, body)
        assert status in (413, 422), (name, answer)
        assert len(answer["error"]) < 1_100
    if (status := Path(f"/proc/{server.process.pid}/status")).exists():
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) * 1024
        assert peak < 400e6


@pytest.mark.parametrize(
    "start",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100),
        b"nonsense\r\n\r\n",
        HEADER + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        HEADER + b"Content-Length: -1\r\n\r\n",
        HEADER + b"Content-Length: many\r\n\r\n",
        b"POST /rerank HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 66_000,
    ],
)
def test_what_is_not_http_is_refused(server, start):
    status, message = status_and_error(exchange(server, start))
    assert (status, message) == (400, "Invalid HTTP request received; check the request line and the headers")


def test_a_client_that_leaves_in_the_middle_is_counted(server):
    before = server.metric("repair_requests_aborted_total")
    with socket.create_connection(server.address, timeout=PATIENCE) as connection:
        connection.sendall(HEADER + b"Content-Length: 1000\r\n\r\n{")
        time.sleep(0.2)
    end = time.monotonic() + PATIENCE
    while server.metric("repair_requests_aborted_total") == before:
        assert time.monotonic() < end


def test_unknown_paths_and_methods(server):
    status, answer = server.get("/" + "x" * 5000)
    assert (status, answer["error"]) == (404, "there is nothing at this path; /openapi.json lists the paths")
    status, answer = server.get("/rerank")
    assert status == 405
    assert "GET is not possible here" in answer["error"]
    assert server.get("/v2/models/%2e%2e%2fetc/ready")[0] == 404
    assert server.request("/rerank?x=" + "y" * 1000, json.dumps(GOOD).encode())[0] == 200


def test_more_connections_than_allowed(start_server, model_files):
    server = start_server(model_files["pairwise"], "--max-connections", "5")
    held = [socket.create_connection(server.address, timeout=PATIENCE) for _ in range(5)]
    try:
        assert server.request("/health")[0] == 503
    finally:
        for connection in held:
            connection.close()
    end = time.monotonic() + PATIENCE
    while server.request("/health")[0] != 200:
        assert time.monotonic() < end
