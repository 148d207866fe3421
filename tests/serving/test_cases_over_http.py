"""The shared cases, as JSON, Arrow and tensors, against one server whose model file is replaced.

Numbers must be those of the library to the bit.
"""

import io
import json
import re

import numpy as np
import pytest

from runtimes import RUNTIMES, arrow_table, matrix, model_of
from shared_cases import CASES, FOLDER

pytestmark = [
    pytest.mark.needs("typer", "fastapi", "uvicorn", "prometheus_client", "pyarrow"),
    pytest.mark.system("POSIX signals"),
]

ARROW = "application/vnd.apache.arrow.stream"
DATATYPES = {"float16": "FP16", "float32": "FP32", "float64": "FP64", "int64": "FP64"}
MODELS = sorted(FOLDER.glob("*.safetensors"))


@pytest.fixture(scope="module")
def server(start_server):
    return start_server(MODELS[0])


def cases_of(path):
    return [case for case in CASES if case.model_path == path]


def with_null(values):
    """Return nested lists in which −Inf and padding are null."""
    return [[None if value == -np.inf else value for value in row] for row in values.astype(np.float64).tolist()]


def as_json(case):
    body = {"scores": with_null(case.scores)}
    if case.ids is not None:
        body = {"candidate_ids": case.ids.tolist(), "candidate_scores": with_null(case.scores)}
    if case.embeddings is not None:
        body["embeddings"] = case.embeddings.tolist()
    return json.dumps({**body, **case.settings}).encode()


def send_json(server, case):
    status, answer = server.post("/rerank", as_json(case))
    if status != 200:
        return status, answer["error"]
    names = ("ids", "scores", "probabilities")
    return status, [padded(answer[name], case, fill) for name, fill in zip(names, (-1, -np.inf, 0.0), strict=True)]


def padded(lists, case, fill):
    filled = np.full(case.expected_ids.shape, fill, dtype=np.float64)
    for row, values in enumerate(lists):
        filled[row, : len(values)] = values
    return filled


def send_arrow(server, case):
    import pyarrow as pa

    table = arrow_table(case)
    if case.embeddings is not None:
        table = table.append_column("embeddings", matrix(case.embeddings))
    if case.settings:
        table = table.replace_schema_metadata({name: str(value) for name, value in case.settings.items()})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    status, headers, content = server.request("/rerank", sink.getvalue(), ARROW)
    if status != 200:
        return status, json.loads(content)["error"]
    assert headers["content-type"] == ARROW
    answer = pa.ipc.open_stream(content).read_all()
    return status, [
        padded(answer.column(name).to_pylist(), case, fill)
        for name, fill in (("ids", -1), ("scores", -np.inf), ("probabilities", 0.0))
    ]


def send_tensors(server, case):
    flat = [value for row in with_null(case.scores) for value in row]
    name = "scores" if case.ids is None else "candidate_scores"
    inputs = [{"name": name, "shape": list(case.scores.shape), "datatype": DATATYPES[case.dtype], "data": flat}]
    if case.ids is not None:
        inputs.append(
            {"name": "candidate_ids", "shape": list(case.ids.shape), "datatype": "INT64", "data": case.ids.tolist()}
        )
    if case.embeddings is not None:
        vectors = case.embeddings
        inputs.append(
            {"name": "embeddings", "shape": list(vectors.shape), "datatype": "FP32", "data": vectors.ravel().tolist()}
        )
    body = {"inputs": inputs, "parameters": dict(case.settings)}
    status, answer = server.post("/v2/models/model/infer", json.dumps(body).encode())
    if status != 200:
        return status, answer["error"]
    tensors = {output["name"]: output for output in answer["outputs"]}
    values = [np.array(tensors[name]["data"], dtype=np.float64) for name in ("ids", "scores", "probabilities")]
    values[1][np.isnan(values[1])] = -np.inf
    return status, [array.reshape(tensors["ids"]["shape"]) for array in values]


SENDERS = {"json": send_json, "arrow": send_arrow, "tensors": send_tensors}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_case_has_the_bits_of_the_library(server, path):
    cases = cases_of(path)
    for module in cases[0].needs:
        pytest.importorskip(module)
    server.replace_model(path)
    checked = 0
    for case in cases:
        why_not = RUNTIMES["HTTP"](case)
        for name, send in SENDERS.items():
            status, answer = send(server, case)
            if why_not is not None:
                assert status == 422, (case, name)
                assert re.search(why_not[0], answer), (case, name, answer)
                continue
            if case.refused is not None:
                assert 400 <= status < 500, (case, name)
                assert answer, (case, name)
                continue
            assert status == 200, (case, name, answer)
            case.check(*answer)
            # JSON numbers are float64.  The other formats keep the type of the scores.
            scores = case.input() if name != "json" or case.ids is not None else case.scores.astype(np.float64)
            expected = model_of(path).rerank(scores, embeddings=case.embeddings, **case.settings)
            for got, wanted in zip(answer, (expected.ids, expected.scores, expected.probabilities), strict=True):
                np.testing.assert_array_equal(got, wanted, err_msg=f"{case} as {name}")
        checked += 1
    assert checked
