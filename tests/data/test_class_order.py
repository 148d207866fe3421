"""Labels, columns or counts in another order, and distances, are noticed although every row is covered."""

import numpy as np
import pytest

from repair import InputWarning, Reranker, Shortlist, diagnose
from repair.data.calibration_set import CalibrationSet
from repair.data.score_set import ScoreSet
from repair.datasets import SyntheticSettings, make_synthetic

K = 12
COUNTS = np.round(2000 / np.arange(1, K + 1) ** 1.3)[np.random.default_rng(3).permutation(K)]


def draw(n=400, seed=0, sharp=2.5):
    rng = np.random.default_rng(seed)
    shares = COUNTS / COUNTS.sum()
    labels = rng.choice(K, size=n, p=shares)
    return rng.normal(size=(n, K)) + sharp * np.eye(K)[labels] + 0.5 * np.log(COUNTS), labels


def failed_checks(scores, labels, **known):
    checks = diagnose(scores, labels, n_candidates=K, draws=2, **known).checks
    return {check.code for check in checks if check.outcome == "failed"} & {"RP115", "RP116", "RP117"}


def problems(scores, labels, **known):
    return CalibrationSet.build(ScoreSet(scores, labels, **known), K).order_problems()


def test_class_names_in_another_order_are_noticed():
    scores, labels = draw()
    names = [f"c{i}" for i in range(K)]
    other = [*names[5:], *names[:5]]
    with pytest.warns(InputWarning, match="different class orders: the first candidate is right on .*such as 'c"):
        Reranker("classwise", n_candidates=K).fit(scores, np.array(names)[labels], class_names=other)
    assert failed_checks(scores, np.array(names)[labels], class_names=other) == {"RP115"}
    assert failed_checks(scores, np.array(names)[labels], class_names=names) == set()


@pytest.mark.parametrize("extra_columns", [0, 1])
def test_labels_counted_from_1_are_noticed(extra_columns):
    scores, labels = draw()
    scores = np.column_stack([scores, *[np.full(len(scores), -3.0)] * extra_columns])
    labels = labels + 1
    if not extra_columns:
        labels[labels == K] = 0
    with pytest.warns(InputWarning, match="shifted by one.*if 1 is subtracted from every label.*counted from 0"):
        Reranker("classwise", n_candidates=K + extra_columns).fit(scores, labels)


@pytest.mark.parametrize("listed", [False, True])
def test_distances_are_noticed_and_can_be_said(listed):
    scores, labels = draw(sharp=5)
    distances = 20 - scores
    given = Shortlist.from_scores(distances, K) if listed else distances
    with pytest.warns(InputWarning, match="lower scores seem to be better.*score_type='distances'"):
        Reranker("classwise", n_candidates=K).fit(given, labels)
    assert "RP116" in failed_checks(given, labels)
    assert problems(given, labels, score_type="distances") == (None, None, None)


def test_counts_in_order_of_frequency_are_noticed():
    scores, labels = draw()
    in_order = np.sort(COUNTS)[::-1]
    with pytest.warns(InputWarning, match="class_counts seem to be in another order.*pass a mapping"):
        Reranker("classwise", n_candidates=K).fit(scores, labels, class_counts=in_order)
    assert failed_checks(scores, labels, class_counts=in_order) == {"RP117"}
    assert failed_checks(scores, labels, class_counts=COUNTS) == set()


@pytest.mark.parametrize("seed", range(20))
def test_honest_inputs_raise_no_alarm(seed):
    rng = np.random.default_rng(seed)
    scores, labels = draw(n=int(rng.choice([60, 150, 600])), seed=seed, sharp=float(rng.choice([0.0, 0.5, 3.0])))
    assert problems(scores, labels, class_counts=COUNTS) == (None, None, None)
    balanced = rng.integers(0, K, size=300)  # the calibration rows may be balanced, and the classifier biased
    biased = rng.normal(size=(300, K)) + np.eye(K)[balanced] + 2 * np.log(COUNTS)
    assert problems(biased, balanced, class_counts=COUNTS) == (None, None, None)
    made = make_synthetic(SyntheticSettings(n_classes=40, n_calibration=200, n_pairs=8, seed=seed)).calibration
    assert CalibrationSet.build(ScoreSet(made.scores, made.labels), 10).order_problems() == (None, None, None)
