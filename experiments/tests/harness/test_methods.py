"""The methods by name."""

import pytest

from repair import GridSearch, InputError
from repair.rerankers.rivals.rival import ScoreRival
from repair.tuning.grid import PAPER_GRID
from repair_bench.harness.methods import BASE, EMBEDDINGS, MACRO, METHODS, OURS, QUICK, RIVAL, SCORES, TEST_ROWS, choose

EVERYTHING = {"class_counts": [2, 1], "weight_norms": [1.0, 1.0], "embeddings": [[1.0]]}


def test_every_method_is_made_for_the_length_that_is_asked_for():
    assert {method.make(7, None).n_candidates for method in METHODS.values()} == {7}
    assert len({method.title for method in METHODS.values()}) == len(METHODS)


def test_the_published_method_selects_in_sample_and_ignores_groups():
    model = METHODS["published"].make(10, None)
    assert repr(model) == "Reranker(mode='pairwise', shrinkage=False, tuning='in_sample')"
    assert [name for name, method in METHODS.items() if not method.equal_group_weight] == ["published"]


def test_without_shrinkage_takes_published_values_or_cross_validates_the_ridge_alone():
    fixed = METHODS["pairwise_ridge"].make(10, {"lambda_a": 0.5, "lambda_theta": 0.01, "alpha": 0.3, "tau": 0.0})
    assert (fixed.mode, fixed.lambda_a, fixed.alpha, fixed.tuning) == ("pairwise", 0.5, 0.3, None)
    assert fixed.shrinkage is False
    searched = METHODS["pairwise_ridge"].make(10, None)
    assert (searched.mode, searched.shrinkage, searched.tuning.cv) == ("pairwise", False, GridSearch().cv)
    assert (searched.tuning.grid.tau, searched.tuning.grid.alpha) == ((0.0,), (0.0,))
    assert searched.tuning.grid.lambda_a == PAPER_GRID.lambda_a


def test_every_method_says_what_information_it_uses():
    assert {method.information for method in METHODS.values()} == {SCORES, EMBEDDINGS, TEST_ROWS}
    for method in METHODS.values():
        assert (method.information == EMBEDDINGS) == method.embeddings == ("embeddings" in method.needs)
    assert [name for name, method in METHODS.items() if method.information == TEST_ROWS] == ["em_prior", "bbse"]


def test_every_method_has_a_role():
    kinds = (BASE, OURS, RIVAL, MACRO)
    roles = {role: {name for name, method in METHODS.items() if method.role == role} for role in kinds}
    assert roles[BASE] == {"base"}
    assert roles[MACRO] == {name for name in METHODS if name.endswith(("_macro", "_balanced"))}
    ours = {name for name in METHODS if name.startswith(("auto", "extended", "pairwise", "classwise"))}
    assert roles[OURS] == ours - roles[MACRO]
    simple = {"logit_adjustment", "logit_adjustment_all", "tau_normalization", "temperature", "lambdarank", "published"}
    others = {name for name, method in METHODS.items() if isinstance(method.make(3, None), ScoreRival)}
    assert roles[RIVAL] == (simple | others) - roles[MACRO]


def test_methods_are_chosen_by_what_the_base_has():
    assert choose(None, EVERYTHING) == tuple(METHODS)
    assert choose(None, EVERYTHING, quick=True) == QUICK
    assert "tau_normalization" not in choose(None, {"class_counts": [2, 1]})
    assert choose(["pairwise", "base", "pairwise"], {}) == ("pairwise", "base")
    with pytest.raises(InputError, match="there is no method 'best'"):
        choose(["best"], EVERYTHING)
    with pytest.raises(InputError, match="'tau_normalization' needs weight_norms"):
        choose(["tau_normalization"], {"class_counts": [2, 1]})
