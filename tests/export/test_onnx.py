"""The ONNX graph against the shared cases, in onnxruntime, and what a file tells about itself."""

from functools import cache

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx, which is not installed (make test EXTRAS=all)")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, which is not installed")

from repair import ArtifactError, InputError, Reranker, Shortlist  # noqa: E402
from repair.export import to_onnx, verify_onnx  # noqa: E402
from repair.export.names import GOLDEN, LOGITS, RANKED  # noqa: E402
from runtimes import (  # noqa: E402
    RUNTIMES,
    accepted,
    arguments,
    check_case,
    inputs_of,
    model_of,
    refused,
    representative,
    settings_of,
    spread,
)  # fmt: skip
from sessions import hashable, session_of  # noqa: E402

EXPORTED = accepted("ONNX")


def dtype_of(case):
    return "float64" if case.dtype == "int64" else case.dtype


@cache
def exported(path, inputs, dtype, settings, **options):
    return session_of(to_onnx(model_of(path), inputs=inputs, dtype=dtype, **dict(settings), **options))


def run(case, **options):
    """Return the outputs of a case by name."""
    session = exported(case.model_path, inputs_of(case), dtype_of(case), hashable(settings_of(case)), **options)
    given = dict(zip((entry.name for entry in session.get_inputs()), arguments(case), strict=True))
    given["scores"] = given["scores"].astype(dtype_of(case))
    return dict(zip((entry.name for entry in session.get_outputs()), session.run(None, given), strict=True))


@pytest.mark.parametrize("case", EXPORTED, ids=str)
def test_the_graph_in_onnxruntime(case):
    ranked = run(case)
    check_case(case, *(ranked[name] for name in RANKED), tolerance=case.tolerance)


@pytest.mark.parametrize("case", representative(EXPORTED), ids=str)
def test_float32(case):
    ranked = run(case, precision="float32")
    assert ranked[RANKED[1]].dtype == np.float32
    check_case(case, *(ranked[name] for name in RANKED), tolerance=1e-5)


@pytest.mark.parametrize("case", refused("ONNX"), ids=str)
def test_what_cannot_be_exported_is_refused_by_name(case):
    with pytest.raises(InputError, match=RUNTIMES["ONNX"](case)[0]):
        to_onnx(model_of(case.model_path))


@pytest.mark.parametrize("case", representative(EXPORTED), ids=str)
def test_adjusted_logits(case):
    logits = run(case, outputs="logits")[LOGITS]
    expected = spread(case.expected_ids, case.expected_scores, case.n_classes)
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_array_equal(np.isneginf(logits), np.isneginf(expected))
    np.testing.assert_allclose(logits, expected, rtol=0, atol=case.tolerance * largest)


@pytest.mark.parametrize("opset", [13, 17, 21, 23])
@pytest.mark.parametrize("name", ["pairwise_tau/ties", "extended_embeddings/plain"])
def test_older_and_newer_operators(name, opset):
    case = next(case for case in EXPORTED if case.name == name)
    ranked = run(case, opset=opset)
    check_case(case, *(ranked[name] for name in RANKED), tolerance=case.tolerance)


def test_only_standard_operators_are_used(model):
    made = to_onnx(model)
    assert [(entry.domain, entry.version) for entry in made.opset_import] == [("", 18)]
    assert {node.domain for node in made.graph.node} == {""}
    assert not made.functions


@pytest.fixture
def model(problem):
    return Reranker("pairwise", n_candidates=5).fit(problem.scores, problem.labels, **problem.optional_fields)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_that_the_library_refuses_are_no_candidates(model, problem, dtype):
    bad, clean = problem.scores[:6].astype(dtype), problem.scores[:6].astype(dtype)
    for row, value in enumerate((np.nan, np.inf, 2e30, -2e30)):
        place = int(np.argsort(-clean[row])[row])
        bad[row, place], clean[row, place] = value, -np.inf
    expected = model.rerank(clean)
    ids, scores, probabilities = session_of(to_onnx(model, dtype=dtype)).run(None, {"scores": bad})
    np.testing.assert_array_equal(ids, expected.ids)
    np.testing.assert_array_equal(scores, expected.scores)
    np.testing.assert_allclose(probabilities, expected.probabilities, atol=1e-12)


def test_unusable_candidates_are_left_out(model):
    ids = np.array([[3, 20, -5, 3, 7, 1]])
    given = np.array([[1.0, 9.0, 9.0, 0.5, np.nan, 2.0]], dtype=np.float32)
    returned, _, _ = session_of(to_onnx(model, inputs="candidates")).run(None, {"ids": ids, "scores": given})
    expected = model.rerank(Shortlist.from_candidates([[3, 1]], [[1.0, 2.0]], 20))
    assert returned.tolist() == [[*expected.ids[0].tolist(), -1, -1, -1, -1]]


def test_a_batch_without_rows(model):
    empty = session_of(to_onnx(model)).run(None, {"scores": np.zeros((0, 20), dtype=np.float32)})
    assert [part.shape for part in empty] == [(0, 5)] * 3


def test_many_ties_at_the_cut_are_broken_by_class_id():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, size=(200, 300)).astype(np.float32)
    model = Reranker("classwise", n_candidates=20).fit(scores, rng.integers(0, 300, size=200))
    ids, _, _ = session_of(to_onnx(model)).run(None, {"scores": scores})
    np.testing.assert_array_equal(ids, model.rerank(scores).ids)


def test_a_hundred_thousand_classes():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(60, 100_000)).astype(np.float32), rng.integers(0, 50, size=60)
    scores[np.arange(60), labels] += 8.0
    model = Reranker("classwise", n_candidates=10).fit(scores, labels)
    ids, _, _ = session_of(to_onnx(model)).run(None, {"scores": scores[:5]})
    np.testing.assert_array_equal(ids, model.rerank(scores[:5]).ids)


def test_a_similarity_of_a_hundred_thousand_classes_is_refused():
    from scipy.sparse import identity

    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(60, 100_000)).astype(np.float32), rng.integers(0, 50, size=60)
    scores[np.arange(60), labels] += 8.0
    model = Reranker("pairwise", n_candidates=10, terms=("score_gap", "similarity"))
    model.fit(scores, labels, similarity=identity(100_000, format="csr"))
    with pytest.raises(InputError, match="'similarity' cannot be exported: the matrix of 100000 classes"):
        to_onnx(model)


def test_a_similarity_function_is_refused(problem):
    model = Reranker("pairwise", n_candidates=5)
    model.fit(problem.scores, problem.labels, similarity=lambda left, right: (left == right) * 1.0)
    with pytest.raises(InputError, match="'similarity' cannot be exported, because the similarity is a function"):
        to_onnx(model)


def test_a_term_of_ones_own_is_refused_by_name(problem):
    from dataclasses import dataclass, replace

    from repair.terms import Term

    @dataclass(frozen=True)
    class Own(Term):
        name: str = "own"

        def column(self, view):
            return view.scores

    model = Reranker("pairwise", n_candidates=5, terms=("score_gap",)).fit(problem.scores, problem.labels)
    changed = replace(model.state, correction=replace(model.state.correction, terms=(Own(),)))
    with pytest.raises(InputError, match=r"the term 'own' \(Own\) has no formula for exports"):
        to_onnx(model.with_state(changed))


def test_terms_that_read_all_scores_refuse_candidates():
    case = next(case for case in EXPORTED if case.name == "extended_context/plain")
    with pytest.raises(InputError, match="the term 'context' reads the scores of all classes"):
        to_onnx(model_of(case.model_path), inputs="candidates")


def test_a_rival_is_refused(problem):
    from repair.rerankers.methods import make_method

    rival = make_method("vector_scaling", 5).fit(problem.scores, problem.labels)
    with pytest.raises(InputError, match="VectorScaling cannot be exported"):
        to_onnx(rival)


@pytest.mark.parametrize(
    "options", [{}, {"outputs": "logits"}, {"precision": "float32"}, {"dial": 0.5, "strength": 0.5}]
)
@pytest.mark.parametrize("inputs", ["scores", "candidates"])
def test_a_file_is_verified(model, tmp_path, options, inputs):
    to_onnx(model, tmp_path / "model.onnx", inputs=inputs, **options)
    verified = verify_onnx(tmp_path / "model.onnx")
    assert verified.passed
    assert verified.rows == 8
    assert not verified.appended


def test_a_changed_file_fails_the_verification(model, tmp_path):
    path = tmp_path / "model.onnx"
    made = to_onnx(model, path)
    for tensor in made.graph.initializer:
        if tensor.name == "repair_offsets":
            offsets = onnx.numpy_helper.to_array(tensor).copy()
            offsets[3] += 1e-3
            tensor.CopyFrom(onnx.numpy_helper.from_array(offsets, tensor.name))
    path.write_bytes(made.SerializeToString())
    verified = verify_onnx(path)
    assert not verified.passed
    assert verified.largest_score_difference == pytest.approx(1e-3, rel=0.1)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda made: made.metadata_props.pop(), "it was not written by repair export"),
        (lambda made: setattr(made.metadata_props[1], "value", "!"), "the golden batch of this file is damaged"),
        (lambda made: setattr(made.metadata_props[1], "value", "AAAA"), "the golden batch of this file is damaged"),
        (lambda made: setattr(made.metadata_props[0], "value", "{}"), "the metadata of .* is damaged"),
    ],
)
def test_damaged_metadata_are_refused(model, tmp_path, spoil, message):
    made = to_onnx(model)
    assert [entry.key for entry in made.metadata_props][1] == GOLDEN
    spoil(made)
    (tmp_path / "model.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(ArtifactError, match=message):
        verify_onnx(tmp_path / "model.onnx")


def test_a_file_that_is_no_graph_is_refused(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ArtifactError, match=r"model\.onnx is not an ONNX file"):
        verify_onnx(tmp_path / "model.onnx")


def test_a_failed_export_leaves_the_old_file(model, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    with pytest.raises(InputError):
        to_onnx(model, path, dtype="int8")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.onnx"]
