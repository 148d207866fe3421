import numpy as np

from repair import ScoreSet
from repair.data.calibration_set import CalibrationSet
from repair.tuning.frequency_test import frequency_p_value


def p_value(seed, n=150, lift=0.0, scale=1.0, copies=1):
    rng = np.random.default_rng(seed)
    counts = np.round(300 / np.arange(1, 11)) + 1
    posterior = 1.5 * rng.normal(size=(n, 10)) + np.log(counts)
    labels = (posterior + rng.gumbel(size=posterior.shape)).argmax(axis=1)
    scores, rows = scale * posterior + lift * np.log(counts), np.repeat(np.arange(n), copies)
    given = ScoreSet(scores[rows], labels[rows], class_counts=counts, groups=rows if copies > 1 else None)
    return frequency_p_value(CalibrationSet.build(given, 6))


def test_the_level_is_kept_at_any_temperature():
    for scale in (0.4, 1.0, 3.0):
        rejected = sum(p_value(seed, scale=scale) <= 0.05 for seed in range(200))
        assert 1 <= rejected <= 20  # 10 are expected


def test_lifted_frequent_classes_are_found():
    assert sum(p_value(seed, lift=0.7) <= 0.01 for seed in range(20)) >= 18


def test_lowered_frequent_classes_are_not_what_is_tested():
    assert min(p_value(seed, lift=-0.7) for seed in range(20)) > 0.3


def test_copies_in_groups_are_not_evidence():
    for seed in range(5):
        assert np.isclose(p_value(seed, copies=6), p_value(seed), rtol=1e-6)
