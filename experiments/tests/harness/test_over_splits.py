"""Gains over splits: what is averaged, and what the interval counts as independent."""

from types import SimpleNamespace

import numpy as np
import pytest

from repair import Base, InputError, LogitAdjustment, ScoreSet, evaluate
from repair_bench.harness.over_splits import METRICS, compare_over_splits

COUNTS = np.array([300, 80, 30, 10, 5])


def draw(rng, groups):
    labels = rng.integers(0, 5, size=len(groups))
    scores = rng.normal(size=(len(groups), 5)) + 2.0 * np.eye(5)[labels] + 0.7 * np.log(COUNTS)
    return ScoreSet(scores, labels, class_counts=COUNTS, groups=groups)


@pytest.fixture
def splits():
    rng = np.random.default_rng(1)
    shared = np.repeat(np.arange(40), 5)
    return [SimpleNamespace(calibration=draw(rng, shared + 1000), test=draw(rng, shared)) for _ in range(3)]


METHODS = {"Base": Base(4), "LogitAdj": LogitAdjustment(4)}


def test_values_are_those_of_evaluate(splits):
    result = compare_over_splits(METHODS, splits, reference="Base", resamples=100)
    for number, split in enumerate(splits):
        model = LogitAdjustment(4).fit(
            split.calibration.scores, split.calibration.labels, **split.calibration.optional_fields
        )
        ranking = model.rerank(split.test.scores)
        once = evaluate(ranking, split.test.labels, COUNTS, groups=split.test.groups)
        rows = evaluate(ranking, split.test.labels, COUNTS)
        for metric in ("hit@1", "rare", "frequent"):
            assert result.by_group["LogitAdj"][metric][number] == pytest.approx(once.conditional[metric])
            assert result.by_row["LogitAdj"][metric][number] == pytest.approx(rows.conditional[metric])
        assert result.by_row["LogitAdj"]["accuracy"][number] == pytest.approx(rows.unconditional["hit@1"])
    for metric in METRICS:
        gain, low, high, positive = result.gains["LogitAdj"][metric]
        difference = result.by_group["LogitAdj"][metric] - result.by_group["Base"][metric]
        assert gain == pytest.approx(difference.mean())
        assert low < gain < high
        assert 0 <= positive <= 1
        assert result.gains["Base"][metric] == (0.0, 0.0, 0.0, 0.0)
    assert "LogitAdj" in str(result)


def test_copies_of_a_split_narrow_nothing(splits):
    """The same test groups five times are no more evidence than once."""
    once = compare_over_splits(METHODS, splits[:1], reference="Base", resamples=1000)
    often = compare_over_splits(METHODS, splits[:1] * 5, reference="Base", resamples=1000)
    assert often.gains["LogitAdj"]["hit@1"] == pytest.approx(once.gains["LogitAdj"]["hit@1"])


def test_an_unknown_reference_is_refused(splits):
    with pytest.raises(InputError, match="LogitAdj"):
        compare_over_splits(METHODS, splits, reference="nobody")


def test_intervals_of_paired_gains_hold_their_level():
    """Two fixed rankers that differ only by chance: 0 lies inside about 95 of 100 intervals."""
    inside = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(60), 3)
        test = draw(rng, groups)
        noise = ScoreSet(test.scores + rng.normal(size=test.scores.shape), test.labels, class_counts=COUNTS)
        other = test.scores + rng.normal(size=test.scores.shape)
        methods = {"a": _Scores(noise.scores), "b": _Scores(other)}
        split = SimpleNamespace(calibration=test, test=test)
        result = compare_over_splits(methods, [split], reference="a", resamples=400)
        _, low, high, _ = result.gains["b"]["hit@1"]
        inside += low <= 0 <= high
    assert 88 <= inside <= 100


class _Scores(Base):
    """A method that brings its own scores for the rows it is asked about."""

    def __init__(self, scores):
        super().__init__(5)
        self.scores = scores

    def clone(self):
        return _Scores(self.scores)

    def rerank(self, scores, **options):
        return super().rerank(self.scores, **options)
