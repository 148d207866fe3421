import numpy as np
import pytest
from scipy import stats

from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import bootstrap_ratios, gain_of_weighted_rows, holm, paired_gain, sign_test


def test_paired_gain_is_students_t_without_groups():
    difference = np.random.default_rng(0).normal(0.2, 1, size=50)
    ours = paired_gain(difference, np.ones(50), None)
    theirs = stats.ttest_1samp(difference, 0, alternative="greater")
    assert ours.gain == pytest.approx(difference.mean())
    assert ours.p_value() == pytest.approx(theirs.pvalue)
    low, high = stats.ttest_1samp(difference, 0).confidence_interval(0.95)
    assert ours.interval() == pytest.approx((low, high))


def test_rows_of_a_group_count_once():
    difference = np.random.default_rng(1).normal(size=40)
    once = paired_gain(difference, np.ones(40), None)
    copied = paired_gain(np.repeat(difference, 7), np.full(280, 1 / 7), np.repeat(np.arange(40), 7))
    assert copied.gain == pytest.approx(once.gain)
    assert copied.error == pytest.approx(once.error)
    assert copied.freedom == once.freedom


def test_no_difference_is_never_significant_and_one_group_carries_no_information():
    assert paired_gain(np.zeros(9), np.ones(9), None).p_value() == 1.0
    assert paired_gain(np.ones(9), np.ones(9), None).p_value() == 0.0
    assert paired_gain(np.random.default_rng(0).normal(5, 1, 9), np.ones(9), np.zeros(9, int)).p_value() == 0.5


def test_rows_without_weight_and_their_groups_are_left_out():
    difference, groups = np.random.default_rng(3).normal(size=30), np.arange(30) // 3
    weights = np.where(groups == 4, 0.0, 1.0)
    kept = groups != 4
    expected = paired_gain(difference[kept], weights[kept], groups[kept])
    assert expected.freedom == 8
    assert gain_of_weighted_rows(difference, weights, groups) == expected
    renumbered = gain_of_weighted_rows(difference, weights, groups, renumber=True)
    assert (renumbered.gain, renumbered.freedom) == (expected.gain, 8)
    assert renumbered.error == pytest.approx(expected.error)
    assert isinstance(gain_of_weighted_rows(difference, np.zeros(30), groups), NotApplicable)


def test_cluster_intervals_have_their_nominal_coverage():
    """Of 2,000 simulated data sets with strong within-group correlation, 95 % ± 2 % cover the truth."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(60), rng.integers(1, 9, size=60))
    importance = 1.0 / np.bincount(groups)[groups]
    inside = 0
    for _ in range(2000):
        difference = 0.3 + rng.normal(size=60)[groups] + 0.5 * rng.normal(size=len(groups))
        low, high = paired_gain(difference, importance, groups).interval()
        inside += low <= 0.3 <= high
    assert inside / 2000 == pytest.approx(0.95, abs=0.02)


def test_holm_by_hand_and_in_any_order():
    p = np.array([0.04, 0.01, 0.03, 0.5])
    assert holm(p) == pytest.approx([0.09, 0.04, 0.09, 0.5])
    assert holm(p[::-1]) == pytest.approx([0.5, 0.09, 0.04, 0.09])
    assert holm(np.array([0.9, 0.8])).max() <= 1.0


@pytest.mark.parametrize(("wins", "losses"), [(4, 1), (5, 0), (0, 5), (3, 2), (50, 31)])
def test_sign_test_agrees_with_scipy(wins, losses):
    expected = stats.binomtest(wins, wins + losses, 0.5, alternative="greater").pvalue
    assert sign_test(wins, losses) == pytest.approx(expected)


def test_sign_test_without_any_comparison():
    assert sign_test(0, 0) == 1.0


@pytest.mark.parametrize("few_kinds", [0, 10**9])
def test_bootstrap_has_the_right_spread_with_both_ways_of_drawing(monkeypatch, few_kinds):
    monkeypatch.setattr("repair.stats.paired_gains.FEW_KINDS", few_kinds)
    rng = np.random.default_rng(3)
    values = rng.normal(size=(400, 2))
    inside = np.stack([np.ones(400), rng.random(400) < 0.5], axis=1).astype(float)
    means = bootstrap_ratios(values * inside, inside, None, 4000, seed=0)
    chosen = values[inside[:, 1] > 0, 1]
    assert means.mean(axis=0) == pytest.approx([values[:, 0].mean(), chosen.mean()], abs=0.01)
    assert means[:, 0].std() == pytest.approx(values[:, 0].std() / 20, rel=0.05)
    assert means[:, 1].std() == pytest.approx(chosen.std() / np.sqrt(len(chosen)), rel=0.08)


def test_bootstrap_by_group_is_wider_when_groups_agree():
    groups = np.repeat(np.arange(50), 8)
    values = np.random.default_rng(4).normal(size=50)[groups][:, None]
    by_row = bootstrap_ratios(values, np.ones_like(values), None, 3000, seed=0).std()
    by_group = bootstrap_ratios(values, np.ones_like(values), groups, 3000, seed=0).std()
    assert by_group == pytest.approx(values.std() / np.sqrt(50), rel=0.06)
    assert by_group > 2 * by_row


def test_bootstrap_is_reproducible():
    values = np.random.default_rng(5).normal(size=(30, 1))
    first, second = (bootstrap_ratios(values, np.ones_like(values), None, 50, seed=9) for _ in range(2))
    assert (first == second).all()
