"""The contradictions chance would bring: the same counts, honest p-values, and power."""

import numpy as np
import pytest
from scipy import stats

from repair import Base, Reranker, Shortlist
from repair.datasets import SyntheticSettings, make_synthetic
from repair.diagnosis import contradictory_pairs, expected_contradictions
from repair.diagnosis.expected import _count, _cumulated_chances
from repair.diagnosis.shared_shortlists import Meetings
from repair.errors import InputError, NotFittedError


def separable(seed, n=500, n_classes=30, k=6):
    """Labels drawn from softmax(g + a) on the shortlist: fixed offsets are the truth."""
    rng = np.random.default_rng(seed)
    offsets = rng.normal(size=n_classes)
    shortlist = Shortlist.from_scores(1.5 * rng.normal(size=(n, n_classes)), k)
    noisy = shortlist.scores + offsets[shortlist.ids] + rng.gumbel(size=shortlist.ids.shape)
    return shortlist, shortlist.ids[np.arange(n), noisy.argmax(axis=1)], offsets


def test_draws_are_counted_as_labels_are(make_shortlist, monkeypatch):
    """Both ways of grouping agree, whatever the blocks in which pairs are numbered."""
    monkeypatch.setattr("repair.diagnosis.shared_shortlists.PAIRS_PER_BLOCK", 70)
    for seed in range(10):
        shortlist = make_shortlist(n=80, n_classes=8, seed=seed)
        positions = (np.random.default_rng(seed).random(80) * shortlist.lengths).astype(np.int32)
        labels = shortlist.ids[np.arange(80), positions]
        counted = contradictory_pairs(shortlist, labels).n_contradictory
        assert _count(Meetings.of(shortlist), positions) == counted > 0


def test_too_many_pairs_to_number_give_the_same_draws(monkeypatch):
    shortlist, labels, _ = separable(3)
    model = Reranker("classwise", n_candidates=6).fit(shortlist, labels)
    numbered = expected_contradictions(shortlist, labels, model, draws=5)
    monkeypatch.setattr("repair.diagnosis.shared_shortlists.KEPT_NUMBERS", 0)
    assert expected_contradictions(shortlist, labels, model, draws=5).drawn.tolist() == numbered.drawn.tolist()


def test_labels_are_drawn_from_the_model(make_shortlist):
    shortlist = make_shortlist(n=60, n_classes=8)
    labels = shortlist.ids[:, 0]
    model = Reranker("classwise", n_candidates=5).fit(shortlist, labels)
    shares = np.diff(_cumulated_chances(shortlist, model), axis=1, prepend=0.0)
    exact = np.exp(shortlist.scores + model.offsets_[np.maximum(shortlist.ids, 0)])
    exact = np.where(shortlist.mask, exact, 0.0)
    np.testing.assert_allclose(shares, exact / exact.sum(axis=1, keepdims=True), atol=1e-12)
    assert (shares[~shortlist.mask] == 0.0).all()


def test_p_values_are_uniform_if_the_model_is_the_truth():
    """With the true offsets in the scores, observed and drawn labels are exchangeable."""
    p_values = []
    for seed in range(40):
        shortlist, labels, offsets = separable(seed)
        true = Shortlist.from_candidates(shortlist.ids, shortlist.scores + offsets[shortlist.ids], 30)
        result = expected_contradictions(true, labels, Base(6).fit(true, labels), draws=39, random_state=seed)
        p_values.append(result.p_value)
    rejected = int((np.array(p_values) <= 0.1).sum())
    assert stats.binomtest(rejected, 40, 0.1).pvalue > 0.01
    assert stats.kstest(p_values, "uniform").pvalue > 0.01


def test_separable_problems_have_many_contradictions_but_no_excess():
    """Type-I error at 10 % with fitted offsets, over 40 problems, is at most nominal within noise."""
    rejected, shares = 0, []
    for seed in range(40):
        shortlist, labels, _ = separable(seed)
        model = Reranker("classwise", n_candidates=6, shrinkage="eb").fit(shortlist, labels)
        result = expected_contradictions(shortlist, labels, model, draws=39, random_state=seed)
        rejected += result.p_value <= 0.1
        shares.append(result.observed / contradictory_pairs(shortlist, labels).n_two_way)
    assert np.mean(shares) > 0.5
    assert stats.binomtest(rejected, 40, 0.1, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize("n_pairs", [0, 15])
def test_truly_contradictory_pairs_show_as_an_excess(n_pairs):
    part = make_synthetic(SyntheticSettings(n_pairs=n_pairs, n_test=1)).calibration
    shortlist = Shortlist.from_scores(part.scores, 10)
    model = Reranker("classwise", n_candidates=10, shrinkage="eb").fit(shortlist, part.labels)
    result = expected_contradictions(shortlist, part.labels, model, draws=99)
    assert result.observed > 1000
    if n_pairs:
        assert result.excess > 3 * result.deviation
        assert result.p_value == 0.01
    else:
        assert abs(result.excess) < 3 * result.deviation
        assert result.p_value > 0.1


def test_the_result_does_not_depend_on_threads_or_kernel(monkeypatch):
    shortlist, labels, _ = separable(0)
    model = Reranker("classwise", n_candidates=6).fit(shortlist, labels)
    monkeypatch.setattr("repair.kernels.loaded", None)
    results = []
    for threads, compile_from in [("1", 1 << 30), ("4", 1 << 30), ("4", 0)]:
        monkeypatch.setenv("REPAIR_NUM_THREADS", threads)
        monkeypatch.setattr("repair.kernels.COMPILE_FROM", compile_from)
        results.append(expected_contradictions(shortlist, labels, model, draws=7, random_state=3).drawn.tolist())
    assert results[0] == results[1] == results[2]
    assert results[0] != expected_contradictions(shortlist, labels, model, draws=7, random_state=4).drawn.tolist()
    assert results[0] == expected_contradictions(shortlist, labels, model, draws=9, random_state=3).drawn[:7].tolist()


def test_the_numbers_follow_from_the_draws():
    shortlist, labels, _ = separable(1)
    model = Reranker("classwise", n_candidates=6).fit(shortlist, labels)
    result = expected_contradictions(shortlist, labels, model, draws=19)
    assert result.observed == contradictory_pairs(shortlist, labels).n_contradictory
    assert result.expected == result.drawn.mean()
    assert result.excess == result.observed - result.expected
    assert result.p_value == (1 + (result.drawn >= result.observed).sum()) / 20
    assert "19 draws" in str(result)


def test_uncovered_rows_play_no_part():
    shortlist, labels, _ = separable(2)
    model = Reranker("classwise", n_candidates=6).fit(shortlist, labels)
    hidden = np.where(np.arange(len(labels)) % 3 == 0, -1, labels)
    kept = np.flatnonzero(hidden >= 0)
    some = expected_contradictions(shortlist, hidden, model, draws=5)
    assert (
        some.drawn.tolist()
        == expected_contradictions(shortlist.take(kept), labels[kept], model, draws=5).drawn.tolist()
    )
    nothing = expected_contradictions(shortlist, np.full(len(labels), -1), model, draws=5)
    assert (nothing.observed, nothing.expected, nothing.p_value) == (0, 0.0, 1.0)


def test_a_dial_is_a_wish_and_not_a_belief(problem):
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    drawn = []
    for dial in (0.0, 1.0):
        model = Reranker("classwise", n_candidates=problem.k, dial=dial)
        model.fit(shortlist, problem.labels, class_counts=problem.class_counts)
        drawn.append(expected_contradictions(shortlist, problem.labels, model, draws=5).drawn.tolist())
    assert drawn[0] == drawn[1]


def test_bad_models_are_named(problem):
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    pairwise = Reranker("pairwise", n_candidates=problem.k).fit(shortlist, problem.labels, **problem.optional_fields)
    with pytest.raises(InputError, match="pairwise terms"):
        expected_contradictions(shortlist, problem.labels, pairwise)
    with pytest.raises(InputError, match="model is str"):
        expected_contradictions(shortlist, problem.labels, "classwise")
    with pytest.raises(NotFittedError):
        expected_contradictions(shortlist, problem.labels, Reranker("classwise"))
    with pytest.raises(InputError, match="draws is 0"):
        expected_contradictions(shortlist, problem.labels, pairwise, draws=0)
