"""Macro accuracy on test rows, on the way to the dial "macro"."""

import numpy as np
import pytest

from repair import Base, ExtendedOptions, Reranker, evaluate
from repair.rerankers.rivals.scaling import VectorScaling
from repair_bench.bases.base_scores import BaseScores
from repair_bench.harness.macro_frontier import macro_frontier
from repair_bench.rivals.balanced import BalancedVectorScaling

K = 6


@pytest.fixture
def base():
    rng = np.random.default_rng(0)
    counts = np.array([400, 80, 40, 20, 10, 5])
    labels = rng.choice(K, size=1200, p=counts[::-1] / counts.sum())  # another mix than in training
    scores = 1.5 * np.eye(K)[labels] + rng.normal(size=(1200, K)) + 0.5 * np.log(counts)
    parts = slice(0, 600), slice(600, 1200)
    return BaseScores(tuple("abcdef"), counts, *(scores[part] for part in parts), *(labels[part] for part in parts))


MODELS = [
    Base(3),
    Reranker("pairwise", n_candidates=3),
    Reranker("extended", n_candidates=2, extended=ExtendedOptions(n_ranked=5)),
    VectorScaling(2),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize(("step", "dial"), [(0.0, 0.0), (1.0, "macro")])
def test_step_one_is_the_dial_macro(base, model, step, dial):
    model.fit(base.calibration)
    found = macro_frontier(model, base.test, base)
    assert len({len(values) for values in found.values()}) == 1
    at = found["steps"].index(step)
    scores = base.test.scores if model.uses_all_scores else base.test.shortlist(model.n_candidates)
    metrics = evaluate(model.rerank(scores, dial=dial), base.test_labels).unconditional
    assert (found["accuracy"][at], found["macro"][at]) == pytest.approx((metrics["hit@1"], metrics["macro"]))


def test_a_balanced_rival_already_gives_all_classes_the_same_weight(base):
    plain, balanced = (rival(3).fit(base.calibration) for rival in (VectorScaling, BalancedVectorScaling))
    curves = [macro_frontier(model, base.test, base) for model in (plain, balanced)]
    start, end = (curves[0]["steps"].index(step) for step in (0.0, 1.0))
    assert curves[1]["macro"][start] == pytest.approx(curves[1]["macro"][end])  # the dial changes nothing
    assert curves[1]["macro"][start] > curves[0]["macro"][start] + 0.02
    assert curves[0]["macro"][end] > curves[0]["macro"][start] + 0.02


def test_every_group_counts_once_within_its_class():
    scores = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    labels, groups = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 2])
    base = BaseScores(("a", "b"), np.array([5, 5]), scores, scores, labels, labels, groups, groups)
    found = macro_frontier(Base(2).fit(base.calibration), base.test, base)
    assert found["accuracy"][0] == pytest.approx(2.5 / 3)
    assert found["macro"][0] == pytest.approx((1.5 / 2 + 1) / 2)
