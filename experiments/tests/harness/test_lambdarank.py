"""LightGBM's ranker behind the common interface."""

import numpy as np
import pytest

from repair import Base, InputError, ScoreSet, compare
from repair_bench.harness.lambdarank import LambdaRank

pytestmark = pytest.mark.needs("lightgbm")


@pytest.fixture(scope="module")
def biased():
    """A base that favours frequent classes by far: any ranker that sees counts can undo it."""
    rng = np.random.default_rng(0)
    counts = np.round(500 / np.arange(1, 13) ** 1.5) + 1
    labels = rng.integers(0, 12, size=900)
    scores = rng.normal(size=(900, 12)) + 3.0 * np.eye(12)[labels] + 1.0 * np.log(counts)
    return [ScoreSet(scores[rows], labels[rows], class_counts=counts) for rows in (slice(600), slice(600, None))]


def test_it_learns_to_undo_a_bias_against_rare_classes(biased):
    found = compare({"Base": Base(8), "trees": LambdaRank(8)}, *biased, trials=1, resamples=200)
    assert found.difference("trees")["hit@1"].low > 0.02
    assert found.models["trees"].rounds_ > 10


def test_only_the_shortlist_is_ranked_and_padding_stays_last(biased):
    calibration, test = biased
    model = LambdaRank(4, rounds=5).fit(calibration.scores, calibration.labels, class_counts=calibration.class_counts)
    scores = np.array(test.scores[:3])
    scores[0, np.argsort(scores[0])[:-2]] = -np.inf
    ranking = model.rerank(scores)
    assert sorted(ranking.ids[1]) == sorted(np.argsort(scores[1])[-4:])
    assert ranking.ids[0, 2:].tolist() == [-1, -1]
    np.testing.assert_allclose(model.rerank(scores).probabilities.sum(axis=1), 1.0)


def test_the_same_rows_give_the_same_trees(biased):
    calibration, test = biased
    known = {"class_counts": calibration.class_counts}
    first, again = (LambdaRank(6).fit(calibration.scores, calibration.labels, **known) for _ in range(2))
    np.testing.assert_array_equal(first.rerank(test.scores).scores, again.rerank(test.scores).scores)
    assert repr(first.with_chosen_parameters()) == f"LambdaRank(n_candidates=6, rounds={first.rounds_})"


def test_whole_groups_are_held_out_when_rounds_are_chosen(biased):
    calibration, _ = biased
    groups = np.arange(len(calibration)) // 150  # four groups: too few to hold any out
    known = {"class_counts": calibration.class_counts}
    model = LambdaRank(6).fit(calibration.scores, calibration.labels, groups=groups, **known)
    assert model.rounds_ == 10


def test_what_it_cannot_do_is_refused(biased):
    calibration, test = biased
    with pytest.raises(InputError, match="class_counts"):
        LambdaRank(4).fit(calibration.scores, calibration.labels)
    with pytest.raises(InputError, match="rounds"):
        LambdaRank(4, rounds=0).fit(calibration.scores, calibration.labels, class_counts=calibration.class_counts)
    model = LambdaRank(4, rounds=5).fit(calibration.scores, calibration.labels, class_counts=calibration.class_counts)
    with pytest.raises(InputError, match="no contributions"):
        model.explain(test.scores[0])
