"""Changes of the input that must not change a result: constants, names, order and batch size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repair import ClasswiseTemperature, LogitAdjustment, Reranker, Shortlist

MODES = ("classwise", "pairwise", "pairwise_only")


def fit(problem, mode="pairwise", scores=None, labels=None, **changes):
    known = {**problem.optional_fields, **changes}
    return Reranker(mode, n_candidates=problem.k, tau=0.5, alpha=0.3).fit(
        problem.scores if scores is None else scores, problem.labels if labels is None else labels, **known
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_constant_added_to_a_row_does_not_change_the_result(problem, mode):
    shift = np.random.default_rng(0).normal(size=(len(problem.labels), 1)) * 10
    one, other = fit(problem, mode), fit(problem, mode, scores=problem.scores + shift)
    np.testing.assert_allclose(one.offsets_, other.offsets_, atol=1e-7)
    np.testing.assert_allclose(list(one.weights_.values()), list(other.weights_.values()), atol=1e-7)
    assert (one.rerank(problem.scores).ids == other.rerank(problem.scores + shift).ids).all()


@pytest.mark.parametrize("mode", MODES)
def test_renaming_the_classes_renames_the_result(problem, mode):
    new_id = np.random.default_rng(1).permutation(problem.scores.shape[1])
    old_id = np.argsort(new_id)
    other = fit(
        problem,
        mode,
        scores=problem.scores[:, old_id],
        labels=new_id[problem.labels],
        class_counts=problem.class_counts[old_id],
        similarity=problem.similarity[np.ix_(old_id, old_id)],
    )
    one = fit(problem, mode)
    np.testing.assert_allclose(one.offsets_, other.offsets_[new_id], atol=1e-7)
    assert (new_id[one.rerank(problem.scores).ids] == other.rerank(problem.scores[:, old_id]).ids).all()


@pytest.mark.parametrize("mode", MODES)
def test_the_order_of_the_candidates_does_not_matter(problem, mode):
    rng = np.random.default_rng(2)
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    shuffle = np.array([rng.permutation(problem.k) for _ in problem.labels])
    shuffled = Shortlist.from_candidates(
        np.take_along_axis(shortlist.ids, shuffle, axis=1),
        np.take_along_axis(shortlist.scores, shuffle, axis=1),
        shortlist.n_classes,
    )
    one, other = fit(problem, mode, scores=shortlist), fit(problem, mode, scores=shuffled)
    assert (one.offsets_ == other.offsets_).all()
    assert (one.rerank(shortlist).ids == other.rerank(shuffled).ids).all()


@pytest.mark.parametrize("mode", MODES)
def test_extra_padding_does_not_change_the_result(problem, mode):
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    wider = Shortlist.from_candidates(
        np.pad(shortlist.ids, ((0, 0), (0, 3)), constant_values=-1),
        np.pad(shortlist.scores, ((0, 0), (0, 3)), constant_values=np.nan),
        shortlist.n_classes,
    )
    one, other = fit(problem, mode, scores=shortlist), fit(problem, mode, scores=wider)
    np.testing.assert_allclose(one.offsets_, other.offsets_, atol=1e-9)
    ranked = other.rerank(wider)
    assert (one.rerank(shortlist).ids == ranked.ids[:, : problem.k]).all()
    assert (ranked.ids[:, problem.k :] == -1).all()
    assert np.isneginf(ranked.scores[:, problem.k :]).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 15))
def test_scores_of_a_row_are_bit_identical_for_any_padding(seed, padding):
    rng = np.random.default_rng(seed)
    model = _fitted(40, 9)
    ids, scores = rng.permutation(40)[None, :11], rng.normal(size=(1, 11))
    narrow = Shortlist.from_candidates(ids, scores, 40)
    wide = Shortlist.from_candidates(
        np.pad(ids, ((0, 0), (0, padding)), constant_values=-1), np.pad(scores, ((0, 0), (0, padding))), 40
    )
    one, other = model.rerank(narrow, dial=0.2), model.rerank(wide, dial=0.2)
    assert one.scores[0].tobytes() == other.scores[0, :11].tobytes()
    assert model.rerank(narrow).probabilities[0].tobytes() == model.rerank(wide).probabilities[0, :11].tobytes()


def test_uncovered_rows_do_not_change_a_fit(problem):
    covered = Shortlist.from_scores(problem.scores, problem.k).positions(problem.labels) >= 0
    assert 0 < covered.sum() < len(covered)
    one = fit(problem)
    other = fit(problem, scores=problem.scores[covered], labels=problem.labels[covered])
    np.testing.assert_allclose(one.offsets_, other.offsets_, atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_scores_of_a_row_are_bit_identical_alone_and_in_a_batch(seed, ragged):
    """Small batches use numpy, large ones compiled kernels and several blocks."""
    rng = np.random.default_rng(seed)
    n_classes, k = 40, 9
    model = _fitted(n_classes, k)
    scores = rng.normal(size=(9000, n_classes)) * 4
    if ragged:
        scores[rng.random(scores.shape) < 0.8] = -np.inf
    together = model.rerank(scores, dial=0.3)
    for row in rng.integers(0, len(scores), size=5):
        alone = model.rerank(scores[row], dial=0.3)
        assert (alone.ids[0] == together.ids[row]).all()
        assert alone.scores[0].tobytes() == together.scores[row].tobytes()


_CACHE = {}


def _fitted(n_classes, k):
    if (n_classes, k) not in _CACHE:
        rng = np.random.default_rng(0)
        labels = rng.integers(0, n_classes, size=500)
        scores = rng.normal(size=(500, n_classes)) + 2 * np.eye(n_classes)[labels]
        _CACHE[n_classes, k] = Reranker("pairwise", n_candidates=k, tau=0.4).fit(
            scores, labels, class_counts=rng.integers(1, 99, n_classes), similarity=rng.random((n_classes, n_classes))
        )
    return _CACHE[n_classes, k]


def test_inputs_are_never_modified_and_every_memory_layout_gives_the_same_result(problem):
    scores = problem.scores.astype(np.float32)
    expected = fit(problem, scores=scores)
    kept = scores.copy()
    scores.setflags(write=False)
    layouts = {
        "float64": scores.astype(np.float64),
        "fortran": np.asfortranarray(scores),
        "strided": np.repeat(scores, 2, axis=1)[:, ::2],
        "reversed": scores[::-1][::-1],
        "list": scores.tolist(),
    }
    for name, layout in layouts.items():
        model = fit(problem, scores=layout)
        assert (model.offsets_ == expected.offsets_).all(), name
        assert (model.rerank(layout).ids == expected.rerank(scores).ids).all(), name
    assert (scores == kept).all()


def test_float16_and_memory_mapped_scores_work(problem, tmp_path):
    halves = problem.scores.astype(np.float16)
    np.save(tmp_path / "scores.npy", halves)
    mapped = np.load(tmp_path / "scores.npy", mmap_mode="r")
    one, other = fit(problem, scores=mapped), fit(problem, scores=halves.astype(np.float64))
    assert (one.offsets_ == other.offsets_).all()


def test_integer_scores_work(problem):
    whole = np.round(problem.scores * 10).astype(np.int64)
    one, other = fit(problem, scores=whole), fit(problem, scores=whole.astype(np.float64))
    assert (one.offsets_ == other.offsets_).all()


@pytest.mark.parametrize(
    "model", [LogitAdjustment(5), ClasswiseTemperature(5), Reranker("pairwise", n_candidates=5, shrinkage="eb")]
)
def test_fitting_twice_is_bit_identical(problem, model):
    first = model.fit(problem.scores, problem.labels, **problem.optional_fields).rerank(problem.scores)
    second = model.fit(problem.scores, problem.labels, **problem.optional_fields).rerank(problem.scores)
    assert first.scores.tobytes() == second.scores.tobytes()
