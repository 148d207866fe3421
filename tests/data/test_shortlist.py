import warnings

import numpy as np
import pytest

from repair import InputWarning, Shortlist


def test_equal_scores_are_ordered_by_class_id_even_at_the_cut():
    shortlist = Shortlist.from_scores([[1.0, 2.0, 1.0, 2.0, 1.0]], n_candidates=3)
    assert shortlist.ids.tolist() == [[1, 3, 0]]


def test_given_candidates_are_put_into_base_order():
    shortlist = Shortlist.from_candidates([[5, 2, 9, -1]], [[1.0, 3.0, 3.0, 99.0]], n_classes=10)
    assert shortlist.ids.tolist() == [[2, 9, 5, -1]]
    assert shortlist.scores.tolist() == [[3.0, 3.0, 1.0, -np.inf]]
    assert shortlist.lengths.tolist() == [3]


def test_minus_infinity_means_not_a_candidate_in_both_constructors():
    dense = Shortlist.from_scores([[0.5, -np.inf, 1.5, -np.inf]], n_candidates=3)
    given = Shortlist.from_candidates([[0, 1, 2]], [[0.5, -np.inf, 1.5]], n_classes=4)
    assert dense.ids.tolist() == given.ids.tolist() == [[2, 0, -1]]


def test_a_row_without_candidates_is_allowed_and_uncovered():
    shortlist = Shortlist.from_scores([[-np.inf] * 3, [1.0, 0.0, 2.0]], n_candidates=2)
    assert shortlist.ids.tolist() == [[-1, -1], [2, 0]]
    assert shortlist.positions([0, 0]).tolist() == [-1, 1]


def test_both_constructors_agree():
    rng = np.random.default_rng(0)
    dense = Shortlist.from_scores(rng.normal(size=(30, 12)), 5)
    shuffle = np.array([rng.permutation(5) for _ in range(30)])
    given = Shortlist.from_candidates(
        np.take_along_axis(dense.ids, shuffle, axis=1), np.take_along_axis(dense.scores, shuffle, axis=1), 12
    )
    assert (dense.ids == given.ids).all()
    assert (dense.scores == given.scores).all()


def test_more_candidates_than_classes_are_clipped_with_a_warning():
    with pytest.warns(InputWarning, match="n_candidates=10 is more than the 3 classes"):
        assert Shortlist.from_scores([[1.0, 2.0, 3.0]], n_candidates=10).n_candidates == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Shortlist.from_scores([[1.0, 2.0, 3.0]], n_candidates=3)


def test_coverage_counts_unknown_labels_as_uncovered():
    shortlist = Shortlist.from_scores(np.eye(4), n_candidates=1)
    assert shortlist.coverage([0, 1, 2, -1]) == 0.75


def test_one_dimensional_scores_are_one_row():
    assert len(Shortlist.from_scores([3.0, 1.0, 2.0], n_candidates=2)) == 1


def test_a_shortlist_cannot_be_changed_by_accident():
    shortlist = Shortlist.from_scores(np.eye(4), n_candidates=2)
    with pytest.raises(ValueError, match="read-only"):
        shortlist.ids[0, 0] = 3


def test_take_keeps_rows_together():
    shortlist = Shortlist.from_scores(np.random.default_rng(0).normal(size=(9, 5)), 3)
    part = shortlist.take(np.array([4, 1]))
    assert (part.ids == shortlist.ids[[4, 1]]).all()
    assert (part.scores == shortlist.scores[[4, 1]]).all()


def test_blocks_and_compiled_kernels_agree_with_a_single_row(monkeypatch):
    monkeypatch.setattr("repair.data.shortlist.SCORES_PER_BLOCK", 5000)
    scores = np.random.default_rng(0).integers(0, 40, size=(900, 150)).astype(np.float32)
    whole = Shortlist.from_scores(scores, 10)
    for row in (0, 33, 34, 899):
        assert (Shortlist.from_scores(scores[row], 10).ids[0] == whole.ids[row]).all()


@pytest.mark.needs("torch")
def test_torch_tensors_are_read_and_torch_agrees_on_the_top_k():
    import torch

    scores = torch.randn(50, 30, generator=torch.Generator().manual_seed(0))
    assert (Shortlist.from_scores(scores, 5).ids == torch.topk(scores, 5, dim=1).indices.numpy()).all()
    assert (Shortlist.from_scores(scores.half(), 5).ids >= 0).all()


@pytest.mark.needs("pandas")
def test_data_frames_are_read():
    import pandas

    scores = np.random.default_rng(0).normal(size=(5, 8))
    assert (Shortlist.from_scores(pandas.DataFrame(scores), 3).ids == Shortlist.from_scores(scores, 3).ids).all()


def test_lists_of_unequal_length_are_padded():
    shortlist = Shortlist.from_candidates([[7, 4], [1], []], [[0.2, 0.9], [0.5], []], n_classes=9)
    assert shortlist.ids.tolist() == [[4, 7], [1, -1], [-1, -1]]
    assert shortlist.lengths.tolist() == [2, 1, 0]


def test_calling_the_class_checks_and_sorts():
    assert Shortlist([[-1, 5, 2]], [[0.0, 1.0, 3.0]], 6).ids.tolist() == [[2, 5, -1]]
    with pytest.raises(ValueError, match="twice"):
        Shortlist([[1, 1]], [[0.0, 1.0]], 6)


def test_take_one_row_and_repr():
    shortlist = Shortlist.from_scores(np.eye(4), 2)
    assert len(shortlist.take(2)) == 1
    assert repr(shortlist) == "Shortlist(4 rows, 2 candidates, 4 classes)"


def test_equal_scores_of_given_candidates_are_ordered_by_class_id():
    assert Shortlist.from_candidates([[9, 4, 7]], [[1.0, 1.0, 1.0]], 10).ids.tolist() == [[4, 7, 9]]


def test_a_bad_score_in_a_later_block_is_named_by_its_own_row(monkeypatch):
    monkeypatch.setattr("repair.data.shortlist.SCORES_PER_BLOCK", 40)
    scores = np.zeros((30, 8))
    scores[23, 5] = np.nan
    with pytest.raises(ValueError, match=r"scores\[23, 5\] is nan"):
        Shortlist.from_scores(scores, 3)


def test_very_long_lists_are_sorted_quickly():
    scores = np.arange(200_000.0)[None]
    assert Shortlist.from_scores(scores, 100_000).ids[0, :3].tolist() == [199_999, 199_998, 199_997]


def test_an_empty_shortlist_gives_an_empty_ranking(problem):
    from repair import Base

    model = Base(problem.k).fit(problem.scores, problem.labels)
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    assert len(model.rerank(shortlist.take(np.zeros(300, dtype=bool)))) == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize("n_rows", [3, 400])
def test_an_adjusted_shortlist_has_the_base_scores_in_base_order(dtype, n_rows):
    """Small and large batches use different kernels."""
    rng = np.random.default_rng(0)
    scores = (8 * rng.normal(size=(n_rows, 30))).astype(dtype)
    adjustment = -3.0 * rng.random(30) * np.arange(30)
    shortlist = Shortlist.from_scores(scores, 5, adjustment=adjustment)
    for row in range(3):
        wanted = np.argsort(-(scores[row].astype(np.float64) + adjustment), kind="stable")[:5]
        if scores[row].argmax() not in wanted:
            wanted[-1] = scores[row].argmax()
        assert set(shortlist.ids[row]) == set(wanted)
    assert (shortlist.ids[:, 0] == scores.argmax(axis=1)).all()
    assert (np.diff(shortlist.scores, axis=1) <= 0).all()
    raw = np.take_along_axis(scores, shortlist.ids.astype(np.int64), axis=1)
    assert (shortlist.scores == raw).all()


def test_an_adjustment_of_zero_changes_nothing():
    scores = np.random.default_rng(0).integers(0, 5, size=(50, 20)).astype(np.float32)
    plain, zero = Shortlist.from_scores(scores, 6), Shortlist.from_scores(scores, 6, adjustment=np.zeros(20))
    assert (plain.ids == zero.ids).all()
    assert (plain.scores == zero.scores).all()


def test_minus_infinity_stays_off_an_adjusted_shortlist():
    scores = [[5.0, -np.inf, 1.0, -np.inf], [-np.inf] * 4]
    shortlist = Shortlist.from_scores(scores, 3, adjustment=np.array([-50.0, 90.0, 0.0, 90.0]))
    assert shortlist.ids.tolist() == [[0, 2, -1], [-1, -1, -1]]
    assert shortlist.scores[0].tolist() == [5.0, 1.0, -np.inf]


def test_the_best_base_class_replaces_the_last_candidate_of_a_full_shortlist():
    shortlist = Shortlist.from_scores([[9.0, 1.0, 2.0, 3.0]], 2, adjustment=np.array([-100.0, 0, 0, 0]))
    assert shortlist.ids.tolist() == [[0, 3]]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e31])
def test_a_bad_score_is_named_with_an_adjustment_too(bad):
    scores = np.zeros((4, 5))
    scores[2, 3] = bad
    with pytest.raises(ValueError, match=r"scores\[2, 3\]"):
        Shortlist.from_scores(scores, 2, adjustment=np.ones(5))


def test_embeddings_stay_with_their_rows():
    shortlist = Shortlist.from_scores(np.eye(4), 2).with_embeddings(np.diag([1.0, 2.0, 3.0, 4.0]))
    assert (shortlist.embeddings == np.eye(4)).all()
    assert shortlist.take([2, 0]).embeddings.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]
    assert shortlist.take(slice(1, 3)).embeddings.shape == (2, 4)
    assert shortlist.with_embeddings(None).embeddings is None
