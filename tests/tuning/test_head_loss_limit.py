import numpy as np
import pytest

from repair import HeadLossLimit, InputError, Reranker, ScoreSet, load, rare_classes
from repair.data.calibration_set import CalibrationSet
from repair.fitting.fit import FittedProblem, fit_problem
from repair.fitting.problem import Problem
from repair.fitting.settings import FitSettings
from repair.stats.folds import fold_rows, group_folds
from repair.terms.registry import choose_fixed_terms
from repair.tuning.head_loss_limit import _out_of_fold
from repair.tuning.head_loss_tests import betting_p_values, fixed_sequence, student_p_values, unit_margins


def draw(seed, n=900, head_bias=0.0, tail_bias=0.0, n_classes=10):
    """Scores are the true log posterior, plus a bias for the two frequent classes or for the others."""
    rng = np.random.default_rng(seed)
    counts = np.round(400 / np.arange(1, n_classes + 1)) + 1
    logits = np.log(counts / counts.sum()) + 1.5 * rng.normal(size=(n, n_classes))
    share = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = (rng.random((n, 1)) > np.cumsum(share, axis=1)).sum(axis=1).clip(max=n_classes - 1)
    rare = rare_classes(counts)
    return logits + head_bias * ~rare + tail_bias * rare, labels, counts


def fit(seed=0, mode="classwise", groups=None, **options):
    data = {name: options.pop(name) for name in ("n", "head_bias", "tail_bias") if name in options}
    scores, labels, counts = draw(seed, **data)
    given = {"head_loss": 1.0, **options}
    return Reranker(mode, n_candidates=6, **given).fit(scores, labels, class_counts=counts, groups=groups), scores


@pytest.mark.parametrize(
    ("p_values", "rejected"),
    [([0.2, 0.0], 0), ([0.1, 0.05, 0.11, 0.01], 2), ([0.01, 0.02], 2), ([], 0)],
)
def test_the_sequence_stops_at_the_first_test_that_is_not_rejected(p_values, rejected):
    assert fixed_sequence(np.array(p_values), 0.1) == rejected


def test_margins_are_group_sums_over_the_size_of_the_whole_group():
    losses = np.array([[1.0, 0.0, -1.0, 0.0, 1.0]])
    frequent = np.array([True, True, True, False, False])
    margins = unit_margins(losses, frequent, np.array([0, 0, 1, 1, 2]), 0.1)
    np.testing.assert_allclose(margins, [[(-0.9 + 0.1) / 2, 1.1 / 2]])
    np.testing.assert_allclose(unit_margins(losses, frequent, None, 0.1), [[-0.9, 0.1, 1.1]])
    assert unit_margins(losses, np.zeros(5, dtype=bool), np.array([0, 0, 1, 1, 2]), 0.1).shape == (1, 0)


@pytest.mark.parametrize(("lost", "won"), [(0.05, 0.0), (0.15, 0.1), (0.3, 0.25)])
def test_p_values_are_valid_where_the_loss_is_just_the_limit(lost, won):
    """2,000 samples of 150 rows on the border of the null: at most 10 % below .1, up to chance."""
    draws = np.random.default_rng(0).random((2000, 150))
    margins = 0.05 - (draws < lost) + (draws > 1 - won)
    for level in (0.05, 0.1, 0.2):
        reach = 3 * np.sqrt(level * (1 - level) / 2000)
        assert (betting_p_values(margins, 0.05, seed=1) <= level).mean() <= level + reach
    assert (student_p_values(margins, 0.05) <= 0.1).mean() <= 0.1 + 0.025


@pytest.mark.parametrize("mode", ["classwise", "pairwise"])
def test_held_out_rows_are_scored_to_the_bit_as_the_model_would(mode):
    """Scores that are equal but for their rounding must not change places between the test and the use."""
    scores, labels, counts = draw(0, n=300)
    rows = CalibrationSet.build(ScoreSet(scores, labels, class_counts=counts), 6)
    settings, terms = FitSettings(), choose_fixed_terms(None, rows.table) if mode == "pairwise" else ()
    problem = Problem.fixed(rows, terms)
    fitted = FittedProblem(fit_problem(problem, settings, mode=mode), problem, settings, 0.5)
    final = _out_of_fold(fitted, 5, 0)
    for train, test in fold_rows(group_folds(300, None, 5, 0)):
        model = Reranker(mode, n_candidates=6, lambda_a=1e-3, lambda_theta=1e-3, dial=0.5)
        model.fit(scores[train], labels[train], class_counts=counts)
        covered = rows.covered[test]
        expected = model.final_scores(rows.shortlist.take(test))
        np.testing.assert_array_equal(final[test][covered], expected[covered])


def test_tests_have_power_and_need_enough_rows():
    unchanged = np.full((1, 300), 0.01)
    assert betting_p_values(unchanged, 0.01, seed=0)[0] < 0.1
    assert student_p_values(unchanged, 0.01)[0] < 0.1
    assert betting_p_values(unchanged[:, :100], 0.01, seed=0)[0] > 0.1
    assert student_p_values(unchanged[:, :100], 0.01)[0] > 0.1
    for nothing in (np.zeros((2, 0)), np.full((2, 1), 0.01)):
        assert (student_p_values(nothing, 0.01) == 1).all()
    assert (betting_p_values(np.zeros((2, 0)), 0.01, seed=0) == 1).all()


@pytest.mark.parametrize("strict", [False, True])
def test_base_stays_where_every_correction_hurts_the_head(strict):
    model, scores = fit(dial=3.0, head_loss=HeadLossLimit(0.2, exact=strict))
    assert model.strength_ == 0.0
    assert "the base order is kept" in model.fit_summary_.notes[-1]
    assert (model.rerank(scores).order == np.arange(6)).all()


@pytest.mark.parametrize("mode", ["pairwise", "extended"])
def test_the_limit_covers_the_dial_macro(mode):
    limited, _ = fit(mode=mode, dial="macro", head_loss=1.0)
    free, _ = fit(mode=mode, head_loss=1.0)
    assert limited.strength_ < free.strength_  # the dial costs frequent classes more than the correction alone
    assert limited.dial_ == "macro"


@pytest.mark.parametrize("strict", [False, True])
def test_the_whole_correction_is_used_where_the_head_gains(strict):
    model, _ = fit(tail_bias=1.5, n=1500, head_loss=HeadLossLimit(1.0, exact=strict))
    assert model.strength_ == 1.0
    assert model.head_loss_.losses[-1] < 0
    assert ("exact" if strict else "approximate") in model.fit_summary_.notes[-1]
    assert model.fit_summary_.n_rows == (900 if strict else 1500)
    assert "loss (points)" in str(model.head_loss_)


@pytest.mark.parametrize("mode", ["classwise", "pairwise", "pairwise_only"])
def test_rerank_explain_save_and_freeze_honour_the_strength(mode, tmp_path):
    penalties = {"lambda_a": 0.001, "lambda_theta": 0.001}
    model, scores = fit(mode=mode, head_bias=1.0, dial=0.5, head_loss=5.0, tau=0.2, **penalties)
    strength = model.strength_
    assert 0 < strength < 1
    assert model.chosen_.to_dict()["strength"] == strength
    whole = Reranker(mode, n_candidates=6, dial=0.5, tau=0.2, **penalties)
    whole.fit(*draw(0, head_bias=1.0)[:2], class_counts=draw(0)[2])
    corrected = dict(zip(whole.rerank(scores[0]).ids[0], whole.rerank(scores[0]).scores[0], strict=True))
    ranking = model.rerank(scores[0])
    for class_id, score in zip(ranking.ids[0], ranking.scores[0], strict=True):
        base = scores[0, class_id]
        assert score == pytest.approx(base + strength * (corrected[class_id] - base), abs=1e-9)
    explained = model.explain(scores[0])
    assert [one.class_id for one in explained.candidates] == ranking.ids[0].tolist()
    for one in explained.candidates:
        assert sum(one.contributions.values()) == pytest.approx(one.score, abs=1e-9)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.strength_ == strength
    assert again.rerank(scores).scores.tobytes() == model.rerank(scores).scores.tobytes()
    frozen = model.with_chosen_parameters().fit(*draw(0, head_bias=1.0)[:2], class_counts=draw(0)[2])
    assert frozen.rerank(scores).scores.tobytes() == model.rerank(scores).scores.tobytes()
    alone = np.concatenate([model.rerank(row).scores for row in scores[:5]])
    assert alone.tobytes() == model.rerank(scores).scores[:5].tobytes()


def test_beliefs_are_those_of_the_whole_model():
    model, scores = fit(head_bias=1.0, head_loss=2.0)
    whole, _ = fit(head_bias=1.0, head_loss=None)
    assert 0 < model.strength_ < 1
    np.testing.assert_allclose(
        np.sort(model.rerank(scores).probabilities), np.sort(whole.rerank(scores).probabilities), rtol=1e-12
    )


def test_a_target_prior_is_not_scaled():
    scores, labels, counts = draw(0)
    model = Reranker("classwise", n_candidates=6, strength=0.0).fit(scores, labels, class_counts=counts)
    assert (model.rerank(scores).order == np.arange(6)).all()
    assert (model.rerank(scores, dial=5.0).order == np.arange(6)).all()
    assert (model.rerank(scores, target_prior=1 / counts).order != np.arange(6)).any()


def test_copies_in_groups_are_no_evidence():
    """Six copies of 110 rows on which nothing changes: enough rows to show it, too few groups."""
    scores, labels, counts = draw(1, n=110, tail_bias=0.1)
    rows = np.repeat(np.arange(110), 6)
    one = Reranker("classwise", n_candidates=6, lambda_a=10.0, head_loss=1.5)
    by_row = one.fit(scores[rows], labels[rows], class_counts=counts).strength_
    by_group = one.fit(scores[rows], labels[rows], class_counts=counts, groups=rows).strength_
    assert (by_row, by_group) == (1.0, 0.0)


def test_too_few_groups_keep_base():
    model, _ = fit(n=300, groups=np.arange(300) % 3)
    assert model.strength_ == 0.0


def test_auto_is_scaled_after_its_choice():
    model, _ = fit(mode="auto", head_bias=2.0, head_loss=5.0)
    assert model.mode_ != "base"
    assert 0 < model.strength_ < 1
    kept, _ = fit(mode="auto", n=400)
    assert (kept.mode_, kept.strength_, kept.head_loss_) == ("base", 1.0, None)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"head_loss": -1.0}, "head_loss is -1.0"),
        ({"head_loss": "1"}, "head_loss is '1'"),
        ({"head_loss": True}, "head_loss is True"),
        ({"strength": 1.5}, "strength is 1.5"),
        ({"strength": 0.5, "head_loss": 1.0}, "head_loss chooses the strength"),
    ],
)
def test_impossible_limits_are_refused(parameters, message):
    scores, labels, counts = draw(0, n=200)
    with pytest.raises(InputError, match=message):
        Reranker("classwise", n_candidates=6, **parameters).fit(scores, labels, class_counts=counts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"points": -1.0}, "points is -1.0"),
        ({"points": 1.0, "level": 0.0}, "level is 0.0"),
        ({"points": 1.0, "exact": 2}, "exact is 2"),
        ({"points": 1.0, "cv": 1}, "cv is 1"),
    ],
)
def test_impossible_options_are_refused_where_they_are_written(arguments, message):
    with pytest.raises(InputError, match=message):
        HeadLossLimit(**arguments)


def test_a_limit_needs_class_counts():
    scores, labels, _ = draw(0, n=200)
    with pytest.raises(InputError, match="head_loss needs class_counts"):
        Reranker("classwise", n_candidates=6, head_loss=1.0).fit(scores, labels)
