"""The held-out accuracy on calibration rows."""

import numpy as np
import pytest

from repair import LogitAdjustment, Reranker, ScoreSet
from repair.rerankers.rivals import rival as rival_module
from repair.rerankers.rivals.rival import ScoreRival
from repair.rerankers.rivals.scaling import VectorScaling
from repair.stats.folds import fold_rows, group_folds
from repair_bench.harness.held_out import held_out_accuracy
from repair_bench.harness.methods import METHODS
from repair_bench.rivals.transductive import EmPrior

K = 6


def rows_of(n, rng, **known):
    labels = rng.integers(0, K, size=n)
    scores = rng.normal(size=(n, K)) + 1.5 * np.eye(K)[labels] + np.array([2.0, 1.0, 0.5, 0, 0, 0])
    return ScoreSet(scores, labels, class_counts=[90, 40, 20, 9, 5, 3], **known)


def test_a_method_of_the_library_is_fitted_again_without_each_fold():
    rows = rows_of(200, np.random.default_rng(0))
    fitted = Reranker("classwise", n_candidates=3).fit(rows)
    hits = np.zeros(200)
    for train, test in fold_rows(group_folds(200, None, 5, 0)):
        copy = fitted.with_chosen_parameters().fit(rows.take(train))
        hits[test] = copy.rerank(rows.scores[test]).best == rows.labels[test]
    assert held_out_accuracy(fitted, rows) == pytest.approx(hits.mean())


def test_uncovered_rows_are_wrong_and_own_lists_hold_all_classes():
    rows = rows_of(200, np.random.default_rng(1))
    one = LogitAdjustment(1).fit(rows)
    best = np.asarray(rows.scores).argmax(axis=1) == rows.labels
    assert held_out_accuracy(one, rows) == pytest.approx(best.mean())
    assert held_out_accuracy(LogitAdjustment(K).fit(rows), rows) > best.mean()


def test_every_group_counts_once_even_if_the_fit_weighs_rows():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(60), rng.integers(1, 9, size=60))
    rows = rows_of(len(groups), rng, groups=groups)
    weights = 1.0 / np.bincount(groups)[groups]
    right = np.asarray(rows.scores).argmax(axis=1) == rows.labels
    by_row = ScoreSet(**{**vars(rows), "equal_group_weight": False})
    for given in (rows, by_row):
        found = held_out_accuracy(METHODS["base"].make(3, None).fit(given), given)
        assert found == pytest.approx(weights @ right / weights.sum())
        assert found != pytest.approx(right.mean())


@pytest.mark.parametrize("kind", [VectorScaling, EmPrior])
def test_a_rival_is_not_fitted_again_if_its_cross_fitted_scores_are_known(kind, monkeypatch):
    rows = rows_of(300, np.random.default_rng(3))
    fitted = kind(3).fit(rows)

    def refuse(*arguments):
        raise AssertionError("the scores of the choice were forgotten")

    with monkeypatch.context() as patched:
        patched.setattr(ScoreRival, "cross_fit", refuse)
        patched.setattr(kind, "train", refuse)
        remembered = held_out_accuracy(fitted, rows)
    base = (np.asarray(rows.scores).argmax(axis=1) == rows.labels).mean()
    assert remembered > base + 0.05
    rival_module._memory.clear()
    assert held_out_accuracy(fitted, rows) == pytest.approx(remembered, abs=0.02)


def test_rows_without_a_known_label_are_wrong():
    rng = np.random.default_rng(4)
    rows = rows_of(300, rng)
    labels = np.array(rows.labels)
    labels[rng.permutation(300)[:150]] = -1
    partly = ScoreSet(rows.scores, labels, class_counts=rows.class_counts)
    for model in (VectorScaling(3), LogitAdjustment(3)):
        assert 0.2 < held_out_accuracy(model.clone().fit(partly), partly) < 0.5
        assert held_out_accuracy(model.clone().fit(rows), rows) > 0.5


@pytest.mark.filterwarnings("ignore:only")
def test_too_few_groups_have_no_figure():
    rows = rows_of(60, np.random.default_rng(5), groups=np.arange(60) % 3)
    for model in (VectorScaling(3), LogitAdjustment(3)):
        assert held_out_accuracy(model.fit(rows), rows) is None
