"""Held-out gains: none where offsets are the truth, some where pairs contradict, nothing leaks."""

import numpy as np
import pytest

from repair import Reranker, ScoreSet
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis import NotApplicable
from repair.diagnosis import separability as steps
from repair.diagnosis.separability import separability
from repair.stats.paired_gains import paired_gain
from repair.tuning.candidates import ExtendedCandidate, FixedCandidate


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


def held_out(calibration):
    """Return the results of what ``auto`` tries on these rows."""
    auto = Reranker(n_candidates=5).fit_checked(calibration).auto_
    return steps.held_out(calibration, auto)


@pytest.fixture(scope="module", autouse=True)
def quick_extended_mode():
    """Fit only the fixed terms in place of the extended mode, which these tests do not look at."""

    def fixed(self, calibration, train, dial):
        return FixedCandidate(self.choice, self.terms, self.settings).held_out(calibration, train, dial)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExtendedCandidate, "held_out", fixed)
        yield


@pytest.fixture(scope="module")
def results():
    sets = [built(*separable(seed)) for seed in range(20)]
    return [separability(held_out(one), one) for one in sets]


def test_class_separable_data_show_no_pairwise_gain(results):
    assert sum(one.pairwise.accuracy.p_value() > 0.05 for one in results) >= 17
    assert sum(one.pairwise.log_likelihood.p_value() > 0.05 for one in results) >= 17
    assert sum("show no certain gain" in str(one) or "cost accuracy" in str(one) for one in results) >= 17


def test_offsets_are_found_where_they_are_the_truth(results):
    assert sum(one.offsets.log_likelihood.p_value() < 0.05 for one in results) == 20


@pytest.mark.parametrize("truth", [{"scale": 2.5}, {"foretold": True}])
def test_a_wrong_scale_and_telling_counts_are_no_pairwise_effect(truth):
    """Pairwise beats plain offsets there, but not offsets with a temperature and a count slope."""
    over_offsets, beyond, hits = 0, 0, 0
    for seed in range(10):
        calibration = built(*separable(seed, **truth))
        rows = held_out(calibration)
        result = separability(rows, calibration)
        difference = (rows.log_likelihood["pairwise"] - rows.log_likelihood["classwise"])[calibration.covered]
        over_offsets += paired_gain(difference, np.ones(len(difference)), None).p_value() <= 0.05
        beyond += result.pairwise.log_likelihood.p_value() <= 0.05
        hits += result.pairwise.accuracy.p_value() <= 0.05
    assert over_offsets >= 3
    assert beyond <= 1
    assert hits <= 2


def test_uncovered_rows_are_misses_without_a_likelihood():
    scores, labels, counts = separable(0)
    calibration = built(scores, labels, counts)
    rows = held_out(calibration)
    for mode in ("base", "classwise", "separable", "pairwise", "extended"):
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
    gain = separability(rows, calibration).pairwise.accuracy
    difference = rows.hits["pairwise"] - rows.hits["separable"]
    assert gain.freedom == 39
    assert gain.gain == pytest.approx(difference.reshape(40, 10).mean(axis=1).mean())


def test_it_says_where_it_cannot_tell():
    scores, labels, counts = separable(3)
    assert isinstance(held_out(built(scores[:45], labels[:45], counts)), NotApplicable)
    assert isinstance(held_out(built(scores, labels, counts, groups=np.arange(400) % 3)), NotApplicable)
