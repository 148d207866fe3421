"""Held-out gains: none where offsets are the truth, some where pairs contradict, nothing leaks."""

import numpy as np
import pytest

from repair import ScoreSet
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis import NotApplicable
from repair.diagnosis.separability import held_out, separability


def separable(seed, n=400, n_classes=10, scale=1.0, foretold=False):
    """Labels drawn from softmax(scale·g + a), where class counts may foretell a.

    Fixed offsets are the truth if the scale is 1.
    """
    rng = np.random.default_rng(seed)
    offsets = rng.normal(size=n_classes)
    scores = 1.5 * rng.normal(size=(n, n_classes))
    labels = (scale * scores + offsets + rng.gumbel(size=scores.shape)).argmax(axis=1)
    counts = 100 * np.exp(offsets) if foretold else np.round(300 / np.arange(1, n_classes + 1))
    return scores, labels, counts


def built(scores, labels, counts, **known):
    return CalibrationSet.build(ScoreSet(scores, labels, class_counts=counts, **known), 5)


@pytest.fixture(scope="module")
def results():
    sets = [built(*separable(seed)) for seed in range(20)]
    return [separability(held_out(one), one) for one in sets]


def test_class_separable_data_show_no_pairwise_gain(results):
    assert sum(one.accuracy.p_value() > 0.05 for one in results) >= 17
    assert sum(one.log_likelihood.p_value() > 0.05 for one in results) >= 17


def test_offsets_are_found_where_they_are_the_truth(results):
    assert sum(one.classwise_log_likelihood.p_value() < 0.05 for one in results) == 20


@pytest.mark.parametrize("truth", [{"scale": 2.5}, {"foretold": True}])
def test_a_wrong_scale_and_telling_counts_are_no_pairwise_effect(truth):
    """Pairwise beats plain offsets there, but not what else is class-separable."""
    over_offsets, beyond, hits = 0, 0, 0
    for seed in range(10):
        calibration = built(*separable(seed, **truth))
        result = separability(held_out(calibration), calibration)
        over_offsets += result.log_likelihood.p_value() <= 0.05
        beyond += result.separable_log_likelihood.p_value() <= 0.05
        hits += result.separable_accuracy.p_value() <= 0.05
    assert over_offsets >= 3
    assert beyond <= 1
    assert hits <= 2


def test_uncovered_rows_are_misses_without_a_likelihood():
    scores, labels, counts = separable(0)
    calibration = built(scores, labels, counts)
    rows = held_out(calibration)
    for mode in ("base", "classwise", "separable", "pairwise"):
        assert (rows.hits[mode][~calibration.covered] == 0).all()
        assert (np.isnan(rows.log_likelihood[mode]) == ~calibration.covered).all()
    assert (rows.hits["base"] == (calibration.shortlist.ids[:, 0] == labels)).all()


def test_the_labels_of_a_held_out_group_do_not_reach_its_own_scores():
    """Relabelling one group leaves the likelihood of every label on its rows' shortlists as it was."""
    scores, labels, counts = separable(1)
    groups = np.arange(400) // 20
    first = held_out(built(scores, labels, counts, groups=groups))
    best = scores.argmax(axis=1)
    changed = np.where(groups == 3, best, labels)
    second = held_out(built(scores, changed, counts, groups=groups))
    same = (groups == 3) & (best == labels)
    assert same.any()
    np.testing.assert_array_equal(first.log_likelihood["pairwise"][same], second.log_likelihood["pairwise"][same])
    other = (groups != 3) & ~np.isnan(first.log_likelihood["pairwise"])
    assert (first.log_likelihood["pairwise"][other] != second.log_likelihood["pairwise"][other]).any()


def test_every_group_counts_once():
    scores, labels, counts = separable(2)
    calibration = built(scores, labels, counts, groups=np.arange(400) // 10)
    rows = held_out(calibration)
    gain = separability(rows, calibration).accuracy
    difference = rows.hits["pairwise"] - rows.hits["classwise"]
    assert gain.freedom == 39
    assert gain.gain == pytest.approx(difference.reshape(40, 10).mean(axis=1).mean())


def test_it_says_where_it_cannot_tell():
    scores, labels, counts = separable(3)
    assert isinstance(held_out(built(scores[:45], labels[:45], counts)), NotApplicable)
    assert isinstance(held_out(built(scores, labels, counts, groups=np.arange(400) % 3)), NotApplicable)
    # All other labels in one group: without it only one class is left.
    alone = np.where(np.arange(400) < 5, (labels + 1) % 10, 0)
    best = scores.copy()
    best[np.arange(400), alone] += 20
    groups = np.maximum(np.arange(400) - 4, 0)
    assert "fewer than two labels" in str(held_out(built(best, np.where(alone == 0, 0, alone), counts, groups=groups)))
