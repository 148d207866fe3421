"""The patient that is looked at closely is the one that was promised, and the sums add up."""

import csv
import io

import numpy as np
import pytest

from repair import Base, LogitAdjustment, Reranker, ScoreSet, compare, rare_classes
from repair.demo.case import choose_case
from repair.rerankers.methods import title_of

NAMES = {label: f"disease number {label} with a name that is far too long for a table" for label in range(20)}


@pytest.fixture
def compared(make_problem):
    problem = make_problem(n=1200)
    scores = problem.scores + np.log(problem.class_counts)  # the head pushes the tail far down
    parts = (slice(600), slice(600, 1200))
    sets = [ScoreSet(scores[rows], problem.labels[rows], **problem.optional_fields) for rows in parts]
    methods = {
        "base": Base(problem.k),
        "LogitAdj": LogitAdjustment(problem.k),
        "pairwise": Reranker("pairwise", n_candidates=problem.k),
    }
    return compare(methods, *sets, trials=1, resamples=10), sets[1]


@pytest.fixture
def case(compared):
    return choose_case(*compared, NAMES, "pairwise")


def test_it_is_the_rare_patient_that_came_from_furthest_down(compared, case):
    comparison, test = compared
    before = np.argsort(np.argsort(-test.scores, axis=1), axis=1)[np.arange(600), test.labels]
    rare = rare_classes(test.class_counts)[test.labels]
    fixed = (comparison.models["pairwise"].predict(test.scores) == test.labels) & (before > 0) & rare
    assert fixed.sum() > 1
    assert case.rare
    assert fixed[case.row]
    assert before[case.row] == before[fixed].max()


def test_the_related_candidate_is_the_most_similar_one_on_the_shortlist(compared, case):
    _, test = compared
    rivals = [one.class_id for one in case.explanation.candidates if one.class_id != case.truth]
    assert case.related in rivals
    assert test.similarity[case.truth, case.related] == max(test.similarity[case.truth, rivals])


def test_both_shortlists_stand_side_by_side_with_the_disease_marked(compared, case):
    _, test = compared
    before = np.argsort(-test.scores[case.row], kind="stable")[:6]
    lines = case.shortlists().splitlines()[2:]
    for line, label in zip(lines, before, strict=True):
        assert line.split(None, 1)[1].startswith(NAMES[int(label)][:17])
    assert case.shortlists().count(" *") == 2
    assert max(map(len, lines)) < 110


def test_contributions_add_up_to_the_score_in_the_file(case):
    rows = list(csv.DictReader(io.StringIO(case.to_csv())))
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert [row["true"] for row in rows] == ["1", "0", "0", "0", "0", "0"]
    parts = [name for name in rows[0] if name not in ("rank", "was", "disease", "name", "true", "score")]
    assert parts[:2] == ["base", "offset"]
    for row in rows:
        assert sum(float(row[part]) for part in parts) == pytest.approx(float(row["score"]))


def test_every_method_says_where_it_puts_the_disease(compared, case):
    comparison, test = compared
    for method, model in comparison.models.items():
        order = model.rerank(test.scores[case.row]).ids[0].tolist()
        line = next(line for line in case.rank_table().splitlines() if line.startswith(f"{title_of(method)} "))
        assert line.split()[1:] == [str(order.index(case.truth) + 1), str(order.index(case.related) + 1)]


def test_where_nothing_was_fixed_there_is_no_case(compared):
    assert choose_case(*compared, NAMES, "base") is None
