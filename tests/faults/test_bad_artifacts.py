"""Damaged, foreign and hostile model files: always ArtifactError, never a model, never a pickle."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as write

from repair import ArtifactError, Reranker, load

FORMAT = "repair-reranker"


@pytest.fixture(scope="module")
def good():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, size=80)
    scores = rng.normal(size=(80, 6)) + np.eye(6)[labels]
    return Reranker("pairwise", n_candidates=4, shrinkage="eb").fit(
        scores,
        labels,
        class_counts=np.arange(1, 7),
        similarity=rng.random((6, 6)),
        class_names=list("abcdef"),
    )


@pytest.mark.parametrize("keep", [0, 4, 8, 100, -1, -100])
def test_truncated_files(good, tmp_path, keep):
    path = tmp_path / "model"
    good.save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ArtifactError, match="not a readable model file"):
        load(path)


def test_foreign_files(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(write({"weight": np.zeros(3)}))
    with pytest.raises(ArtifactError, match="not a repair model"):
        load(path)
    for content in (b"PK\x03\x04 something", b"{}", b"\x00" * 64, b"\xff" * 64):
        path.write_bytes(content)
        with pytest.raises(ArtifactError):
            load(path)


def test_a_missing_file_is_the_systems_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    with pytest.raises((IsADirectoryError, PermissionError)):  # Windows raises the latter
        load(tmp_path)


def test_pickles_are_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a pickle was loaded",)

    path = tmp_path / "model.safetensors"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ArtifactError):
        load(path)


def test_the_source_never_unpickles(repository):
    for source in (repository / "src").rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        assert "pickle.load" not in text, source
        assert "allow_pickle=True" not in text, source


def test_newer_schemas_are_refused_with_a_remedy(parts):
    _, described, reload = parts
    described["schema"] = 3
    with pytest.raises(ArtifactError, match=r"schema 3 is newer than 2.*upgrade repair-rerank"):
        reload()


def test_schemas_that_nobody_released_are_refused_with_a_remedy(parts):
    _, described, reload = parts
    described["schema"] = 1
    with pytest.raises(ArtifactError, match=r"schema 1 .* fit the model again"):
        reload()


VALUES = {"missing": None, "null": None, "negative": -1, "text": "x", "list": [1], "object": {"x": 1}, "half": 2.5,
          "huge": 10**30, "nan": float("nan"), "true": True}  # fmt: skip
FIELDS = ("schema", "method", "parameters", "n_classes", "n_candidates", "tau", "strength", "terms", "similarity",
          "labels_are_names", "summary", "choice", "shortlist_tau", "shrinkage")  # fmt: skip
LEGAL = {("tau", "negative"), ("tau", "half"), ("tau", "huge"), ("shrinkage", "null"), ("labels_are_names", "true")}


@pytest.mark.parametrize(
    ("field", "kind"), [(field, kind) for field in FIELDS for kind in VALUES if (field, kind) not in LEGAL]
)
def test_every_field_is_checked(parts, field, kind):
    _, described, reload = parts
    if kind == "missing":
        del described[field]
    else:
        described[field] = VALUES[kind]
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("field", ["mode", "n_rows", "n_covered", "effective_rows", "iterations", "converged", "notes"])
@pytest.mark.parametrize("kind", ["missing", "null", "object", "nan"])
def test_every_field_of_the_summary_is_checked(parts, field, kind):
    _, described, reload = parts
    if kind == "missing":
        del described["summary"][field]
    else:
        described["summary"][field] = VALUES[kind]
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("parameter", Reranker().get_params())
@pytest.mark.parametrize("kind", ["negative", "text", "object", "nan"])
def test_every_parameter_is_checked(parts, parameter, kind):
    _, described, reload = parts
    if (parameter, kind) in {("tau", "negative"), ("dial", "negative")}:
        return  # odd, but legal
    described["parameters"][parameter] = VALUES[kind]
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "os.system"}, "method is 'os.system', which is not a method of this version"),
        ({"parameters": {"evil": 1}}, "parameters of Reranker cannot be used.*evil"),
        ({"parameters": {"mode": "pairwise"}}, "parameter 'alpha' is missing"),
        ({"n_candidates": 7}, "n_candidates is 7, more than the 6 classes"),
        ({"n_classes": 7}, "not 7|not \\(7, 7\\)|7 names"),
        (
            {"terms": [{"name": "nope", "multiplicity": 1, "description": {}}]},
            "uses the term 'nope', which this version",
        ),
        ({"terms": [{"name": ["x"], "multiplicity": 1, "description": {}}]}, "terms has the entry \\['x'\\], which is"),
        ({"terms": [{"name": "rank_gap", "multiplicity": 2, "description": {}}]}, "multiplicity is 2"),
        ({"terms": [{"name": "rank_gap", "multiplicity": 1, "description": {}}] * 4}, "repeats a name"),
        ({"terms": ["rank_gap"]}, "terms has the entry 'rank_gap'; expected name, multiplicity and description"),
        ({"choice": {"dial": "micro"}}, "choice: dial is 'micro'; pass a number, or 'macro'"),
        ({"choice": {"dial": 1e9}}, "choice: dial is 1000000000.0; it must be a finite number"),
        ({"similarity": "none"}, "needs similarity|unexpected array"),
        ({"similarity": "sparse"}, "array 'similarity.keys' is missing"),
    ],
)
def test_descriptions_that_do_not_fit(parts, change, message):
    _, described, reload = parts
    described.update(change)
    with pytest.raises(ArtifactError, match=message):
        reload()


ARRAYS = ("offsets", "weights", "scale", "label_counts", "calibration_prior", "class_counts", "information",
          "similarity.table", "class_names.utf8", "class_names.ends", "shrinkage.groups", "shrinkage.means",
          "shrinkage.variances", "shrinkage.factors")  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("change", ["missing", "longer", "dtype", "shape", "nan"])
def test_every_array_is_checked(parts, name, change):
    arrays, _, reload = parts
    if change == "missing":
        del arrays[name]
        if name == "information":
            assert len(reload().unseen_classes_) == 0
            return
    elif change == "longer":
        arrays[name] = np.concatenate([arrays[name], arrays[name][-1:]])
    elif change == "dtype":
        arrays[name] = arrays[name].astype(np.float16)
    elif change == "shape":
        arrays[name] = arrays[name][None]
    elif arrays[name].dtype.kind == "f":
        arrays[name] = np.full_like(arrays[name], np.nan)
    else:
        arrays[name] = np.full_like(arrays[name], 99)
    with pytest.raises(ArtifactError):
        reload()


def test_extra_arrays_are_refused(parts):
    arrays, _, reload = parts
    arrays["payload"] = np.zeros(3)
    with pytest.raises(ArtifactError, match="unexpected array 'payload'"):
        reload()


def test_a_prior_of_zero_or_a_negative_variance_is_refused(parts):
    arrays, _, reload = parts
    arrays["calibration_prior"] = np.zeros(6)
    with pytest.raises(ArtifactError, match="calibration_prior must be positive and add up to 1"):
        reload()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_flipped_byte_gets_anything_but_a_named_error_or_a_working_model(load_damaged, data):
    model = load_damaged(data)
    if model is not None:
        model.rerank(np.zeros((2, 6)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("row_level_content", "banana"),
        ("row_level_content", True),
        ("library_version", None),
        ("surprise", 1),
        ("parameters", {}),
        ("tau", 1e308),
        ("tau", 10**400),
        ("method", "Base"),
    ],
)
def test_fields_that_do_not_belong(parts, field, value):
    _, described, reload = parts
    described[field] = value
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("summary", "mode", "zz"),
        ("summary", "effective_rows", -5),
        ("summary", "n_unknown", 10**6),
        ("summary", "surprise", 1),
        ("shrinkage", "kind", "zz"),
        ("parameters", "terms", 5),
        ("parameters", "lambda_a", 10**400),
    ],
)
def test_sections_are_checked_as_strictly(parts, section, field, value):
    _, described, reload = parts
    described[section][field] = value
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("class_counts", np.zeros(6)),
        ("shrinkage.factors", np.full(6, 7.0)),
        ("calibration_prior", np.full(6, 10.0)),
        ("scale", np.zeros(1)),
        ("shrinkage.groups", np.ones(6, dtype=np.int32)),
    ],
)
def test_values_out_of_range_are_refused(parts, name, value):
    arrays, _, reload = parts
    arrays[name] = value
    with pytest.raises(ArtifactError):
        reload()


@pytest.mark.parametrize("keys", [[3, 1], [1, 1], [-1, 2], [0, 36], [0, 2**63 - 1, -5, 10]])
def test_sparse_entries_must_rise_within_the_matrix(parts, keys):
    arrays, described, reload = parts
    described["similarity"] = "sparse"
    del arrays["similarity.table"]
    arrays["similarity.keys"] = np.array(keys, dtype=np.int64)
    arrays["similarity.values"] = np.ones(len(keys))
    with pytest.raises(ArtifactError, match=r"similarity\.keys must increase strictly"):
        reload()


def test_a_description_made_to_fill_the_memory_is_not_parsed(parts, tmp_path):
    arrays, _, _ = parts
    for description in ("[" + "[]," * 400_000 + "[]]", '{"schema": ' + "9" * 5000 + "}", "[" * 100_000):
        path = tmp_path / "hostile"
        path.write_bytes(write(arrays, metadata={FORMAT: description}))
        with pytest.raises(ArtifactError):
            load(path)


@pytest.mark.system("named pipes")
def test_what_is_not_a_file_is_not_waited_for(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArtifactError, match="not a regular file"):
        load(tmp_path / "pipe")
