"""`rerank_one` is `rerank` for one row: the same bits, from any number of threads."""

import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from repair import InputError, InputWarning, Reranker, ScoreSet, Shortlist

NAMES = [f"class {number}" for number in range(20)]


@pytest.fixture
def model(problem):
    rows = ScoreSet(problem.scores, problem.labels, class_names=NAMES, **problem.optional_fields)
    return Reranker("pairwise", n_candidates=problem.k, lambda_a=0.001, lambda_theta=0.001).fit(rows)


def as_tuples(ranking, row):
    """Return the candidates of one row of a ranking as `rerank_one` returns them."""
    names = ranking.class_names or [None] * ranking.n_classes
    columns = zip(
        ranking.ids[row].tolist(), ranking.scores[row].tolist(), ranking.probabilities[row].tolist(), strict=True
    )
    return [(i, names[i], score, probability) for i, score, probability in columns if i >= 0]


def test_it_returns_the_bits_of_rerank_for_names_ids_and_all_scores(model, problem):
    ranking = model.rerank(problem.scores)
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    for row in range(40):
        expected = as_tuples(ranking, row)
        listed = list(zip(shortlist.ids[row].tolist(), shortlist.scores[row].tolist(), strict=True))[::-1]
        assert model.rerank_one(dict(listed)) == expected
        assert model.rerank_one({NAMES[i]: score for i, score in listed}) == expected
        assert model.rerank_one(problem.scores[row]) == expected
    best = model.rerank_one(problem.scores[0])[0]
    assert best.name == NAMES[best.id]


def test_a_dial_and_a_strength_are_those_of_rerank(model, problem):
    for dial in (0.7, "macro"):
        assert model.rerank_one(problem.scores[3], dial=dial) == as_tuples(
            model.rerank(problem.scores[3], dial=dial), 0
        )
    model.set_params(strength=0.4)
    assert model.rerank_one(problem.scores[3]) == as_tuples(model.rerank(problem.scores[3]), 0)


def test_ties_keep_the_lower_id_and_minus_infinity_removes_a_candidate(problem):
    base = Reranker("base", n_candidates=4).fit(problem.scores, problem.labels)
    ranked = base.rerank_one({7: 1.0, 3: 1.0, 5: 2.0, 1: -np.inf})
    assert [candidate.id for candidate in ranked] == [5, 3, 7]
    assert ranked[0].name is None
    assert base.rerank_one({7: -np.inf}) == []


def test_embeddings_are_those_of_rerank(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    model = Reranker("extended", n_candidates=4).fit(
        ScoreSet(problem.scores, problem.labels, embeddings=vectors, class_counts=problem.class_counts)
    )
    row = model.rerank_one(problem.scores[5], embedding=vectors[5])
    assert row == as_tuples(model.rerank(problem.scores[5], embeddings=vectors[5]), 0)
    with pytest.raises(InputError, match="reads embeddings of 8 numbers per row; pass embeddings"):
        model.rerank_one(problem.scores[5])
    with pytest.raises(InputError, match="was fitted on the scores of all classes"):
        model.rerank_one({0: 1.0, 1: 2.0}, embedding=vectors[5])


def test_many_threads_get_the_same_answers_as_one(model, problem):
    rows = list(problem.scores[:60]) * 4
    expected = [model.rerank_one(row) for row in rows]
    fresh = model.with_state(model.state)  # the first calls also race for what is computed on first use
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fresh.rerank_one, rows)) == expected


def test_scores_of_another_type_warn_as_in_rerank(problem):
    logs = problem.scores - np.log(np.exp(problem.scores).sum(axis=1, keepdims=True))
    model = Reranker("classwise", n_candidates=4).fit(logs, problem.labels)
    with pytest.warns(InputWarning, match="look like probabilities"):
        model.rerank_one(np.exp(logs[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.rerank_one(logs[0])


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ({}, "there are no candidates; pass at least one"),
        ({"class 1": 1.0, "nobody": 2.0}, "'nobody' is not one of the 20 classes; check its name"),
        ({20: 1.0}, "candidate ids[0, 0] is 20; ids run from 0 to 19"),
        ({1.5: 1.0}, "candidate ids[0, 0] is 1.5; class ids are whole numbers"),
        ({1: float("nan")}, "candidate scores[0, 0] is nan; scores must be finite"),
        ({1: "high"}, "candidate scores has dtype"),
        ({"class 3": 1.0, 3: 2.0}, "row 0 lists class 3 twice"),
        (np.zeros((2, 20)), "rerank_one takes one row, but got 2; use rerank for several"),
        (np.zeros(19), "scores are over 19 classes, but the model was fitted for 20"),
    ],
)
def test_bad_rows_are_refused(model, candidates, message):
    with pytest.raises(InputError, match=re.escape(message)):
        model.rerank_one(candidates)


def test_names_need_a_model_with_names(problem):
    base = Reranker("base", n_candidates=4).fit(problem.scores, problem.labels)
    with pytest.raises(InputError, match="'cat' is a class name, but the model has no names; pass class ids"):
        base.rerank_one({"cat": 1.0})
