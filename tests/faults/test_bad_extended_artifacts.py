"""Damaged files of models that have learned from rows: always ArtifactError, never a model."""

import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as read
from safetensors.numpy import save as write

from repair import ArtifactError, Reranker, load

FORMAT = "repair-reranker"


@pytest.fixture(scope="module")
def good():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, size=120)
    scores = rng.normal(size=(120, 6)) + np.eye(6)[labels]
    vectors = np.eye(6)[labels][:, :3] + rng.normal(size=(120, 3))
    model = Reranker(4, "extended", shortlist_tau=0.5)
    return model.fit(scores, labels, class_counts=np.arange(1, 7) * 9, embeddings=vectors)


@pytest.fixture
def parts(good, tmp_path):
    """The file's arrays and description, and a function that writes them back and loads the result."""
    path = tmp_path / "model.safetensors"
    good.save(path)
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    described = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][FORMAT])
    arrays = read(content)

    def reload():
        path.write_bytes(write(arrays, metadata={FORMAT: json.dumps(described)}))
        return load(path)

    reload()
    return arrays, described, reload


ARRAYS = ("context.matrix", "head.matrix", "neighbours.vectors", "neighbours.labels", "neighbours.mixture",
          "list_adjustment")  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("change", ["missing", "longer", "dtype", "shape", "nan", "empty"])
def test_every_array_is_checked(parts, name, change):
    arrays, _, reload = parts
    if change == "missing":
        del arrays[name]
    elif change == "longer":
        arrays[name] = np.concatenate([arrays[name], arrays[name][-1:]])
    elif change == "dtype":
        arrays[name] = arrays[name].astype(np.int64 if name == "neighbours.labels" else np.int32)
    elif change == "shape":
        arrays[name] = arrays[name][None]
    elif change == "empty":
        arrays[name] = arrays[name][:0]
    elif arrays[name].dtype.kind == "f":
        arrays[name][..., -1] = np.nan
    else:
        arrays[name][-1] = 6
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("neighbours.labels", -1, "name a class for each"),
        ("neighbours.labels", 6, "name a class for each"),
        ("neighbours.vectors", np.inf, "finite"),
        ("neighbours.vectors", 60000.0, "of length 1"),
        ("neighbours.mixture", np.inf, "not finite"),
        ("head.matrix", -np.inf, "finite row for each class"),
        ("context.matrix", np.inf, "finite numbers"),
        ("context.basis", np.nan, "finite numbers"),
        ("context.landmarks", 9.0, "of length 1, or 0"),
        ("list_adjustment", 3.0, "not what shortlist_tau and class_counts give"),
    ],
)
def test_values_out_of_range_are_refused(parts, name, value, message):
    arrays, _, reload = parts
    arrays[name].flat[0] = value
    with pytest.raises(ArtifactError, match=message):
        reload()


def test_vectors_and_head_must_be_of_one_width(parts):
    arrays, _, reload = parts
    arrays["head.matrix"] = np.ascontiguousarray(arrays["head.matrix"][:, 1:])
    with pytest.raises(ArtifactError, match="embeddings of different widths"):
        reload()
    arrays["head.matrix"] = np.ascontiguousarray(arrays["head.matrix"][:, :1])
    with pytest.raises(ArtifactError, match=r"head\.matrix of shape"):
        reload()


@pytest.mark.parametrize("value", [None, "x", [1], {}, True, {"reads": "tea leaves"}, {"rows": 3}])
def test_what_is_said_about_the_context_is_checked(parts, value):
    _, described, reload = parts
    described["context"] = {**described["context"], **value} if isinstance(value, dict) and value else value
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("name", ["context.basis", "context.landmarks", "context.matrix"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_arrays_of_the_context_must_fit_together(parts, name, axis):
    arrays, _, reload = parts
    arrays[name] = np.ascontiguousarray(np.delete(arrays[name], 0, axis=axis))
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("value", [None, 0.0, 0.7, -0.5, 11, "x", [1], True])
def test_the_tau_of_the_list_is_checked(parts, value):
    _, described, reload = parts
    described["account"]["chosen"]["shortlist_tau"] = value
    with pytest.raises(ArtifactError, match="shortlist_tau"):
        reload()


def test_a_list_without_counts_is_refused(parts):
    arrays, _, reload = parts
    del arrays["class_counts"]
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("kept", ["context", "neighbours", "head"])
def test_a_term_without_its_arrays_and_arrays_without_their_term_are_refused(parts, kept):
    _, described, reload = parts
    described["terms"] = [one for one in described["terms"] if one["name"] != kept]
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("copies", [2, 0, None, "1"])
def test_learned_terms_stand_for_themselves(parts, copies):
    _, described, reload = parts
    next(one for one in described["terms"] if one["name"] == "head")["copies"] = copies
    with pytest.raises(ArtifactError, match="copies"):
        reload()


def test_a_file_that_hides_its_rows_is_refused(parts):
    _, described, reload = parts
    assert described["row_level_content"] is True
    described["row_level_content"] = False
    with pytest.raises(ArtifactError, match="row_level_content is False"):
        reload()


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        5,
        {"rows": 120, "width": 3, "dtype": "float16"},
        {"rows": 120, "width": 3, "dtype": "float16", "index": "pickle"},
        {"rows": 119, "width": 3, "dtype": "float16", "index": "exact"},
        {"rows": 120, "width": 3, "dtype": "float16", "index": "exact", "more": 1},
        {"rows": 120, "width": 3, "dtype": "float16", "index": ["exact"]},
    ],
)
def test_what_is_said_about_the_rows_must_be_true(parts, value):
    _, described, reload = parts
    assert described["neighbours"] == {"rows": 120, "width": 3, "dtype": "float16", "index": "exact"}
    described["neighbours"] = value
    with pytest.raises(ArtifactError, match="neighbours"):
        reload()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_flipped_byte_gets_anything_but_a_named_error_or_a_working_model(good, tmp_path, data):
    path = tmp_path / "model"
    good.save(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    try:
        model = load(path)
    except ArtifactError:
        return
    model.rerank(np.zeros((2, 6)), embeddings=np.ones((2, 3)))
