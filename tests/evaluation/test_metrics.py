import numpy as np
import pytest

from repair import Base, InputError, Ranking, Reranker, Shortlist, evaluate, rare_classes
from repair.evaluation.metrics import (
    gap_closure,
    hardest_rival_flip_rate,
    hit_rate,
    negative_log_likelihood,
    reciprocal_rank,
)


@pytest.fixture
def shortlist():
    """Five rows of four candidates 0, 1, 2, 3 in base order; class 4 is never listed."""
    return Shortlist.from_scores([[4.0, 3.0, 2.0, 1.0, 0.0]] * 5, n_candidates=4)


@pytest.fixture
def ranking(shortlist):
    """New order 2, 0, 1, 3 on every row."""
    return Ranking.from_scores(shortlist, [[2.0, 1.0, 3.0, 0.0]] * 5)


LABELS = [2, 0, 1, 3, 4]


def test_values_computed_by_hand(ranking):
    assert hit_rate(ranking, LABELS).tolist() == [1, 0, 0, 0, 0]
    assert hit_rate(ranking, LABELS, at=3).tolist() == [1, 1, 1, 0, 0]
    assert reciprocal_rank(ranking, LABELS).tolist() == [1, 1 / 2, 1 / 3, 1 / 4, 0]
    np.testing.assert_array_equal(hardest_rival_flip_rate(ranking, LABELS), [1, np.nan, 0, 0, np.nan])
    mass = np.exp([3.0, 2.0, 1.0, 0.0]).sum()
    np.testing.assert_allclose(
        negative_log_likelihood(ranking, LABELS)[:4], np.log(mass) - np.array([3.0, 2.0, 1.0, 0.0])
    )
    assert gap_closure(ranking, LABELS) == gap_closure(ranking, LABELS, unconditional=True) == 0.0


def test_summary_computed_by_hand(ranking):
    result = evaluate(ranking, LABELS, class_counts=[100, 9, 8, 7, 6])
    assert result.n_rows == 5
    assert result.n_covered == 4
    assert result.conditional["coverage"] == 0.8
    assert result.conditional["hit@1"] == 0.25
    assert result.unconditional["hit@1"] == 0.2
    assert result.conditional["rare"] == pytest.approx(1 / 3)
    assert result.unconditional["rare"] == 0.25  # four rows with a rare label, one of them uncovered
    assert result.conditional["frequent"] == 0.0
    assert result.conditional["macro"] == 0.25
    assert result.unconditional["macro"] == 0.2
    assert result.conditional["hfr"] == pytest.approx(1 / 3)
    assert "hfr" not in result.unconditional
    assert "covered rows" in str(result)


def test_macro_weighs_classes_not_rows(ranking):
    assert evaluate(ranking, [2, 2, 2, 2, 0]).conditional["macro"] == 0.5


def test_without_counts_there_are_no_strata(ranking):
    result = evaluate(ranking, LABELS)
    assert np.isnan(result.conditional["rare"])
    assert np.isnan(result.conditional["frequent"])


def test_names_can_be_labels(ranking):
    names = ["a", "b", "c", "d", "e"]
    counts = [100, 9, 8, 7, 6]
    given = evaluate(ranking, ["c", "a", "b", "d", "who?"], counts, class_names=names)
    assert given.conditional == evaluate(ranking, [2, 0, 1, 3, -1], counts).conditional


def test_rare_classes_are_four_fifths_with_ties_to_lower_ids():
    assert rare_classes([5, 5, 5, 5, 5]).tolist() == [True, True, True, True, False]
    assert rare_classes(np.arange(11)[::-1]).sum() == 8


@pytest.mark.parametrize("value", [np.nan, 0.0, 7.5])
def test_a_constant_or_nan_reranker_never_beats_the_base_order(problem, value):
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    base = evaluate(Base(problem.k).fit(problem.scores, problem.labels).rerank(shortlist), problem.labels)
    constant = evaluate(Ranking.from_scores(shortlist, np.full(shortlist.ids.shape, value)), problem.labels)
    for name in ("hit@1", "hit@3", "mrr", "macro", "gap_closure", "hfr"):
        assert constant.conditional[name] == base.conditional[name]
    assert constant.conditional["nll"] >= base.conditional["nll"]


def test_nan_on_the_label_costs_everything_and_helps_nobody(shortlist):
    scores = np.zeros((5, 4))
    scores[:, 2] = np.nan
    ranking = Ranking.from_scores(shortlist, scores)
    assert negative_log_likelihood(ranking, [2] * 5).tolist() == [np.inf] * 5
    assert hit_rate(ranking, [2] * 5, at=3).tolist() == [0] * 5
    np.testing.assert_allclose(negative_log_likelihood(ranking, [0] * 5), np.log(3))


def test_a_perfect_base_leaves_no_gap(shortlist):
    ranking = Ranking.from_scores(shortlist, shortlist.scores)
    assert np.isnan(gap_closure(ranking, [0] * 5))
    assert np.isnan(gap_closure(ranking, [0] * 5, unconditional=True))


def test_nothing_covered_is_said(ranking):
    with pytest.raises(InputError, match="none of the 5 rows"):
        evaluate(ranking, [4] * 5)


def test_base_has_no_flips(problem):
    base = Base(problem.k).fit(problem.scores, problem.labels).rerank(problem.scores)
    assert np.nanmax(hardest_rival_flip_rate(base, problem.labels)) == 0.0


def test_likelihood_is_what_the_fit_minimises(problem):
    model = Reranker("pairwise", n_candidates=problem.k, lambda_a=1e-6, lambda_theta=1e-6).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    loss = evaluate(model.rerank(problem.scores), problem.labels).conditional["nll"]
    penalty = 1e-6 * (model.offsets_**2).sum() + 1e-6 * sum(w**2 for w in model.weights_.values())
    assert loss < model.objective_ <= loss + penalty + 1e-12


def test_labels_that_are_no_class_count_as_rows_but_not_as_a_class(ranking):
    result = evaluate(ranking, [2, 0, -1, -1, 4], class_counts=[100, 9, 8, 7, 6])
    assert result.unconditional["hit@1"] == 0.2
    assert result.unconditional["macro"] == pytest.approx(1 / 3)
    assert result.unconditional["rare"] == 0.5
    assert result.unconditional["frequent"] == 0.0
    assert result.rows["rare"].tolist() == [True, False, False, False, True]
    assert result.rows["frequent"].tolist() == [False, True, False, False, False]


def test_groups_count_once_each(shortlist, ranking):
    """Three rows of one patient and two of another: as if each patient were one row."""
    labels, groups = [2, 2, 2, 0, 1], ["a", "a", "a", "b", "b"]
    result = evaluate(ranking, labels, class_counts=[100, 9, 8, 7, 6], groups=groups)
    assert result.weights.tolist() == pytest.approx([1 / 3] * 3 + [1 / 2] * 2)
    assert result.conditional["hit@1"] == pytest.approx(0.5)
    assert result.conditional["mrr"] == pytest.approx((1 + (1 / 2 + 1 / 3) / 2) / 2)
    assert result.conditional["rare"] == pytest.approx(1 / 1.5)
    assert result.conditional["frequent"] == 0.0
    assert result.conditional["hfr"] == pytest.approx(1 / 1.5)
    base_right = 0.25  # the row with label 0
    assert result.conditional["gap_closure"] == pytest.approx((0.5 - base_right) / (1 - base_right))
    assert result.unconditional["gap_closure"] == pytest.approx(result.conditional["gap_closure"])
