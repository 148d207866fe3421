"""What a client sends and gets, in every form that a request can have."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repair import Reranker, Shortlist, kernels, load

from .conftest import NAMES, assert_same_bits, version_of

pytestmark = [
    pytest.mark.needs("typer", "fastapi", "uvicorn", "prometheus_client", "pyarrow"),
    pytest.mark.system("POSIX signals"),
]

ARROW = "application/vnd.apache.arrow.stream"
LISTS = {"candidates": [["wolf", "cat", "NA"], ["étoile"]], "candidate_scores": [[1.5, 2.5, 0.25], [0.125]]}
IDS = {"candidate_ids": [[3, 0, 5], [4]], "candidate_scores": LISTS["candidate_scores"]}


@pytest.fixture
def ranking(model):
    return model.rerank(Shortlist.from_candidates(IDS["candidate_ids"], IDS["candidate_scores"], 10))


def arrow_stream(metadata=None, **columns):
    import pyarrow as pa

    table = pa.table(columns).replace_schema_metadata(metadata)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def read_arrow(content):
    import pyarrow as pa

    return pa.ipc.open_stream(content).read_all()


def test_names_and_ids_of_lists_of_unequal_length(server, model_files, ranking):
    for body in (LISTS, IDS):
        status, answer = server.post("/rerank", body)
        assert status == 200
        assert_same_bits(answer, ranking)
        assert answer["names"] == [[NAMES[i] for i in row] for row in answer["ids"]]
        assert answer["model"] == {"name": "model", "version": version_of(model_files["pairwise"])}
        assert answer["warnings"] == []


def test_scores_of_all_classes_in_the_models_order_and_by_name(server, model, rows):
    scores = rows.scores[:20]
    _, answer = server.post("/rerank", {"scores": scores.tolist()})
    assert_same_bits(answer, model.rerank(scores))
    order = np.random.default_rng(0).permutation(10)
    body = {"scores": scores[:, order].tolist(), "class_names": [NAMES[i] for i in order]}
    _, answer = server.post("/rerank", body)
    assert_same_bits(answer, model.rerank(scores))


def test_null_means_not_a_candidate(server, model):
    row = [None, 1.0, None, 0.5, None, None, None, None, None, None]
    _, answer = server.post("/rerank", {"scores": [row]})
    assert_same_bits(answer, model.rerank([[-np.inf if score is None else score for score in row]]))
    assert sorted(answer["ids"][0]) == [1, 3]
    _, answer = server.post("/rerank", {"candidate_ids": [[1, 2], [3]], "candidate_scores": [[1.0, None], [None]]})
    assert answer["ids"] == [[1], []]


def test_the_dial_is_that_of_python(server, model, rows):
    for dial in (0.5, "macro"):
        _, answer = server.post("/rerank", {"scores": rows.scores[:5].tolist(), "dial": dial})
        assert_same_bits(answer, model.rerank(rows.scores[:5], dial=dial))


def test_arrow_with_names_plain_and_as_a_dictionary(server, ranking):
    import pyarrow as pa

    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        names = pa.array(["wolf", "cat", "NA", "étoile"]).cast(kind)
        columns = {
            "candidates": pa.ListArray.from_arrays([0, 3, 4], names),
            "candidate_scores": pa.array(LISTS["candidate_scores"], pa.large_list(pa.float64())),
        }
        status, headers, content = server.request("/rerank", arrow_stream(**columns), ARROW)
        assert (status, headers["content-type"]) == (200, ARROW)
        table = read_arrow(content)
        assert_same_bits({name: table.column(name).to_pylist() for name in ("ids", "scores", "probabilities")}, ranking)
        assert table.column("names").to_pylist()[1] == ["étoile"]
        assert json.loads(table.schema.metadata[b"warnings"]) == []


def test_arrow_with_a_dial_in_several_batches_and_with_missing_scores(server, model):
    import pyarrow as pa

    scores = pa.chunked_array([[[1.0, None] + [0.0] * 8], [[0.5] * 10]], pa.list_(pa.float32()))
    _, _, content = server.request("/rerank", arrow_stream({"dial": "0.5"}, scores=scores), ARROW)
    expected = np.array([[1.0, -np.inf] + [0.0] * 8, [0.5] * 10], dtype=np.float32)
    table = read_arrow(content)
    answer = {name: table.column(name).to_pylist() for name in ("ids", "scores", "probabilities")}
    assert_same_bits(answer, model.rerank(expected, dial=0.5))


@pytest.mark.parametrize(
    ("accept", "expected"),
    [(ARROW, ARROW), ("text/html, */*", "application/json"), (f"{ARROW};q=1, application/json", ARROW)],
)
def test_the_client_chooses_the_format_of_the_answer(server, ranking, accept, expected):
    status, headers, content = server.request("/rerank", json.dumps(IDS).encode(), Accept=accept)
    assert (status, headers["content-type"]) == (200, expected)
    if expected == ARROW:
        assert read_arrow(content).column("ids").to_pylist() == [row[row >= 0].tolist() for row in ranking.ids]


def test_tensors_with_names_and_chosen_outputs(server, ranking):
    names = ["wolf", "cat", "NA", "étoile", "", ""]
    scores = [[1.5, 2.5, 0.25], [0.125, 0, 0]]
    body = {
        "id": "q7",
        "inputs": [
            {"name": "candidates", "shape": [2, 3], "datatype": "BYTES", "data": names},
            {"name": "candidate_scores", "shape": [2, 3], "datatype": "FP64", "data": scores},
        ],
        "outputs": [{"name": "names"}, {"name": "probabilities"}],
    }
    status, answer = server.post("/v2/models/model/infer", body)
    assert status == 200
    assert answer["id"] == "q7"
    names, probabilities = answer["outputs"]
    assert (names["name"], names["datatype"], names["shape"]) == ("names", "BYTES", [2, 3])
    assert names["data"] == ranking.names.ravel().tolist()
    assert probabilities["data"] == ranking.probabilities.ravel().tolist()


def test_the_open_inference_protocol_describes_the_model(server):
    assert server.get("/v2")[1]["name"] == "repair"
    assert server.get("/v2/health/live") == (200, {"live": True})
    assert server.get("/v2/health/ready") == (200, {"ready": True})
    assert server.get("/v2/models/model/ready") == (200, {"ready": True})
    _, described = server.get("/v2/models/model")
    assert [tensor["name"] for tensor in described["inputs"]] == [
        "scores", "candidate_ids", "candidates", "candidate_scores"
    ]  # fmt: skip
    assert described["inputs"][0]["shape"] == [-1, 10]
    for path in ("/v2/models/other", "/v2/models/other/ready"):
        assert server.get(path) == (404, {"error": "there is no model 'other'; this server has 'model'"})


def test_the_model_is_described_with_its_classes_in_order(server, model):
    _, described = server.get("/model")
    assert described["class_names"] == NAMES
    assert (described["mode"], described["n_classes"], described["n_candidates"]) == ("pairwise", 10, 4)
    assert (described["needs_all_scores"], described["embedding_width"]) == (False, None)
    assert described["limits"] == {"max_rows": 50, "max_bytes": 100000}


def test_warnings_are_in_the_answer_and_not_in_the_log(start_server, rows, tmp_path):
    logs = rows.scores - np.log(np.exp(rows.scores).sum(axis=1, keepdims=True))
    Reranker("classwise", n_candidates=4).fit(logs, rows.labels, class_names=NAMES).save(tmp_path / "logs.safetensors")
    server = start_server(tmp_path / "logs.safetensors")
    shares = np.exp(logs[:3])
    _, answer = server.post("/rerank", {"scores": shares.tolist()})
    assert [text.split(",")[0] for text in answer["warnings"]] == [
        "the scores look like probabilities (between 0 and 1)"
    ]
    tensor = {"name": "scores", "shape": [3, 10], "datatype": "FP64", "data": shares.ravel().tolist()}
    _, tensors = server.post("/v2/models/model/infer", {"inputs": [tensor]})
    assert tensors["parameters"]["warnings"] == answer["warnings"][0]
    assert server.metric("repair_warnings_total") == 2
    server.stop()
    assert "probabilities" not in server.err.read_text()


def test_models_that_read_embeddings_and_all_scores(start_server, rows, make_vectors, tmp_path, monkeypatch):
    vectors = make_vectors(np.asarray(rows.labels), n_classes=10)
    path = tmp_path / "extended.safetensors"
    Reranker("extended", n_candidates=3).fit(
        rows.scores, rows.labels, embeddings=vectors, class_names=NAMES, class_counts=rows.class_counts
    ).save(path)
    monkeypatch.setattr(kernels, "loaded", None)  # the fit has loaded those of numba
    server = start_server(path)
    _, described = server.get("/model")
    assert (described["needs_all_scores"], described["embedding_width"]) == (True, 8)
    body = {"scores": rows.scores[:3].tolist(), "embeddings": vectors[:3].tolist()}
    assert_same_bits(
        server.post("/rerank", body)[1], load(path).rerank(rows.scores[:3], embeddings=np.array(body["embeddings"]))
    )
    status, answer = server.post("/rerank", {"scores": body["scores"]})
    assert (status, answer["error"]) == (
        422, "this model reads embeddings of 8 numbers per row; add the field 'embeddings' with one vector per row"
    )  # fmt: skip
    status, answer = server.post("/rerank", {**IDS, "embeddings": vectors[:2].tolist()})
    assert status == 422
    assert answer["error"].endswith("send 'scores' of all classes instead of candidates")
    assert [tensor["name"] for tensor in server.get("/v2/models/model")[1]["inputs"]] == ["scores", "embeddings"]


def test_metrics_count_requests_rows_and_errors(server):
    ok, bad = (f'repair_requests_total{{route="/rerank",status="{status}"}}' for status in (200, 422))
    before = [server.metric(name) for name in (ok, bad, "repair_rows_total")]
    server.post("/rerank", LISTS)
    server.post("/rerank", {"candidates": [["nobody"]], "candidate_scores": [[1.0]]})
    server.request("/nowhere/at/all")
    assert [server.metric(name) for name in (ok, bad, "repair_rows_total")] == [
        before[0] + 1, before[1] + 1, before[2] + 2
    ]  # fmt: skip
    assert server.metric('repair_requests_total{route="other",status="404"}') >= 1
    assert server.metric("repair_requests_in_progress") == 1  # this one
    from prometheus_client.parser import text_string_to_metric_families

    families = text_string_to_metric_families(server.request("/metrics")[2].decode())
    assert {"repair_requests", "repair_request_seconds", "repair_reload_failing"} <= {one.name for one in families}


def test_nothing_is_loaded_from_elsewhere(server):
    for path in ("/docs", "/redoc"):
        assert server.request(path)[0] == 404


@given(st.lists(st.floats(-1e29, 1e29), min_size=10, max_size=10))
def test_numbers_keep_their_bits_on_the_way(floats):
    """The parser and the writer of JSON round to the nearest float, as Python does."""
    from repair.serving.json_bodies import RerankRequest, json_bytes, parse_json

    body = json_bytes({"scores": [floats]})
    assert body == json.dumps({"scores": [floats]}, separators=(",", ":")).encode()
    read = parse_json(body, RerankRequest).scores[0]
    assert np.array(read).tobytes() == np.array(floats).tobytes()
