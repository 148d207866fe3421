"""The front door: few parameters, scikit-learn's words, one list of fields, and settings that take effect."""

import pickle
from inspect import signature

import numpy as np
import pytest

from repair import (
    Base,
    ClasswiseTemperature,
    ExtendedOptions,
    GridSearch,
    HeadLossLimit,
    InputError,
    LogitAdjustment,
    Reranker,
    ScoreSet,
    Shortlist,
    ShrinkageOptions,
    TauNormalization,
    Temperature,
)
from repair.model.choice import Choice


def test_few_parameters_and_auto_by_default():
    assert len(signature(Reranker).parameters) <= 16
    assert Reranker().mode == "auto"


@pytest.mark.parametrize(
    "model",
    [
        Reranker("pairwise", tuning=GridSearch({"tau": (0.0, 0.5)}, cv=3), head_loss=HeadLossLimit(1.0)),
        Reranker("extended", extended=ExtendedOptions(0.5), shrinkage=None, dial=0.2),
        Reranker("classwise", shrinkage=ShrinkageOptions("eb", 3)),
        Base(4),
        LogitAdjustment(4, tau=0.3),
        TauNormalization(4),
        Temperature(4),
        ClasswiseTemperature(4, tau=0.1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_parameters_are_read_set_and_cloned_as_in_scikit_learn(model):
    sklearn = pytest.importorskip("sklearn.base")
    given = model.get_params()
    assert list(given) == list(signature(type(model)).parameters)
    copied = sklearn.clone(model)
    assert repr(copied) == repr(model)
    assert not copied.is_fitted
    assert copied.set_params(n_candidates=7) is copied
    assert copied.n_candidates == 7
    assert model.get_params() == given
    with pytest.raises(InputError, match=r"has no parameter 'nothing'; choose one of .*n_candidates"):
        model.set_params(nothing=1)


def test_a_score_set_is_all_that_fit_needs(problem):
    rows = ScoreSet(problem.scores, problem.labels, **problem.optional_fields)
    whole = Reranker("pairwise", n_candidates=problem.k).fit(rows)
    loose = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert whole.offsets_.tobytes() == loose.offsets_.tobytes()
    with pytest.raises(InputError, match="class_counts was passed together with a ScoreSet"):
        Reranker().fit(rows, class_counts=problem.class_counts)
    with pytest.raises(TypeError, match=r"no argument 'class_count'; .*class_counts, similarity"):
        Reranker().fit(problem.scores, problem.labels, class_count=problem.class_counts)
    with pytest.raises(InputError, match="there are no labels"):
        Reranker().fit(ScoreSet(problem.scores))


def test_probabilities_of_all_classes_are_those_of_the_shortlist_and_zero_elsewhere(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    dense, ranking = model.predict_proba(problem.scores), model.rerank(problem.scores)
    assert dense.shape == problem.scores.shape
    np.testing.assert_allclose(dense.sum(axis=1), 1.0)
    assert ((dense > 0).sum(axis=1) == problem.k).all()
    assert (np.take_along_axis(dense, ranking.ids, axis=1) == ranking.probabilities).all()
    assert (model.classes_[dense.argmax(axis=1)] == model.predict(problem.scores)).all()


def test_classes_are_what_predict_returns(problem):
    names = np.array([f"c{one:02}" for one in range(20)])
    model = Reranker("classwise", n_candidates=5).fit(problem.scores, names[problem.labels], class_names=names)
    assert model.classes_.tolist() == names.tolist()
    assert set(model.predict(problem.scores)) <= set(model.classes_)
    by_id = Reranker("classwise", n_candidates=5).fit(problem.scores, problem.labels, class_names=names)
    assert by_id.classes_.tolist() == list(range(20))


def test_a_row_without_candidates_has_no_probabilities(problem):
    model = Reranker("classwise", n_candidates=3).fit(problem.scores, problem.labels)
    lists = Shortlist.from_candidates([[0, 1], [-1, -1]], [[1.0, 0.0], [0.0, 0.0]], n_classes=20)
    dense = model.predict_proba(lists)
    assert dense[0].sum() == pytest.approx(1.0)
    assert not dense[1].any()


@pytest.mark.parametrize(("name", "values"), [("dial", (0.0, 1.0)), ("dial", (0.5, "macro")), ("strength", (1.0, 0.3))])
def test_dial_and_strength_take_effect_whenever_they_are_set(problem, name, values):
    def fitted(value):
        model = Reranker("pairwise", n_candidates=problem.k, **{name: value})
        return model.fit(problem.scores, problem.labels, **problem.optional_fields)

    first, second = map(fitted, values)
    changed = fitted(values[0]).set_params(**{name: values[1]})
    assert changed.rerank(problem.scores).scores.tobytes() == second.rerank(problem.scores).scores.tobytes()
    assert changed.rerank(problem.scores).scores.tobytes() != first.rerank(problem.scores).scores.tobytes()
    assert (changed.dial_, changed.strength_) == (second.dial_, second.strength_)
    assert str(changed.explain(problem.scores[0])) == str(second.explain(problem.scores[0]))


def test_a_strength_that_cannot_be_is_refused_when_it_is_used(problem):
    model = Reranker("classwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    model.strength = 2.0
    with pytest.raises(InputError, match=r"strength is 2\.0"):
        model.rerank(problem.scores)


@pytest.mark.parametrize(
    ("choice", "mode"),
    [
        (Choice("base", dial=0.0), "base"),
        (Choice("classwise", lambda_a=0.01, lambda_theta=1.0, dial=0.1), "classwise"),
        (Choice("pairwise", lambda_a=0.01, lambda_theta=0.1, dial=0.0), "pairwise"),
        (Choice("extended", dial=0.3, shortlist_tau=0.2), "extended"),
        (Choice("extended", dial="macro", shortlist_tau=0.2), "extended"),
    ],
)
@pytest.mark.parametrize("terms", [None, ("score_gap", "rank_gap")])
@pytest.mark.parametrize("shrinkage", [None, ShrinkageOptions("eb", 3)])
def test_every_choice_of_auto_can_be_fitted_again(problem, choice, mode, terms, shrinkage):
    model = Reranker(
        n_candidates=problem.k, terms=terms, shrinkage=shrinkage, extended=ExtendedOptions(shortlist_tau=0.5)
    )
    again = model.with_chosen_parameters(choice).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert again.mode_ == mode
    assert again.dial_ == choice.dial
    if mode != "extended":  # a ridge, with the penalty that was chosen
        assert again.shrinkage_ is None
    elif shrinkage is not None:
        assert len(again.shrinkage_.prior.means) == 3


@pytest.mark.parametrize("mode", ["extended", "auto"])
def test_modes_that_shrink_by_themselves_take_the_users_bins_and_nothing_else(problem, mode):
    binned = Reranker(mode, n_candidates=problem.k, shrinkage=ShrinkageOptions("eb", 2))
    assert binned.fit(problem.scores, problem.labels, **problem.optional_fields).is_fitted
    for shrinkage in ("eb", "paper", False, ShrinkageOptions("paper")):
        with pytest.raises(InputError, match=f"mode '{mode}' chooses shrinkage itself"):
            Reranker(mode, shrinkage=shrinkage).fit(problem.scores, problem.labels, **problem.optional_fields)
    for name in ("alpha", "tau"):
        with pytest.raises(InputError, match=f"mode '{mode}' does not use {name}; leave {name} out"):
            Reranker(mode, **{name: 0.5}).fit(problem.scores, problem.labels, **problem.optional_fields)


def test_a_ranking_travels_with_its_probabilities_and_without_the_model(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    ranking = model.rerank(problem.scores, dial=0.7)
    again = pickle.loads(pickle.dumps(ranking))
    assert again.probabilities.tobytes() == ranking.probabilities.tobytes()
    assert again.beliefs is None
    plain = model.rerank(problem.scores, dial=0.0)
    by_class = np.argsort(ranking.ids, axis=1), np.argsort(plain.ids, axis=1)
    np.testing.assert_allclose(
        np.take_along_axis(ranking.probabilities, by_class[0], axis=1),
        np.take_along_axis(plain.probabilities, by_class[1], axis=1),
    )


@pytest.mark.parametrize("mode", ["classwise", "pairwise"])
@pytest.mark.parametrize("kind", ["eb", "paper"])
def test_what_the_evidence_chose_keeps_the_users_bins_and_not_another_kind_of_shrinkage(problem, mode, kind):
    """Marginal likelihood shrinks by empirical Bayes, whatever kind was asked for, and so must the copy."""
    model = Reranker(mode, n_candidates=problem.k, tuning="evidence", shrinkage=ShrinkageOptions(kind, 2))
    model.fit(problem.scores, problem.labels, **problem.optional_fields)
    again = model.with_chosen_parameters()
    assert again.shrinkage == ShrinkageOptions("eb", 2)
    again.fit(problem.scores, problem.labels, **problem.optional_fields)
    assert again.shrinkage_.kind == "eb"
    np.testing.assert_allclose(again.offsets_, model.offsets_, atol=0.05)
