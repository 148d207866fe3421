"""The base model on term sets: what it looks at, and what it says where scikit-learn is missing."""

import sys

import numpy as np
import pytest

from repair import MissingExtraError
from repair.demo.term_classifier import base_scores, term_table

SETS = [frozenset(terms) for terms in (["a", "x"], ["b"], ["c"], ["a", "y"], ["a"])]
LABELS = np.array([0, 1, 2, 0, 0])
TRAINING = np.array([True, True, True, True, False])


@pytest.mark.needs("sklearn")
def test_terms_of_too_few_training_cases_are_not_looked_at():
    rare_term = [*SETS[:4], frozenset({"a", "x"})]
    kept, left_out = (
        [base_scores(term_table(sets)[0], LABELS, TRAINING, fewest_cases=fewest)[4] for sets in (SETS, rare_term)]
        for fewest in (1, 2)
    )
    assert np.abs(kept[0] - kept[1]).max() > 0.01
    np.testing.assert_array_equal(left_out[0], left_out[1])


@pytest.mark.needs("sklearn")
def test_cases_outside_training_do_not_change_the_base():
    table, _ = term_table(SETS)
    labels = LABELS.copy()
    labels[4] = 2
    np.testing.assert_array_equal(base_scores(table, LABELS, TRAINING), base_scores(table, labels, TRAINING))


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(MissingExtraError, match=r"repair-rerank\[demo\]"):
        base_scores(term_table(SETS)[0], LABELS, TRAINING)
