"""The methods by name."""

import pytest

from repair import InputError
from repair.bench.methods import METHODS, QUICK, choose

EVERYTHING = {"class_counts": [2, 1], "weight_norms": [1.0, 1.0], "embeddings": [[1.0]]}


def test_every_method_is_made_for_the_length_that_is_asked_for():
    assert {method.make(7, None).n_candidates for method in METHODS.values()} == {7}
    assert len({method.title for method in METHODS.values()}) == len(METHODS)


def test_the_published_method_selects_in_sample_and_ignores_groups():
    model = METHODS["published"].make(10, None)
    assert repr(model) == "Reranker(shrinkage=False, group_weights=False, selection='in_sample')"


def test_without_shrinkage_takes_published_values_or_cross_validates_the_ridge_alone():
    fixed = METHODS["repair_ridge"].make(10, {"lambda_a": 0.5, "lambda_theta": 0.01, "alpha": 0.3, "tau": 0.0})
    assert (fixed.lambda_a, fixed.alpha, fixed.selection, fixed.shrinkage) == (0.5, 0.3, None, False)
    searched = METHODS["repair_ridge"].make(10, None)
    assert (searched.selection, searched.shrinkage, set(searched.grid)) == ("cv", False, {"lambda_a", "lambda_theta"})


def test_methods_are_chosen_by_what_the_base_has():
    assert choose(None, EVERYTHING) == tuple(METHODS)
    assert choose(None, EVERYTHING, quick=True) == QUICK
    assert "tau_norm" not in choose(None, {"class_counts": [2, 1]})
    assert choose(["repair", "base", "repair"], {}) == ("repair", "base")
    with pytest.raises(InputError, match="there is no method 'best'"):
        choose(["best"], EVERYTHING)
    with pytest.raises(InputError, match="'tau_norm' needs weight_norms"):
        choose(["tau_norm"], {"class_counts": [2, 1]})
