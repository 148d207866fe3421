from dataclasses import replace

import numpy as np
import pytest

from repair import InputError, Ranking, Reranker, Shortlist, evaluate
from repair.datasets import RELEASED_SCRIPT, SyntheticSettings, make_synthetic
from repair.demo import evaluate_methods


def test_the_posterior_is_calibrated():
    """The mean probability of the predicted classes equals the accuracy."""
    part = make_synthetic(SyntheticSettings(n_calibration=20_000, n_test=1, n_pairs=0)).calibration
    best = part.log_posterior.argmax(axis=1)
    share = np.exp(part.log_posterior.max(axis=1))
    np.testing.assert_allclose(np.exp(part.log_posterior).sum(axis=1), 1.0)
    assert (best == part.labels).mean() == pytest.approx(share.mean(), abs=0.01)


def test_contradictory_pairs_move_in_both_directions_and_others_stay():
    plain = make_synthetic(SyntheticSettings(n_pairs=0, seed=3)).test
    problem = make_synthetic(SyntheticSettings(seed=3))
    assert problem.pairs.shape == (15, 2)
    assert (problem.pairs[:, 0] >= 20).all()
    assert (problem.pairs[:, 1] < 20).all()
    assert plain.scores.shape == problem.test.scores.shape
    residual = problem.calibration.scores - problem.calibration.log_posterior
    moved = np.abs(residual - np.median(residual, axis=0)) > 2
    assert set(np.flatnonzero(moved.mean(axis=0) > 0.01)) <= set(problem.pairs.ravel())
    rare, frequent = problem.pairs[0]
    both = moved[:, rare] & moved[:, frequent]
    gap = (residual[:, rare] - residual[:, frequent])[both]
    assert (gap > 0).any()
    assert (gap < 0).any()


@pytest.mark.parametrize("separable", [True, False])
def test_no_method_beats_the_oracle_beyond_noise_and_pairwise_gains_only_with_contradictory_pairs(separable):
    gains = []
    for seed in range(3):
        problem = make_synthetic(SyntheticSettings(seed=seed, n_pairs=0 if separable else 15))
        results, _ = evaluate_methods(problem)
        hits = {name: result.conditional["hit@1"] for name, result in results.items()}
        assert max(hits.values()) <= hits["true-posterior oracle"] + 0.02
        gains.append(hits["pairwise"] - hits["classwise"])
    if separable:
        assert abs(np.mean(gains)) < 0.01
    else:
        assert np.mean(gains) > 0.01


def test_more_rows_bring_classwise_closer_to_the_truth():
    """The class bias is b = −c·log π.  With many rows the fitted offsets of frequent classes cancel it."""
    settings = SyntheticSettings(n_calibration=30_000, n_test=10, n_pairs=0, bias=0.5, noise_variance=1e-6)
    problem = make_synthetic(settings)
    model = Reranker("classwise", lambda_a=1e-5).fit(problem.calibration.scores, problem.calibration.labels)
    prior = 1 / np.arange(1, 101)
    expected = 0.5 * np.log(prior / prior.sum())
    difference = (model.offsets_ - expected)[:30]
    assert np.std(difference) < 0.12


def test_the_oracle_is_the_true_posterior_on_the_same_shortlist():
    problem = make_synthetic(SyntheticSettings(n_calibration=300, n_test=200))
    results, _ = evaluate_methods(problem)
    shortlist = Shortlist.from_scores(problem.test.scores)
    truth = Ranking.from_scores(shortlist, np.take_along_axis(problem.test.log_posterior, shortlist.ids, axis=1))
    expected = evaluate(truth, problem.test.labels, problem.class_counts).conditional
    assert results["true-posterior oracle"].conditional == expected


def test_without_taken_again_the_shortlist_is_that_of_the_uncorrupted_scores():
    kept = make_synthetic(SyntheticSettings(n_calibration=50, n_test=300, taken_again=False)).test
    again = make_synthetic(SyntheticSettings(n_calibration=50, n_test=300)).test
    listed = np.isfinite(kept.scores)
    assert (listed.sum(axis=1) == 10).all()
    np.testing.assert_array_equal(kept.scores[listed], again.scores[listed])
    first, second = Shortlist.from_scores(kept.scores), Shortlist.from_scores(again.scores)
    different = (np.sort(first.ids, axis=1) != np.sort(second.ids, axis=1)).any(axis=1)
    assert 0.05 < different.mean() < 0.95


def test_the_tail_share_limits_the_rare_classes_of_pairs():
    problem = make_synthetic(SyntheticSettings(n_calibration=5, n_test=5, tail_share=0.2))
    assert (problem.pairs[:, 0] >= 80).all()
    assert (problem.pairs[:, 1] < 20).all()


def test_more_pairs_than_can_be_made_are_refused():
    assert len(make_synthetic(SyntheticSettings(n_classes=20, n_calibration=5, n_test=5, n_pairs=4)).pairs) == 4
    with pytest.raises(InputError, match="n_pairs is 5, but 20 classes have 4 frequent and 16 rare ones"):
        make_synthetic(SyntheticSettings(n_classes=20, n_calibration=5, n_test=5, n_pairs=5))
    with pytest.raises(InputError, match="20 frequent and 10 rare ones"):
        make_synthetic(SyntheticSettings(n_calibration=5, n_test=5, tail_share=0.1))


def test_the_released_script_has_fifteen_pairs_over_five_classes():
    settings = replace(RELEASED_SCRIPT, n_calibration=2000, n_test=10)
    problem = make_synthetic(settings)
    assert problem.pairs.tolist() == [[5 + one, one % 5] for one in range(15)]
    plain = make_synthetic(replace(settings, pairs=())).calibration
    assert plain.labels.tolist() == problem.calibration.labels.tolist()
    moved = np.abs(problem.calibration.scores - plain.scores) > 1e-9
    listed = np.argsort(-plain.scores, axis=1)[:, :5]
    on_list = np.zeros_like(moved)
    np.put_along_axis(on_list, listed, True, axis=1)
    assert not (moved & ~on_list).any()  # only pairs of which both classes are on the shortlist
    both = on_list[:, 5] & on_list[:, 0]  # class 5 is in no other pair
    gaps = (problem.calibration.scores - plain.scores)[both, 5]
    assert {round(value) for value in gaps.tolist()} == {-3, 3}


@pytest.mark.parametrize("pair", [(3, 3), (3, 20), (-1, 2)])
def test_wrong_pairs_are_named(pair):
    with pytest.raises(InputError, match=r"pairs\[1\] is .* class ids from 0 to 19"):
        make_synthetic(SyntheticSettings(n_classes=20, pairs=((5, 0), pair)))
