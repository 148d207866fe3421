import numpy as np
import pytest

from repair import InputError, InputWarning, Reranker
from repair.data.class_table import ClassTable
from repair.rerankers.parameters import Parameters
from repair.terms.registry import PAPER_TERMS, choose_fixed_terms


def table(**known):
    return ClassTable(4, **known)


def test_the_default_is_all_terms_whose_inputs_were_given():
    counts = np.ones(4)
    assert [term.name for term in choose_fixed_terms(None, table())] == ["score_gap", "rank_gap"]
    assert [term.name for term in choose_fixed_terms(None, table(class_counts=counts))] == [
        "score_gap",
        "rank_gap",
        "log_freq_ratio",
    ]


def test_two_equal_columns_become_one_term_with_multiplicity_two():
    (gap, rank) = choose_fixed_terms(("log_prob_ratio", "rank_gap", "score_gap"), table())
    assert (gap.name, gap.multiplicity) == ("score_gap", 2)
    assert rank.name == "rank_gap"
    (alone,) = choose_fixed_terms(("log_prob_ratio",), table())
    assert (alone.name, alone.multiplicity) == ("log_prob_ratio", 1)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("cosine",), "no term 'cosine'; choose one of score_gap"),
        (("log_freq_ratio",), "the term 'log_freq_ratio' needs class_counts"),
        (("similarity",), "the term 'similarity' needs similarity"),
        (("rank_gap", "rank_gap"), "repeats a name"),
        ("rank_gap", r"terms is 'rank_gap'; pass a sequence of names such as"),
        (7, "terms is 7; pass a sequence"),
        ([["rank_gap"]], "no term"),
    ],
)
def test_the_error_names_an_impossible_choice(names, message):
    with pytest.raises(InputError, match=message):
        Parameters.checked(Reranker("pairwise", terms=names).get_params()).plan(table())


def test_a_missing_input_raises_an_error_before_the_fit_starts(problem, monkeypatch):
    monkeypatch.setattr("repair.fitting.fit.fit_design", lambda *_: pytest.fail("the fit has started"))
    with pytest.raises(InputError, match="needs class_counts"):
        Reranker("pairwise", n_candidates=problem.k, terms=("log_freq_ratio",)).fit(problem.scores, problem.labels)


def test_every_paper_term_gets_a_weight(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert list(model.weights_) == [name for name in PAPER_TERMS if name != "log_prob_ratio"]


def test_missing_counts_cause_a_warning(problem):
    with pytest.warns(InputWarning, match="log-frequency term is left out"):
        model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels)
    assert "log_freq_ratio" not in model.weights_
    assert (model.class_counts_ == np.bincount(problem.labels, minlength=20)).all()
