import numpy as np
import pytest

from repair import ExtendedOptions, ScoreSet
from repair.data.calibration_set import CalibrationSet
from repair.terms.learned.neighbours import MOST_NEIGHBOURS, VOTES, Neighbours, nearest
from repair.terms.view import CandidateView


def unit(n, width=6, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, width)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def build(problem, vectors, **known):
    return CalibrationSet.build(ScoreSet(problem.scores, problem.labels, embeddings=vectors, **known), problem.k)


def test_the_nearest_are_those_of_a_full_sort(monkeypatch):
    monkeypatch.setattr("repair.terms.learned.neighbours.SIMILARITIES_PER_BLOCK", 200)  # several blocks
    queries, vectors = unit(25, seed=1), unit(80)
    neighbours, similarities = nearest(queries, vectors, 7)
    products = queries @ vectors.T
    assert (neighbours == np.argsort(-products, axis=1, kind="stable")[:, :7]).all()
    np.testing.assert_allclose(similarities, -np.sort(-products, axis=1)[:, :7], rtol=1e-5)


def test_vectors_of_the_own_group_are_left_out():
    vectors = unit(6)
    groups = np.array([0, 0, 0, 0, 1, 1])
    neighbours, similarities = nearest(vectors, vectors, 5, groups, groups)
    assert (groups[neighbours[0, :2]] == 1).all()
    assert np.isneginf(similarities[0, 2:]).all()
    assert (groups[neighbours[5, :4]] == 0).all()


def test_equally_similar_vectors_come_in_the_order_of_their_index():
    vectors = np.tile(np.eye(4, dtype=np.float32)[:1], (9, 1))  # their products have no rounding
    assert nearest(vectors[:1], vectors, 9)[0].tolist() == [list(range(9))]


def test_the_column_is_the_log_share_of_votes(problem, make_vectors):
    calibration = build(problem, make_vectors(problem.labels))
    term, _ = Neighbours.learn(calibration, ExtendedOptions())
    new = calibration.shortlist.take([3, 8]).with_embeddings(make_vectors(problem.labels[[3, 8]], seed=5))
    column = term.column(CandidateView(new, calibration.table, 0.0))
    expected = np.zeros(new.ids.shape)
    for row in range(2):
        products = new.embeddings[row] @ term.vectors.astype(np.float32).T
        order = np.argsort(-products, kind="stable")
        for number, width in VOTES:
            kept = order[:number]
            weights = np.exp((products[kept].astype(np.float64) - 1) / width)
            weights /= weights.sum()
            shares = [(weights * (term.labels[kept] == candidate)).sum() for candidate in new.ids[row]]
            expected[row] += np.log(np.array(shares) + 1 / number)
    np.testing.assert_allclose(column, expected, atol=1e-4)


@pytest.mark.parametrize("grouped", [False, True])
def test_no_column_depends_on_a_label_of_its_own_group(problem, make_vectors, grouped):
    groups = np.arange(300) // 5 if grouped else np.arange(300)
    known = {"groups": groups} if grouped else {}
    vectors = make_vectors(problem.labels, noise=2.0)
    calibration = build(problem, vectors, **known)
    before = Neighbours.learn(calibration, ExtendedOptions())[1]
    row = int(np.flatnonzero(calibration.positions == 0)[7])
    labels = problem.labels.copy()
    labels[row] = calibration.shortlist.ids[row, 1]
    changed = CalibrationSet.build(ScoreSet(problem.scores, labels, embeddings=vectors, **known), problem.k)
    after = Neighbours.learn(changed, ExtendedOptions())[1]
    same_group = groups[np.flatnonzero(calibration.covered)] == groups[row]
    assert (after[same_group] == before[same_group]).all()
    assert (after[~same_group] != before[~same_group]).any()


def test_a_copy_of_a_row_votes_unless_it_is_in_the_same_group(problem, make_vectors):
    """Two rows have the same vector.  Each is the other's nearest neighbour, unless they share a group."""
    vectors = make_vectors(problem.labels, noise=2.0)
    vectors[1] = vectors[0]
    term = Neighbours.learn(build(problem, vectors), ExtendedOptions())[0]
    assert len(term.labels) == 300
    neighbours, _ = nearest(term.searched[:1], term.searched, 2, np.array([0]), np.arange(300))
    assert neighbours[0, 0] == 1
    groups = np.arange(300)
    groups[1] = 0
    neighbours, _ = nearest(term.searched[:1], term.searched, 2, np.array([0]), groups)
    assert 1 not in neighbours[0]


def test_reference_rows_are_kept_and_unknown_labels_are_not(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    labels = np.where(np.arange(60) < 20, -1, problem.labels[:60])
    calibration = build(problem, vectors, reference_embeddings=vectors[:60], reference_labels=labels)
    term, _ = Neighbours.learn(calibration, ExtendedOptions())
    assert len(term.labels) == len(term.vectors) == 340
    assert term.vectors.dtype == np.float16
    assert term.labels.min() >= 0
    assert term.embedding_width == 8


def test_fewer_rows_than_neighbours_and_vectors_of_zeros(problem):
    rows = np.flatnonzero(problem.scores.argmax(axis=1) == problem.labels)[:8]
    assert len(rows) < MOST_NEIGHBOURS
    calibration = CalibrationSet.build(
        ScoreSet(problem.scores[rows], problem.labels[rows], embeddings=np.zeros((8, 3))), 6
    )
    term, columns = Neighbours.learn(calibration, ExtendedOptions())
    assert np.isfinite(columns).all()
    assert np.isfinite(term.column(CandidateView(calibration.shortlist, calibration.table, 0.0))).all()


def test_the_collapsed_term_keeps_the_sum(problem, make_vectors):
    calibration = build(problem, make_vectors(problem.labels))
    term, _ = Neighbours.learn(calibration, ExtendedOptions())
    view = CandidateView(calibration.shortlist.take(np.arange(9)), calibration.table, 0.0)
    weights = np.array([0.5, -0.2, 1.0])
    collapsed, total = term.collapsed(weights)
    columns = [Neighbours(term.vectors, term.labels, np.eye(3)[vote]).column(view) for vote in range(3)]
    expected = sum(weight * column for weight, column in zip(weights, columns, strict=True))
    np.testing.assert_allclose(total * collapsed.column(view), expected)
    without_weight, total = term.collapsed(np.zeros(3))
    assert total == 0.0
    assert np.isfinite(without_weight.mixture).all()
    assert collapsed.for_classes(30) is collapsed
