"""Votes among the rows of the candidates, and who may vote for whom."""

import numpy as np
import pytest

from repair import ExtendedOptions, Reranker, ScoreSet, load
from repair.data.calibration_set import CalibrationSet
from repair.terms.learned.candidate_votes import Voters, votes_apart
from repair.terms.learned.neighbours import Neighbours, nearest
from repair.terms.learned.score_neighbours import ScoreNeighbours
from repair.terms.view import CandidateView

K = 50


def rows_of_many_classes(n=300, k=4, seed=0, **known):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, K, size=n)
    scores = rng.normal(size=(n, K)) + 2.0 * np.eye(K)[labels]
    vectors = np.eye(K)[labels] + 0.5 * rng.normal(size=(n, K))
    return CalibrationSet.build(
        ScoreSet(scores, labels, class_counts=np.ones(K), embeddings=vectors.astype(np.float32), **known), k
    )


def test_voters_are_counted_per_class_and_row():
    voters = Voters.count(np.array([2, 0, 2], dtype=np.int32), 4)
    assert voters.starts.tolist() == [0, 1, 1, 3, 3]
    assert voters.per_row(np.array([[0, 2], [1, -1]], dtype=np.int32)) == 1.5


def test_only_rows_of_the_candidates_are_found():
    rng = np.random.default_rng(0)
    vectors, labels = rng.normal(size=(40, 5)).astype(np.float32), np.sort(rng.integers(0, 6, size=40))
    queries, ids = rng.normal(size=(9, 5)).astype(np.float32), np.tile(np.array([4, 1], dtype=np.int32), (9, 1))
    places, similarities = Voters.count(labels, 6).nearest(queries, vectors, ids, None, None, 3)
    allowed = np.flatnonzero(np.isin(labels, [1, 4]))
    expected, values = nearest(queries, vectors[allowed], 3)
    assert (places == allowed[expected]).all()
    np.testing.assert_allclose(similarities, values, rtol=1e-5)


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(40, dtype=np.int32), 3)])
def test_few_voters_vote_across_folds_and_many_across_groups(groups):
    apart = votes_apart(120, groups, 299.0, 100)
    assert len(np.unique(apart)) == 5
    many = votes_apart(120, groups, 300.0, 100)
    assert len(np.unique(many)) == (120 if groups is None else 40)
    if groups is not None:
        assert all(len(np.unique(apart[groups == group])) == 1 for group in range(40))


def test_two_groups_give_two_folds():
    assert sorted(votes_apart(4, np.array([0, 0, 1, 1]), 2.0, 30).tolist()) == [0, 0, 1, 1]


def test_few_votes_do_not_reveal_the_label():
    """If every row votes, a class has one vote less on its own rows, which must not show in the columns.

    The scores say nothing here.  Without folds, the column of the label is lower than that of the same
    class on other rows, on every row.
    """
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 20, size=100)
    rows = CalibrationSet.build(ScoreSet(rng.normal(size=(100, 20)), labels), 20)
    _, columns = ScoreNeighbours.learn(rows, ExtendedOptions())
    ids, wide = rows.shortlist.ids, columns[:, :, 5]
    mean = np.bincount(ids.ravel(), wide.ravel()) / 100
    below = (wide - mean[ids])[np.arange(100), rows.positions] < 0
    assert 0.3 < below.mean() < 0.9


def test_scores_that_say_nothing_teach_nothing():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 20, size=120)
    scores = rng.normal(size=(120, 20)) + 1.5 * np.eye(20)[labels]
    model = Reranker("extended", n_candidates=20).fit(scores, labels)
    assert (model.predict(scores) == labels).mean() < 0.75  # with leave-one-out, 1.0 of the rows of the fit


def test_with_many_classes_only_rows_of_the_candidates_vote():
    rows = rows_of_many_classes()
    term, columns = Neighbours.learn(rows, ExtendedOptions())
    assert term.of_candidates
    assert (np.diff(term.labels) >= 0).all()
    assert columns.shape == (int(rows.covered.sum()), 4, 3)
    view = CandidateView(rows.shortlist, rows.table, 0.0)
    collapsed, _ = term.collapsed(np.ones(3))
    assert np.isfinite(collapsed.column(view)).all()
    one = CandidateView(rows.shortlist.take(np.arange(1)), rows.table, 0.0)
    np.testing.assert_allclose(collapsed.column(one)[0], collapsed.column(view)[0])


def test_with_few_classes_all_rows_vote():
    assert not Neighbours.learn(rows_of_many_classes(k=7), ExtendedOptions())[0].of_candidates
    approximate = ExtendedOptions(neighbour_index="approximate")
    pytest.importorskip("usearch")
    assert not Neighbours.learn(rows_of_many_classes(), approximate)[0].of_candidates


def test_votes_of_candidates_survive_a_file_and_new_classes(tmp_path):
    rows = rows_of_many_classes()
    names = [f"c{place:02}" for place in range(K)]
    model = Reranker("extended", n_candidates=4, extended=ExtendedOptions(n_ranked=4)).fit(
        rows.all_scores, rows.labels, class_names=names, embeddings=rows.shortlist.embeddings
    )
    model.save(tmp_path / "model.safetensors")
    expected = model.rerank(rows.all_scores, embeddings=rows.shortlist.embeddings)
    again = load(tmp_path / "model.safetensors").rerank(rows.all_scores, embeddings=rows.shortlist.embeddings)
    assert (again.scores == expected.scores).all()
    wide = model.with_classes(["new"])
    scores = np.column_stack([rows.all_scores, np.full(300, 3.0)])
    assert np.isfinite(wide.rerank(scores, embeddings=rows.shortlist.embeddings).scores).all()
