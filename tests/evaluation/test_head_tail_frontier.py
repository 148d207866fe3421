import numpy as np
import pytest

from repair import InputError, Reranker, evaluate, head_tail_frontier
from repair.stats.paired_gains import paired_gain


@pytest.fixture
def model(problem):
    return Reranker("classwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)


@pytest.mark.parametrize("grouped", [False, True])
def test_values_are_those_of_evaluate(problem, model, grouped):
    groups = np.arange(len(problem.labels)) // 3 if grouped else None
    frontier = head_tail_frontier(model, problem.scores, problem.labels, groups=groups)
    assert frontier.dials.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    for place, dial in enumerate(frontier.dials):
        ranking = model.rerank(problem.scores, dial=dial)
        expected = evaluate(ranking, problem.labels, problem.class_counts, groups=groups).unconditional
        for name, metric in {"rare": "rare", "frequent": "frequent", "accuracy": "hit@1", "macro": "macro"}.items():
            assert frontier.values[name][place] == pytest.approx(expected[metric])


def test_errors_are_paired_and_by_group(problem, model):
    groups = np.arange(len(problem.labels)) // 3
    frontier = head_tail_frontier(model, problem.scores, problem.labels, dials=[1.0, 0.0], groups=groups)
    difference = frontier.hits[0] - frontier.hits[1]
    expected = paired_gain(difference, np.full(len(groups), 1 / 3), groups).error
    assert frontier.errors["accuracy"].tolist() == [pytest.approx(expected), 0.0]


def test_the_choice_is_the_smallest_dial_within_one_error_of_the_best(problem, model):
    frontier = head_tail_frontier(model, problem.scores, problem.labels, dials=[2.0, 1.0, 0.0])
    for criterion in ("accuracy", "macro", "rare", "frequent"):
        best = int(np.argmax(frontier.values[criterion]))
        near = []
        for place, dial in enumerate(frontier.dials):
            weights = frontier.weights[criterion]
            gap = paired_gain((frontier.hits[best] - frontier.hits[place])[weights > 0], weights[weights > 0], None)
            near += [dial] if gap.gain <= gap.error else []
        assert frontier.choose(criterion) == min(near)


def test_it_prints_a_row_for_each_dial(problem, model):
    text = str(head_tail_frontier(model, problem.scores, problem.labels, dials=[0.0, 0.5]))
    assert text.splitlines()[0].split() == ["dial", "rare", "frequent", "accuracy", "macro"]
    assert len(text.splitlines()) == 5


def test_what_cannot_be_measured_is_said(problem, model):
    rare_only = head_tail_frontier(model, problem.scores[:1], [int(np.argmin(problem.class_counts))])
    with pytest.raises(InputError, match="no row to measure 'frequent'"):
        rare_only.choose("frequent")
    with pytest.raises(InputError, match="dials is empty"):
        head_tail_frontier(model, problem.scores, problem.labels, dials=[])
    with pytest.raises(InputError, match="criterion is 'best'"):
        rare_only.choose("best")
    bare = Reranker("classwise", n_candidates=problem.k).fit(problem.scores, problem.labels)
    with pytest.raises(InputError, match="the dial needs class_counts"):
        head_tail_frontier(bare, problem.scores, problem.labels)


def test_names_serve_as_labels(problem):
    names = [f"class {i}" for i in range(20)]
    labels = np.array(names)[problem.labels]
    model = Reranker("pairwise", n_candidates=problem.k).fit(
        problem.scores, labels, class_names=names, **problem.optional_fields
    )
    one = head_tail_frontier(model, problem.scores, labels)
    other = head_tail_frontier(model, problem.scores, problem.labels, class_counts=problem.class_counts)
    assert (one.hits == other.hits).all()
