"""Which classes are called rare, and that it is said."""

import numpy as np
import pytest

from repair import InputError, class_strata, rare_classes
from repair.stats.strata import strata_of

LONG_TAIL = np.round(1000 / np.arange(1, 31))


def test_a_long_tail_is_divided_as_in_the_paper():
    found = class_strata(LONG_TAIL)
    assert found.rule == "paper"
    assert (found.classes["rare"] == rare_classes(LONG_TAIL)).all()
    assert "24 of 30 classes" in found.description
    assert "the paper's four fifths" in found.description


def test_where_the_papers_rare_classes_have_most_examples_tail_mass_is_used():
    counts = np.array([400, 300, 300, 250, 200, 200, 150, 100, 60, 40])
    found = class_strata(counts)
    assert found.rule == "mass"
    assert counts[found.classes["rare"]].sum() <= 0.2 * counts.sum() < counts[-4:].sum() + 200
    assert "The paper's four fifths of the classes have 65 % of them." in found.description
    assert (class_strata(counts, "paper").classes["rare"] == rare_classes(counts)).all()


@pytest.mark.parametrize("counts", [np.full(10, 50.0), np.array([100.0, 105.0, 98.0, 102.0])])
def test_no_class_is_rare_where_all_are_about_equally_frequent(counts):
    found = class_strata(counts)
    assert not found.classes["rare"].any()
    assert found.classes["frequent"].all()
    assert "No class is called rare" in found.description


def test_equal_counts_are_never_divided_by_tail_mass():
    rare = class_strata([50, 5, 5, 5, 5, 50, 5], "mass").classes["rare"]
    assert rare.tolist() == [False, True, True, True, True, False, True]
    assert not class_strata([50, 9, 9, 9, 50], "mass").classes["rare"].any()


def test_training_counts_at_the_limits():
    classes = class_strata([19, 20, 100, 101], "counts").classes
    assert {name: which.tolist() for name, which in classes.items()} == {
        "few": [True, False, False, False],
        "medium": [False, True, True, False],
        "many": [False, False, False, True],
    }


@pytest.mark.parametrize("rule", ["paper", "mass", "counts", None])
def test_every_class_is_in_one_stratum_and_unknown_labels_in_none(rule):
    found = class_strata(LONG_TAIL, rule)
    assert (sum(which.astype(int) for which in found.classes.values()) == 1).all()
    rows = found.rows(np.array([-1, 0, 29]))
    assert not any(which[0] for which in rows.values())
    assert all(sum(which[row] for which in rows.values()) == 1 for row in (1, 2))


def test_rows_follow_the_default_rule():
    strata = strata_of(np.arange(30), LONG_TAIL)
    assert (strata.rare == rare_classes(LONG_TAIL)).all()


def test_another_rule_is_refused():
    with pytest.raises(InputError, match="strata is 'rarest'"):
        class_strata(LONG_TAIL, "rarest")
