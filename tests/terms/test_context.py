import numpy as np
import pytest

from repair import Reranker, Shortlist
from repair.calibration import CalibrationSet
from repair.candidates import CandidateView
from repair.class_table import ClassTable
from repair.terms.context import MOST_CLASSES, Context, possible


def learned(problem, tau=0.0, **known):
    calibration = CalibrationSet.build(
        problem.scores, problem.labels, problem.k, class_counts=problem.class_counts, **known
    )
    return calibration, *Context.learn(calibration, tau)


def test_the_column_is_the_sum_over_candidates_of_root_share_times_matrix(problem):
    matrix = np.random.default_rng(0).normal(size=(1, 20, 20)).astype(np.float32)
    shortlist = Shortlist.from_scores(problem.scores[:5], 4)
    table = ClassTable(20, class_counts=problem.class_counts)
    column = Context(matrix, 0.7).column(CandidateView(shortlist, table, 0.0))
    for row in range(5):
        ids = shortlist.ids[row]
        adjusted = shortlist.scores[row] - 0.7 * np.log(problem.class_counts[ids] + 1)
        shares = np.exp(adjusted - adjusted.max())
        roots = np.sqrt(shares / shares.sum())
        np.testing.assert_allclose(column[row], roots @ matrix[0][np.ix_(ids, ids)], rtol=1e-6)


def test_padding_is_zero_and_moves_nothing(make_shortlist):
    matrix = np.random.default_rng(0).normal(size=(1, 12, 12)).astype(np.float32)
    ragged = make_shortlist()
    column = Context(matrix, 0.0).column(CandidateView(ragged, ClassTable(12), 0.0))
    assert (column[~ragged.mask] == 0).all()
    for row in range(5):
        length = ragged.lengths[row]
        short = Shortlist.from_candidates(ragged.ids[row : row + 1, :length], ragged.scores[row : row + 1, :length], 12)
        alone = Context(matrix, 0.0).column(CandidateView(short, ClassTable(12), 0.0))
        assert (alone[0] == column[row, :length]).all()


def test_a_class_that_wins_where_another_is_strong_gets_a_positive_entry():
    """Class 2 is right whenever class 1 is a strong rival, although its own score does not say so."""
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 2], size=400)
    scores = np.column_stack([rng.normal(size=400), np.where(labels == 2, 0.0, -6.0), rng.normal(size=400)])
    _, term, columns = learned_from(scores, labels)
    matrix = term.matrices[0]
    assert matrix[1, 2] > 0 > matrix[1, 0]
    assert columns.shape == (400, 3, 3)
    model = Reranker(3, "extended", terms=("context",)).fit(scores, labels)
    assert (model.predict(scores) == labels).mean() > (scores.argmax(axis=1) == labels).mean() + 0.2


def learned_from(scores, labels):
    calibration = CalibrationSet.build(scores, labels, 3)
    return calibration, *Context.learn(calibration, 0.0)


@pytest.mark.parametrize("grouped", [False, True])
def test_no_row_sees_a_label_of_its_own_group(problem, grouped):
    """Swap the label of one row for another candidate: columns of its group stay, others move."""
    groups = np.arange(300) // 5 if grouped else np.arange(300)
    known = {"groups": groups} if grouped else {}
    calibration, _, before = learned(problem, **known)
    row = int(np.flatnonzero(calibration.positions == 0)[7])
    labels = problem.labels.copy()
    labels[row] = calibration.shortlist.ids[row, 1]
    changed = CalibrationSet.build(problem.scores, labels, problem.k, class_counts=problem.class_counts, **known)
    after = Context.learn(changed, 0.0)[1]
    mine = groups[np.flatnonzero(calibration.covered)] == groups[row]
    np.testing.assert_allclose(after[mine], before[mine], rtol=0, atol=1e-12)
    assert np.abs(after[~mine] - before[~mine]).max() > 1e-4


def test_folding_keeps_the_sum_and_new_classes_know_nothing(problem):
    calibration, term, _ = learned(problem)
    weights = np.array([0.4, -0.1, 2.0])
    one, total = term.folded(weights)
    view = CandidateView(calibration.shortlist, calibration.table, 0.0)
    expected = sum(w * Context(term.matrices[i : i + 1], 0.0).column(view) for i, w in enumerate(weights))
    np.testing.assert_allclose(total * one.column(view), expected, atol=1e-5)
    wide = one.for_classes(22)
    assert wide.matrices.shape == (1, 22, 22)
    assert (wide.matrices[0, 20:] == 0).all()
    assert (wide.matrices[0, :, 20:] == 0).all()


def test_too_many_classes_or_a_single_candidate_cannot_have_it():
    ids = np.zeros((2, 3), dtype=np.int32)
    assert possible(ids, MOST_CLASSES)
    assert not possible(ids, MOST_CLASSES + 1)
    assert not possible(ids[:, :1], 10)
