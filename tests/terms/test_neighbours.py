import numpy as np
import pytest

from repair.calibration import CalibrationSet
from repair.candidates import CandidateView
from repair.terms.neighbours import MOST_NEIGHBOURS, VOTES, Neighbours, nearest


def unit(n, width=6, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, width)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def build(problem, vectors, **known):
    return CalibrationSet.build(problem.scores, problem.labels, problem.k, embeddings=vectors, **known)


def test_the_nearest_are_those_of_a_full_sort(monkeypatch):
    monkeypatch.setattr("repair.terms.neighbours.SIMILARITIES_PER_BLOCK", 200)  # several blocks
    queries, vectors = unit(25, seed=1), unit(80)
    places, similarities = nearest(queries, vectors, 7)
    alike = queries @ vectors.T
    assert (places == np.argsort(-alike, axis=1, kind="stable")[:, :7]).all()
    np.testing.assert_allclose(similarities, -np.sort(-alike, axis=1)[:, :7], rtol=1e-5)


def test_own_groups_are_left_out_and_too_few_others_do_not_vote():
    vectors = unit(6)
    groups = np.array([0, 0, 0, 0, 1, 1])
    places, similarities = nearest(vectors, vectors, 5, groups, groups)
    assert (groups[places[0, :2]] == 1).all()
    assert np.isneginf(similarities[0, 2:]).all()
    assert (groups[places[5, :4]] == 0).all()


def test_equal_neighbours_come_in_the_order_of_their_places():
    vectors = np.tile(np.eye(4, dtype=np.float32)[:1], (9, 1))  # their products have no rounding
    assert nearest(vectors[:1], vectors, 9)[0].tolist() == [list(range(9))]


def test_the_column_is_the_log_share_of_votes(problem, make_vectors):
    calibration = build(problem, make_vectors(problem.labels))
    term, _ = Neighbours.learn(calibration)
    new = calibration.shortlist.take([3, 8]).with_embeddings(make_vectors(problem.labels[[3, 8]], seed=5))
    column = term.column(CandidateView(new, calibration.table, 0.0))
    expected = np.zeros(new.ids.shape)
    for row in range(2):
        alike = new.embeddings[row] @ term.vectors.astype(np.float32).T
        order = np.argsort(-alike, kind="stable")
        for number, width in VOTES:
            kept = order[:number]
            weights = np.exp((alike[kept].astype(np.float64) - 1) / width)
            weights /= weights.sum()
            shares = [(weights * (term.labels[kept] == one)).sum() for one in new.ids[row]]
            expected[row] += np.log(np.array(shares) + 1 / number)
    np.testing.assert_allclose(column, expected, atol=1e-4)


@pytest.mark.parametrize("grouped", [False, True])
def test_no_row_sees_a_label_of_its_own_group(problem, make_vectors, grouped):
    groups = np.arange(300) // 5 if grouped else np.arange(300)
    known = {"groups": groups} if grouped else {}
    vectors = make_vectors(problem.labels, noise=2.0)
    calibration = build(problem, vectors, **known)
    before = Neighbours.learn(calibration)[1]
    row = int(np.flatnonzero(calibration.positions == 0)[7])
    labels = problem.labels.copy()
    labels[row] = calibration.shortlist.ids[row, 1]
    changed = CalibrationSet.build(problem.scores, labels, problem.k, embeddings=vectors, **known)
    after = Neighbours.learn(changed)[1]
    mine = groups[np.flatnonzero(calibration.covered)] == groups[row]
    assert (after[mine] == before[mine]).all()
    assert (after[~mine] != before[~mine]).any()


def test_a_copy_in_another_row_votes_unless_it_is_of_the_same_group(problem, make_vectors):
    """Two rows with one vector: alone each is the other's nearest neighbour; as one group neither votes."""
    vectors = make_vectors(problem.labels, noise=2.0)
    vectors[1] = vectors[0]
    alone = Neighbours.learn(build(problem, vectors))[0]
    assert len(alone.labels) == 300
    found, _ = nearest(alone.searched[:1], alone.searched, 2, np.array([0]), np.arange(300))
    assert found[0, 0] == 1
    groups = np.arange(300)
    groups[1] = 0
    found, _ = nearest(alone.searched[:1], alone.searched, 2, np.array([0]), groups)
    assert 1 not in found[0]


def test_reference_rows_are_kept_and_unknown_labels_are_not(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    labels = np.where(np.arange(60) < 20, -1, problem.labels[:60])
    term, _ = Neighbours.learn(build(problem, vectors, reference_embeddings=vectors[:60], reference_labels=labels))
    assert len(term.labels) == len(term.vectors) == 340
    assert term.vectors.dtype == np.float16
    assert term.labels.min() >= 0
    assert term.embedding_width == 8


def test_fewer_rows_than_neighbours_and_vectors_of_zeros(problem):
    rows = np.flatnonzero(problem.scores.argmax(axis=1) == problem.labels)[:8]
    assert len(rows) < MOST_NEIGHBOURS
    calibration = CalibrationSet.build(problem.scores[rows], problem.labels[rows], 6, embeddings=np.zeros((8, 3)))
    term, columns = Neighbours.learn(calibration)
    assert np.isfinite(columns).all()
    assert np.isfinite(term.column(CandidateView(calibration.shortlist, calibration.table, 0.0))).all()


def test_folding_keeps_the_sum(problem, make_vectors):
    calibration = build(problem, make_vectors(problem.labels))
    term, _ = Neighbours.learn(calibration)
    view = CandidateView(calibration.shortlist.take(np.arange(9)), calibration.table, 0.0)
    weights = np.array([0.5, -0.2, 1.0])
    one, total = term.folded(weights)
    each = [Neighbours(term.vectors, term.labels, np.eye(3)[place]).column(view) for place in range(3)]
    np.testing.assert_allclose(total * one.column(view), sum(w * e for w, e in zip(weights, each, strict=True)))
    nothing, total = term.folded(np.zeros(3))
    assert total == 0.0
    assert np.isfinite(nothing.mixture).all()
    assert one.for_classes(30) is one
