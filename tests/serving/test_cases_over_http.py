"""The shared cases, as JSON, Arrow and tensors, against one server whose model file is replaced.

Numbers must be those of the library to the bit.
"""

import io
import json
from functools import cache

import numpy as np
import pytest

from repair import load
from shared_cases import CASES, FOLDER

pytestmark = [
    pytest.mark.needs("typer", "fastapi", "uvicorn", "prometheus_client", "pyarrow"),
    pytest.mark.system("POSIX signals"),
]

ARROW = "application/vnd.apache.arrow.stream"
#: Settings that requests do not have.
NOT_SERVED = {"target_prior", "class_costs"}
DATATYPES = {"float16": "FP16", "float32": "FP32", "float64": "FP64", "int64": "FP64"}
MODELS = sorted(FOLDER.glob("*.safetensors"))


@cache
def model_of(path):
    return load(path)


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

    if case.ids is None:
        columns = {"scores": matrix(case.scores)}
    else:
        kept = case.ids >= 0
        offsets = np.concatenate([[0], kept.sum(axis=1).cumsum()]).astype(np.int32)
        columns = {
            "candidate_ids": pa.ListArray.from_arrays(offsets, case.ids[kept]),
            "candidate_scores": pa.ListArray.from_arrays(offsets, case.scores[kept]),
        }
    if case.embeddings is not None:
        columns["embeddings"] = matrix(case.embeddings)
    table = pa.table(columns)
    if case.settings:
        table = table.replace_schema_metadata({"dial": str(case.settings["dial"])})
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


def matrix(values):
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


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
        if case.settings.keys() & NOT_SERVED:
            status, answer = server.post("/rerank", as_json(case))
            assert status == 422
            assert any(answer["error"].startswith(f"there is no field {name!r}") for name in NOT_SERVED)
            continue
        for name, send in SENDERS.items():
            status, answer = send(server, case)
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
