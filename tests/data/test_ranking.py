from dataclasses import replace

import numpy as np
import pytest

from repair import InputError, Ranking, Shortlist


@pytest.fixture
def shortlist():
    return Shortlist.from_candidates([[4, 2, 7, 1]] * 2, [[9.0, 8.0, 7.0, 6.0]] * 2, n_classes=8)


def test_equal_scores_keep_the_base_order(shortlist):
    assert Ranking.from_scores(shortlist, np.zeros((2, 4))).ids.tolist() == [[4, 2, 7, 1]] * 2


def test_nan_ranks_after_every_number_and_before_padding():
    shortlist = Shortlist.from_candidates([[0, 1, 2, -1]], [[3.0, 2.0, 1.0, 0.0]], n_classes=3)
    ranking = Ranking.from_scores(shortlist, [[np.nan, -np.inf, 5.0, 99.0]])
    assert ranking.ids.tolist() == [[2, 1, 0, -1]]
    assert ranking.scores[0, 3] == -np.inf


def test_order_holds_the_base_positions(shortlist):
    ranking = Ranking.from_scores(shortlist, [[0.0, 3.0, 1.0, 2.0]] * 2)
    assert ranking.order.tolist() == [[1, 3, 2, 0]] * 2
    assert ranking.best.tolist() == [2, 2]
    assert ranking.positions([7, 3]).tolist() == [2, -1]


def test_scores_of_another_shape_raise_an_error(shortlist):
    with pytest.raises(InputError, match=r"\(2, 3\).*\(2, 4\)"):
        Ranking.from_scores(shortlist, np.zeros((2, 3)))


def test_the_input_scores_are_not_changed(shortlist):
    scores = np.array([[1.0, np.nan, 3.0, 4.0]] * 2)
    kept = scores.copy()
    Ranking.from_scores(shortlist, scores)
    np.testing.assert_array_equal(scores, kept)


def test_a_scorer_applied_block_by_block_gives_the_same_ranking_as_all_scores(make_shortlist, monkeypatch):
    monkeypatch.setattr("repair.data.ranking.SLOTS_PER_BLOCK", 32)  # several blocks, and several threads
    monkeypatch.setenv("REPAIR_NUM_THREADS", "3")
    shortlist = make_shortlist()
    seen = []

    def scorer(part):
        seen.append(len(part))
        return np.where(part.mask, np.cos(7.0 * part.ids), -np.inf)

    whole = Ranking.from_corrected(shortlist, scorer(shortlist))
    by_block = Ranking.from_scorer(shortlist, scorer)
    assert len(seen) > 3
    for name in ("ids", "scores", "order"):
        assert getattr(by_block, name).tobytes() == getattr(whole, name).tobytes()


def ranked(scores, n_candidates=4):
    """Rank rows whose base order is 0, 1, 2, 3."""
    listed = Shortlist.from_scores([[4.0, 3.0, 2.0, 1.0]] * len(scores), n_candidates)
    return Ranking.from_scores(listed, scores)


def test_the_first_candidates_are_the_best_ones():
    ranking = ranked([[4.0, 1.0, 3.0, 2.0]]).first(3)
    assert ranking.ids.tolist() == [[0, 2, 3]]
    assert ranking.scores.tolist() == [[4.0, 3.0, 2.0]]
    assert ranking.order.tolist() == [[0, 2, 3]]
    np.testing.assert_allclose(ranking.probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("number", [0, -1, 1.5, "3", None, True])
def test_the_number_of_first_candidates_is_checked(number):
    with pytest.raises(InputError, match=r"n_candidates is .* it must be a whole number of at least 1"):
        ranked([[4.0, 1.0, 3.0, 2.0]]).first(number)


def test_the_first_choice_of_the_base_is_never_cut_off():
    ranking = ranked([[0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.0, 0.0]])
    assert ranking.first(2).ids.tolist() == [[3, 0], [0, 1]]
    assert ranking.first(1).ids.tolist() == [[3], [0]]
    assert ranking.first(4) is ranking
    assert ranking.first(9) is ranking


def test_beliefs_are_cut_with_their_candidates():
    ranking = replace(ranked([[0.0, 1.0, 2.0, 3.0]]), beliefs=lambda: np.array([[10.0, 20.0, 30.0, 40.0]]))
    cut = ranking.first(2)
    assert cut.ids.tolist() == [[3, 0]]  # the beliefs of the first and the last candidate are 10 and 40
    assert cut.probabilities[0, 1] > 0.99
