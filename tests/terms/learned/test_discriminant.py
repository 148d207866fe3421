"""The term `discriminant`: that it is Gaussian discriminant analysis, and that rows do not see their own labels."""

import numpy as np
import pytest

from repair import ExtendedOptions, Reranker, ScoreSet, load
from repair.data.calibration_set import CalibrationSet
from repair.terms.learned.discriminant import SHRINKAGES, Discriminant
from repair.terms.learned.head import CONSTANT


def draw(n=200, n_classes=6, width=5, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, size=n)
    vectors = rng.normal(size=(n_classes, width))[labels] + rng.normal(size=(n, width))
    return rng.normal(size=(n, n_classes)), labels, vectors


def build(scores, labels, vectors, k=6, **fields):
    counts = np.full(scores.shape[1], 10)
    return CalibrationSet.build(ScoreSet(scores, labels, embeddings=vectors, class_counts=counts, **fields), k)


def learn(rows):
    return Discriminant.learn(rows, ExtendedOptions(shortlist_tau=0.0))


def test_the_scores_are_gaussian_log_densities_up_to_a_constant_per_row():
    scores, labels, vectors = draw()
    term, _ = learn(build(scores, labels, vectors))
    x = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    means = np.stack([x[labels == y].mean(axis=0) for y in range(6)])
    within = (x - means[labels]).T @ (x - means[labels]) / (len(x) - 6)
    for matrix, share in zip(term.matrices, SHRINKAGES, strict=True):
        covariance = (1 - share) * within + share * np.trace(within) / 5 * np.eye(5)
        inverse = np.linalg.inv(covariance)
        difference = x[:20, None, :] - means
        densities = -0.5 * np.einsum("nki,ij,nkj->nk", difference, inverse, difference)
        found = np.column_stack([x[:20], np.full(20, CONSTANT)]) @ matrix.T
        gap = found - densities
        np.testing.assert_allclose(gap, np.broadcast_to(gap[:, :1], gap.shape), atol=2e-3)


@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("per_class", [False, True])
def test_embeddings_may_be_nearly_equal(noise, per_class):
    scores, labels, _ = draw()
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(6, 20))[labels if per_class else labels * 0] + noise * rng.normal(size=(200, 20))
    term, columns = learn(build(scores, labels, vectors))
    assert np.isfinite(columns).all()
    x = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    best = (np.column_stack([x, np.full(200, CONSTANT)]) @ term.matrices[1].T).argmax(axis=1)
    if per_class:
        assert (best == labels).all()
    elif noise == 0.0:
        assert np.abs(term.matrices).max() < 1e-5


def test_a_row_does_not_see_its_own_label():
    scores, labels, vectors = draw(120)
    changed = labels.copy()
    changed[7] = (labels[7] + 1) % 6
    columns = [learn(build(scores, given, vectors))[1] for given in (labels, changed)]
    np.testing.assert_allclose(columns[0][7], columns[1][7], rtol=1e-4, atol=1e-5)  # sums differ in their last bits
    assert np.abs(columns[0] - columns[1]).max() > 1e-2


def test_rows_of_one_group_do_not_inform_each_other():
    scores, labels, vectors = draw(60)
    twice = np.repeat(np.arange(60), 2)
    changed = labels.copy()
    changed[7] = (labels[7] + 1) % 6
    columns = [
        learn(build(scores[twice], given[twice], vectors[twice], groups=twice))[1] for given in (labels, changed)
    ]
    np.testing.assert_allclose(columns[0][14:16], columns[1][14:16], rtol=1e-4, atol=1e-5)
    assert np.abs(columns[0] - columns[1]).max() > 1e-2


def test_a_class_without_rows_gets_the_mean_of_the_others():
    scores, labels, vectors = draw()
    wide = np.column_stack([scores, np.zeros(len(scores))])
    term, _ = learn(build(wide, labels, vectors, k=7))
    assert (term.matrices[:, 6] == 0).all()
    np.testing.assert_allclose(term.matrices[:, :6].sum(axis=1), 0.0, atol=1e-4)


def test_rows_with_weight_zero_are_ignored():
    scores, labels, vectors = draw(100)
    weights = np.ones(100)
    weights[50:] = 0.0
    term, _ = learn(build(scores, labels, vectors, sample_weight=weights))
    alone, _ = learn(build(scores[:50], labels[:50], vectors[:50]))
    np.testing.assert_allclose(term.matrices, alone.matrices, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("vectors", [np.zeros((100, 4)), np.ones((100, 4))])
def test_vectors_that_tell_nothing_do_no_harm(vectors):
    scores, labels, _ = draw(100)
    term, columns = learn(build(scores, labels, vectors))
    assert np.isfinite(term.matrices).all()
    assert np.isfinite(columns).all()


def test_one_row_per_class_is_enough_for_finite_scores():
    scores = np.eye(6)
    term, columns = learn(build(scores, np.arange(6), np.eye(6)))
    assert np.isfinite(term.matrices).all()
    assert np.isfinite(columns).all()


def test_it_finds_what_vectors_tell_and_survives_a_file(tmp_path):
    scores, labels, vectors = draw(600)
    fit, new = slice(0, 400), slice(400, 600)
    model = Reranker("extended", n_candidates=6, terms=("score_gap", "discriminant")).fit(
        scores[fit], labels[fit], embeddings=vectors[fit]
    )
    found = model.predict(scores[new], embeddings=vectors[new])
    assert (found == labels[new]).mean() > 0.4 > (scores[new].argmax(axis=1) == labels[new]).mean() + 0.1
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors").rerank(scores[new], embeddings=vectors[new])
    assert (again.best == found).all()
