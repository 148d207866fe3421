"""The PyTorch module against the shared cases: eager, exported and compiled."""

from functools import cache

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch, which is not installed (make test EXTRAS=all)")

from repair import InputError, Reranker, Shortlist  # noqa: E402
from repair.export import to_torch  # noqa: E402
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

EXPORTED = accepted("torch eager")
TOLERANCE = 1e-5


def module_of(case, **options):
    return to_torch(model_of(case.model_path), inputs=inputs_of(case), **settings_of(case), **options)


def tensors(case):
    return [torch.from_numpy(np.ascontiguousarray(array)) for array in arguments(case)]


@pytest.mark.parametrize("case", EXPORTED, ids=str)
def test_eager(case):
    check_case(case, *(part.numpy() for part in module_of(case)(*tensors(case))), tolerance=case.tolerance)


@pytest.mark.parametrize("case", refused("torch eager"), ids=str)
def test_what_cannot_be_exported_is_refused_by_name(case):
    with pytest.raises(InputError, match=RUNTIMES["torch eager"](case)[0]):
        module_of(case)


@pytest.mark.parametrize("case", representative(EXPORTED), ids=str)
def test_float32(case):
    ids, scores, probabilities = module_of(case, precision="float32")(*tensors(case))
    assert scores.dtype == probabilities.dtype == torch.float32
    check_case(case, ids.numpy(), scores.numpy(), probabilities.numpy(), tolerance=TOLERANCE)


@pytest.mark.parametrize("case", representative(EXPORTED), ids=str)
def test_adjusted_logits(case):
    logits = module_of(case, outputs="logits")(*tensors(case)).numpy()
    expected = spread(case.expected_ids, case.expected_scores, case.n_classes)
    assert logits.shape == expected.shape
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_array_equal(np.isneginf(logits), np.isneginf(expected))
    np.testing.assert_allclose(logits, expected, rtol=0, atol=case.tolerance * largest)


@cache
def exported(path, inputs, dtype, settings):
    """Export once per model and type, with any number of rows and candidates."""
    case = next(case for case in EXPORTED if key_of(case) == (path, inputs, dtype, settings) and len(case) > 1)
    rows, width = torch.export.Dim("rows", min=1, max=1 << 16), torch.export.Dim("width", min=1, max=1 << 10)
    tables = 1 if inputs == "scores" else 2
    shapes = tuple({0: rows} if inputs == "scores" or number >= tables else {0: rows, 1: width}
                   for number in range(len(arguments(case))))  # fmt: skip
    return torch.export.export(module_of(case), tuple(tensors(case)), dynamic_shapes=(shapes,)).module()


def key_of(case):
    return case.model_path, inputs_of(case), case.dtype, repr(case.settings)


@pytest.mark.parametrize("case", accepted("torch.export"), ids=str)
def test_torch_export_with_a_dynamic_batch(case):
    module = exported(*key_of(case))
    check_case(case, *(part.numpy() for part in module(*tensors(case))), tolerance=case.tolerance)


@pytest.mark.parametrize(
    "name", ["classwise/plain", "pairwise/plain", "pairwise_strength/plain", "extended_embeddings/plain"]
)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torch_compile_in_one_graph(name, backend):
    case = next(case for case in EXPORTED if case.name == name)
    torch.compiler.reset()
    module = torch.compile(module_of(case), backend=backend, fullgraph=True)
    check_case(case, *(part.numpy() for part in module(*tensors(case))), tolerance=case.tolerance)


def spoiled(scores):
    """Return scores with one unusable number in each of four rows, and the same scores with −Inf instead."""
    bad, clean = scores.copy(), scores.copy()
    for row, value in enumerate((np.nan, np.inf, 2e30, -2e30)):
        place = int(np.argsort(-scores[row])[min(row, 2)])
        bad[row, place], clean[row, place] = value, -np.inf
    return bad, clean


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_that_the_library_refuses_are_no_candidates(problem, dtype, compiled):
    model = Reranker("pairwise", n_candidates=5).fit(problem.scores, problem.labels, **problem.optional_fields)
    bad, clean = spoiled(problem.scores[:6].astype(dtype))
    module = to_torch(model)
    run = torch.export.export(module, (torch.from_numpy(clean),)).module() if compiled else module
    ids, scores, probabilities = (part.numpy() for part in run(torch.from_numpy(bad)))
    expected = model.rerank(clean)
    np.testing.assert_array_equal(ids, expected.ids)
    np.testing.assert_array_equal(scores, expected.scores)
    np.testing.assert_allclose(probabilities, expected.probabilities, atol=1e-12)


def test_unusable_candidates_are_left_out(problem):
    model = Reranker("classwise", n_candidates=5).fit(problem.scores, problem.labels)
    ids = torch.tensor([[3, 20, -5, 3, 7, 1]])
    given = torch.tensor([[1.0, 9.0, 9.0, 0.5, float("nan"), 2.0]])
    returned, scores, _ = to_torch(model, inputs="candidates")(ids, given)
    expected = model.rerank(Shortlist.from_candidates([[3, 1]], [[1.0, 2.0]], 20))
    assert returned.tolist() == [[*expected.ids[0].tolist(), -1, -1, -1, -1]]
    np.testing.assert_array_equal(scores[0, :2], expected.scores[0])


def test_a_batch_without_rows(problem):
    model = Reranker("pairwise", n_candidates=5).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert [tuple(part.shape) for part in to_torch(model)(torch.empty(0, 20))] == [(0, 5)] * 3


def test_many_ties_at_the_cut_are_broken_by_class_id():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, size=(200, 300)).astype(np.float32)
    model = Reranker("classwise", n_candidates=20).fit(scores, rng.integers(0, 300, size=200))
    ids, _, _ = to_torch(model)(torch.from_numpy(scores))
    np.testing.assert_array_equal(ids.numpy(), model.rerank(scores).ids)


def test_the_module_holds_buffers_and_no_parameters(problem):
    model = Reranker("pairwise", n_candidates=5).fit(problem.scores, problem.labels, **problem.optional_fields)
    module = to_torch(model)
    assert not list(module.parameters())
    assert {"offsets", "similarity_matrix"} <= set(module.state_dict())
    again = to_torch(model)
    again.load_state_dict(module.state_dict())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": "logits"}, "inputs is 'logits'"),
        ({"outputs": "ids"}, "outputs is 'ids'"),
        ({"precision": "float16"}, "precision is 'float16'"),
        ({"dial": "most"}, "dial is 'most'"),
        ({"strength": 2}, "strength is 2"),
    ],
)
def test_wrong_options_are_refused(problem, options, message):
    model = Reranker("classwise", n_candidates=5).fit(problem.scores, problem.labels)
    with pytest.raises(InputError, match=message):
        to_torch(model, **options)


def test_wrong_shapes_are_refused(problem):
    model = Reranker("classwise", n_candidates=5).fit(problem.scores, problem.labels)
    with pytest.raises(InputError, match=r"scores has shape \(2, 7\); expected \(rows, 20\)"):
        to_torch(model)(torch.zeros(2, 7))
    with pytest.raises(InputError, match="takes scores, but got 2 tensors"):
        to_torch(model)(torch.zeros(2, 20), torch.zeros(2, 3))


def test_a_strength_and_a_dial_are_fixed_in_the_module(problem):
    model = Reranker("pairwise", n_candidates=5).fit(problem.scores, problem.labels, **problem.optional_fields)
    ids, _, probabilities = to_torch(model, strength=0.3, dial=0.8)(torch.from_numpy(problem.scores))
    expected = model.set_params(strength=0.3).rerank(problem.scores, dial=0.8)
    np.testing.assert_array_equal(ids.numpy(), expected.ids)
    np.testing.assert_allclose(probabilities.numpy(), expected.probabilities, atol=1e-12)
