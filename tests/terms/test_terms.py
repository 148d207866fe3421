import numpy as np
import pytest

from repair import InputError, InputWarning, Reranker
from repair.class_table import ClassTable
from repair.terms import PAPER_TERMS, choose_terms


def table(**known):
    return ClassTable(4, **known)


def test_by_default_all_terms_that_the_inputs_allow():
    counts = np.ones(4)
    assert [term.name for term in choose_terms(None, table())] == ["score_gap", "rank_gap"]
    assert [term.name for term in choose_terms(None, table(class_counts=counts))] == [
        "score_gap",
        "rank_gap",
        "log_freq_ratio",
    ]


def test_the_two_equal_columns_become_one_that_stands_for_both():
    (gap, rank) = choose_terms(("log_prob_ratio", "rank_gap", "score_gap"), table())
    assert (gap.name, gap.copies) == ("score_gap", 2)
    assert rank.name == "rank_gap"
    (alone,) = choose_terms(("log_prob_ratio",), table())
    assert (alone.name, alone.copies) == ("log_prob_ratio", 1)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("cosine",), "no term 'cosine'; choose from score_gap"),
        (("log_freq_ratio",), "the term 'log_freq_ratio' needs class_counts"),
        (("similarity",), "the term 'similarity' needs similarity"),
        (("rank_gap", "rank_gap"), "repeats a name"),
        ("rank_gap", r"terms is 'rank_gap'; pass a sequence of names such as"),
        (7, "terms is 7; pass a sequence"),
        ([["rank_gap"]], "no term"),
    ],
)
def test_impossible_choices_are_refused_by_name(names, message):
    with pytest.raises(InputError, match=message):
        choose_terms(names, table())


def test_a_missing_input_is_refused_before_any_work(problem, monkeypatch):
    monkeypatch.setattr("repair.fitting.fit_correction", lambda *_: pytest.fail("the fit had begun"))
    with pytest.raises(InputError, match="needs class_counts"):
        Reranker(problem.k, terms=("log_freq_ratio",)).fit(problem.scores, problem.labels)


def test_every_paper_term_gets_a_weight(problem):
    model = Reranker(problem.k).fit(problem.scores, problem.labels, **problem.known)
    assert list(model.weights_) == [name for name in PAPER_TERMS if name != "log_prob_ratio"]


def test_missing_counts_are_said_aloud(problem):
    with pytest.warns(InputWarning, match="log-frequency term is left out"):
        model = Reranker(problem.k).fit(problem.scores, problem.labels)
    assert "log_freq_ratio" not in model.weights_
    assert (model.class_counts_ == np.bincount(problem.labels, minlength=20)).all()
