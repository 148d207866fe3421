"""What holds for every shortlist and every score set that the published strategies draw."""

import numpy as np
import pytest
from hypothesis import given

from repair import Ranking, Reranker, Shortlist, kernels
from repair.testing import score_sets, shortlists

N_CLASSES = 7


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, N_CLASSES, size=200)
    scores = rng.normal(size=(200, N_CLASSES)) + 2 * np.eye(N_CLASSES)[labels]
    similarity = rng.random((N_CLASSES, N_CLASSES))
    counts = rng.integers(1, 99, N_CLASSES)
    return Reranker("pairwise", n_candidates=5, tau=0.3).fit(scores, labels, class_counts=counts, similarity=similarity)


@given(shortlists(extremes=True))
def test_shortlists_are_in_base_order_whatever_the_order_of_the_candidates(shortlist):
    for ids, scores, length in zip(shortlist.ids, shortlist.scores, shortlist.lengths, strict=True):
        pairs = list(zip((-scores[:length]).tolist(), ids[:length].tolist(), strict=True))
        assert pairs == sorted(pairs)
        assert (ids[length:] == -1).all()
    reversed_lists = Shortlist.from_candidates(shortlist.ids[:, ::-1], shortlist.scores[:, ::-1], shortlist.n_classes)
    np.testing.assert_array_equal(reversed_lists.ids, shortlist.ids)
    np.testing.assert_array_equal(reversed_lists.scores, shortlist.scores)


@given(shortlists(n_classes=N_CLASSES, extremes=True))
def test_both_kinds_of_kernels_give_the_same_bits(model, shortlist):
    rankings = []
    for loaded in (None, kernels.best_kernels()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernels, "loaded", loaded)
            rankings.append(model.rerank(shortlist, dial=0.5))
    for part in ("ids", "scores", "probabilities"):
        first, second = (getattr(ranking, part) for ranking in rankings)
        assert first.tobytes() == second.tobytes()


@given(shortlists(n_classes=N_CLASSES))
def test_scores_that_are_returned_can_be_ranked_again(model, shortlist):
    ranking = model.rerank(shortlist)
    again = Shortlist.from_candidates(ranking.ids, ranking.scores, N_CLASSES)
    np.testing.assert_array_equal(np.sort(again.ids), np.sort(shortlist.first(model.n_candidates).ids))
    assert (Ranking.from_scores(again, again.scores).order == np.arange(again.n_candidates)).all()


@pytest.mark.parametrize("mode", ["base", "classwise", "pairwise"])
@given(score_sets(n_rows=(5, 20)))
def test_explanations_of_any_model_add_up(mode, rows):
    """Whatever is known of rows and classes."""
    model = Reranker(mode, n_candidates=2, lambda_a=0.01, lambda_theta=0.01).fit(rows)
    one = rows.scores.take([0]) if isinstance(rows.scores, Shortlist) else rows.scores[0]
    explained, ranking = model.explain(one).candidates, model.rerank(one)
    assert [candidate.class_id for candidate in explained] == ranking.ids[0][ranking.ids[0] >= 0].tolist()
    for candidate, score in zip(explained, ranking.scores[0].tolist(), strict=False):
        assert candidate.score == score
        assert sum(candidate.contributions.values()) == pytest.approx(score, abs=1e-9)
