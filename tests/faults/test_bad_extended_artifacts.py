"""Damaged files of models that have learned from rows: always ArtifactError, never a model."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repair import ArtifactError, ExtendedOptions, Reranker


@pytest.fixture(scope="module")
def good():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, size=120)
    scores = rng.normal(size=(120, 6)) + np.eye(6)[labels]
    vectors = np.eye(6)[labels][:, :3] + rng.normal(size=(120, 3))
    model = Reranker("extended", n_candidates=4, extended=ExtendedOptions(shortlist_tau=0.5))
    return model.fit(scores, labels, class_counts=np.arange(1, 7) * 9, embeddings=vectors)


ARRAYS = ("context.matrix", "head.matrix", "neighbours.vectors", "neighbours.labels", "neighbours.mixture")


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
        ("neighbours.labels", -1, "name a known class for each"),
        ("neighbours.labels", 6, "name a known class for each"),
        ("neighbours.vectors", np.inf, "finite"),
        ("neighbours.vectors", 60000.0, "length 1"),
        ("neighbours.mixture", np.inf, "not finite"),
        ("head.matrix", -np.inf, "'matrix' has a value that is not finite"),
        ("context.matrix", np.inf, "'matrix' has a value that is not finite"),
        ("context.basis", np.nan, "'basis' has a value that is not finite"),
        ("context.landmarks", 9.0, "landmarks must have length 1, or 0"),
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
    with pytest.raises(ArtifactError, match="term 'head': matrix of shape"):
        reload()


@pytest.mark.parametrize("value", [None, "x", [1], {}, True, {"reads": "tea leaves"}, {"rows": 3}])
def test_what_is_said_about_the_context_is_checked(parts, value):
    _, described, reload = parts
    entry = next(one for one in described["terms"] if one["name"] == "context")
    entry["description"] = {**entry["description"], **value} if isinstance(value, dict) and value else value
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("name", ["context.basis", "context.landmarks", "context.matrix"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_arrays_of_the_context_must_fit_together(parts, name, axis):
    arrays, _, reload = parts
    arrays[name] = np.ascontiguousarray(np.delete(arrays[name], 0, axis=axis))
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("where", ["chosen", "used"])
@pytest.mark.parametrize("value", [None, 0.0, 0.7, -0.5, 11, "x", [1], True])
def test_the_tau_of_the_list_is_checked(parts, value, where):
    _, described, reload = parts
    (described["choice"] if where == "chosen" else described)["shortlist_tau"] = value
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


@pytest.mark.parametrize("multiplicity", [2, 0, None, "1"])
def test_learned_terms_stand_for_themselves(parts, multiplicity):
    _, described, reload = parts
    next(one for one in described["terms"] if one["name"] == "head")["multiplicity"] = multiplicity
    with pytest.raises(ArtifactError, match="multiplicity"):
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
        {"rows": 120, "width": 3, "dtype": "float16", "of_candidates": False},
        {"rows": 120, "width": 3, "dtype": "float16", "of_candidates": False, "index": "pickle"},
        {"rows": 119, "width": 3, "dtype": "float16", "of_candidates": False, "index": "exact"},
        {"rows": 120, "width": 3, "dtype": "float16", "of_candidates": False, "index": "exact", "more": 1},
        {"rows": 120, "width": 3, "dtype": "float16", "of_candidates": False, "index": ["exact"]},
        {"rows": 120, "width": 3, "dtype": "float16", "of_candidates": "no", "index": "exact"},
        {
            "rows": 120,
            "width": 3,
            "dtype": "float16",
            "of_candidates": True,
            "index": "exact",
        },  # labels are not in order
    ],
)
def test_what_is_said_about_the_rows_must_be_true(parts, value):
    _, described, reload = parts
    entry = next(one for one in described["terms"] if one["name"] == "neighbours")
    known = {"rows": 120, "width": 3, "dtype": "float16", "index": "exact", "of_candidates": False}
    assert entry["description"] == known
    entry["description"] = value
    with pytest.raises(ArtifactError, match="neighbours"):
        reload()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_flipped_byte_gets_anything_but_a_named_error_or_a_working_model(load_damaged, data):
    model = load_damaged(data)
    if model is not None:
        model.rerank(np.zeros((2, 6)), embeddings=np.ones((2, 3)))
