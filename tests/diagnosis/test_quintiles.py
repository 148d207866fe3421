"""Gains by fifths of the rare classes."""

import numpy as np
import pytest

from repair import Reranker, Shortlist
from repair.datasets import SyntheticSettings, make_synthetic
from repair.diagnosis import NotApplicable, QuintileGains, quintile_gains, threshold_dispersion
from repair.errors import InputError
from repair.evaluation.metrics import hit_rate
from repair.stats.paired_gains import paired_gain
from repair.stats.strata import rare_classes


@pytest.fixture(scope="module")
def synthetic():
    problem = make_synthetic(SyntheticSettings(n_test=8000))
    calibration, test = problem.calibration, problem.test
    shortlist = Shortlist.from_scores(test.scores, 10)
    hits = []
    for mode in ("pairwise", "classwise"):
        model = Reranker(mode, n_candidates=10).fit(
            calibration.scores, calibration.labels, class_counts=problem.class_counts
        )
        hits.append(hit_rate(model.rerank(shortlist), test.labels))
    return problem, threshold_dispersion(shortlist, test.labels), *hits


def test_quintiles_of_the_synthetic_problem(synthetic):
    problem, dispersion, first, second = synthetic
    gains = quintile_gains(dispersion, first, second, problem.class_counts)
    assert isinstance(gains, QuintileGains)
    assert [len(one.classes) for one in gains.bins] == [16] * 5
    used = np.concatenate([one.classes for one in gains.bins])
    assert sorted(used) == np.flatnonzero(rare_classes(problem.class_counts)).tolist()
    values = dispersion.classes[used]
    assert (np.diff(values) >= 0).all()
    for one in gains.bins:
        rows = np.isin(problem.test.labels, one.classes) & (dispersion.labels >= 0)
        assert one.n_rows == rows.sum()
        assert one.delta == paired_gain((first - second)[rows], np.ones(rows.sum()), None)
        assert (one.low, one.high) == (dispersion.classes[one.classes].min(), dispersion.classes[one.classes].max())
    assert gains.n_left_out == 0
    assert "Q5" in str(gains)
    assert "pairs are on the same shortlist at least 5 times" in str(gains)


def test_confused_classes_are_in_the_upper_quintiles(synthetic):
    """The generator moves its pairs apart either way: that is what dispersion measures."""
    problem, dispersion, first, second = synthetic
    bins = quintile_gains(dispersion, first, second, problem.class_counts).bins
    confused = [np.isin(one.classes, problem.pairs[:, 0]).sum() for one in bins]
    assert sum(confused) == 15
    assert confused[3] + confused[4] > 10


def test_groups_make_the_error_larger_where_rows_repeat(synthetic):
    problem, dispersion, first, second = synthetic
    groups = np.arange(len(first)) // 40
    first = np.where(groups % 2 == 0, 1.0, second)
    alone = quintile_gains(dispersion, first, second, problem.class_counts)
    grouped = quintile_gains(dispersion, first, second, problem.class_counts, groups=groups)
    for one, other in zip(alone.bins, grouped.bins, strict=True):
        assert one.delta.gain == other.delta.gain
        assert other.delta.freedom < one.delta.freedom


def test_weights_are_weights(synthetic):
    problem, dispersion, first, second = synthetic
    weights = np.random.default_rng(0).random(len(first))
    one = quintile_gains(dispersion, first, second, problem.class_counts, sample_weight=weights).bins[2]
    rows = np.isin(dispersion.labels, one.classes)
    assert one.delta.gain == pytest.approx(np.average((first - second)[rows], weights=weights[rows]))
    weights[rows] = 0.0
    with pytest.raises(InputError, match="sample_weight is 0 on all rows"):
        quintile_gains(dispersion, first, second, problem.class_counts, sample_weight=weights)


def test_too_few_classes_is_an_answer(synthetic):
    problem, dispersion, first, second = synthetic
    answer = quintile_gains(dispersion, first, second, problem.class_counts, min_classes=17)
    assert answer == NotApplicable(
        "only 80 rare classes have a dispersion, but five bins of at least 17 classes need 85"
    )
    assert str(answer).startswith("not applicable: only 80 rare classes")
    assert isinstance(quintile_gains(dispersion, first, second, problem.class_counts, min_classes=16), QuintileGains)


def test_classes_without_a_dispersion_are_left_out_and_counted():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 90, size=3000)  # classes 90 to 99 have no row
    shortlist = Shortlist.from_scores(rng.normal(size=(3000, 100)) + 3 * np.eye(100)[labels], 10)
    dispersion = threshold_dispersion(shortlist, labels, min_meetings=1)
    gains = quintile_gains(dispersion, np.zeros(3000), np.ones(3000), np.arange(100, 0, -1), min_classes=10)
    assert gains.n_left_out == 10
    assert [len(one.classes) for one in gains.bins] == [14] * 5
    assert {one.delta.gain for one in gains.bins} == {-1.0}
    assert isinstance(quintile_gains(dispersion, np.zeros(3000), np.ones(3000), np.arange(100, 0, -1)), NotApplicable)


def test_bad_arguments_are_named(synthetic):
    problem, dispersion, first, second = synthetic
    with pytest.raises(InputError, match="hits_second has 3 entries"):
        quintile_gains(dispersion, first, [1, 0, 1], problem.class_counts)
    with pytest.raises(InputError, match=r"hits_first\[0\] is nan"):
        quintile_gains(dispersion, np.full(len(first), np.nan), second, problem.class_counts)
    with pytest.raises(InputError, match="class_counts has 2 entries"):
        quintile_gains(dispersion, first, second, [5, 6])
