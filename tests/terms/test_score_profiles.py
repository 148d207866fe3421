import numpy as np
import pytest

from repair import Shortlist
from repair.terms.score_profiles import basis_of, profiles_of_scores, root_shares, whole_vectors

EYE = np.eye(6, dtype=np.float32)


def make_scores(n=40, n_classes=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n_classes))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_a_profile_is_the_centred_scores_at_length_one(dtype):
    scores = (10 * make_scores()).astype(dtype)
    centred = scores.astype(float) - scores.astype(float).mean(axis=1, keepdims=True)
    expected = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    np.testing.assert_allclose(profiles_of_scores(scores, EYE), expected, atol=2e-3 if dtype == np.float16 else 1e-5)


def test_neither_the_scale_nor_the_level_of_the_scores_matters():
    scores = make_scores()
    profiles = profiles_of_scores(scores, EYE)
    for other in (1e-6 * scores, 1e25 * scores, scores + 50.0):
        np.testing.assert_allclose(profiles_of_scores(other, EYE), profiles, atol=1e-5)
    assert (profiles_of_scores(np.full((2, 6), 3.0), EYE) == 0).all()


def test_classes_with_score_minus_infinity_are_ignored():
    scores = make_scores()
    wide = np.column_stack([scores, np.full((40, 2), -np.inf)])
    basis = np.eye(8, dtype=np.float32)
    np.testing.assert_allclose(profiles_of_scores(wide, basis)[:, :6], profiles_of_scores(scores, EYE), atol=1e-6)
    assert (profiles_of_scores(np.full((1, 6), -np.inf), EYE) == 0).all()


def test_blocks_of_rows_make_no_difference(monkeypatch):
    scores = make_scores()
    whole = profiles_of_scores(scores, EYE)
    monkeypatch.setattr("repair.terms.score_profiles.SCORES_PER_BLOCK", 20)
    np.testing.assert_allclose(profiles_of_scores(scores, EYE), whole, atol=1e-6)


def test_a_narrow_basis_keeps_the_similarities_between_rows():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 50)) + 0.01 * rng.normal(size=(200, 50))
    vectors = whole_vectors(Shortlist.from_scores(scores, 5), scores)
    basis = basis_of(vectors, 8)
    assert basis.shape == (50, 8)
    profiles = profiles_of_scores(scores, basis)
    np.testing.assert_allclose(profiles @ profiles.T, vectors @ vectors.T, atol=0.01)
    few = basis_of(vectors[:3], 8)
    assert few.shape == (50, 8)
    assert (few[:, 3:] == 0).all()
    assert np.isfinite(few).all()
    np.testing.assert_allclose(basis_of(vectors, 50), np.eye(50))


def test_root_shares_are_the_softmax_of_the_list():
    shortlist = Shortlist.from_candidates([[0, 2, -1], [1, 2, 3]], [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0]], 4)
    roots = root_shares(shortlist)
    np.testing.assert_allclose((roots**2).sum(axis=1), 1.0)
    assert roots[0, 2] == 0.0
    assert (roots[1, 0] / roots[1, 1]) ** 2 == pytest.approx(np.e)
    moved = root_shares(shortlist, np.array([0.0, -1.0, 0.0, 0.0]))
    assert (moved[1, 0] / moved[1, 1]) ** 2 == pytest.approx(1.0)


def test_shortlists_keep_their_profiles():
    shortlist = Shortlist.from_scores(make_scores(), 3)
    profiles = profiles_of_scores(make_scores(), EYE)
    kept = shortlist.with_row_vectors("context", profiles)
    assert (kept.take([4, 2]).row_vectors["context"] == profiles[[4, 2]]).all()
    assert kept.with_embeddings(np.ones((40, 2))).row_vectors["context"] is profiles
    assert "context" not in shortlist.row_vectors
