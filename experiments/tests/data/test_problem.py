"""The data stage's record."""

import numpy as np
import pytest

from repair import InputError
from repair_bench.bases.base_scores import ScoresOrHead
from repair_bench.data.problem import QUICK_ROWS, Problem


def problem(n=9000, n_classes=30):
    rng = np.random.default_rng(0)
    labels = np.sort(rng.geometric(0.2, size=n) % n_classes).astype(np.int32)
    part = (np.arange(n) % 3).astype(np.int32)
    return Problem(tuple(map(str, range(n_classes))), labels, part, features=labels[:, None] * 1.0, groups=np.arange(n))


def test_a_quick_problem_is_small_and_keeps_every_trained_class():
    whole = problem()
    small = whole.quick(0)
    sizes = np.bincount(small.part)
    assert sizes.tolist() == [min(QUICK_ROWS[part], 3000) for part in range(3)]
    assert ((small.counts > 0) == (whole.counts > 0)).all()
    np.testing.assert_array_equal(small.features[:, 0], small.labels)
    np.testing.assert_array_equal(whole.labels[small.groups], small.labels)


def test_classes_without_training_rows_go_with_their_rows_and_are_counted():
    similarity = np.arange(9.0).reshape(3, 3)
    made = Problem(
        ("a", "b", "c"), np.array([0, 2, 1, 2]), np.array([0, 0, 1, 2]), texts=tuple("wxyz"), similarity=similarity
    )
    kept = made.without_untrained_classes()
    assert kept.class_names == ("a", "c")
    assert kept.labels.tolist() == [0, 1, 1]
    assert kept.texts == ("w", "x", "z")
    assert kept.similarity.tolist() == [[0, 2], [6, 8]]
    assert kept.notes == ("classes without a training row were left out (classes: 1, rows: 1)",)
    assert kept.without_untrained_classes() is kept


def test_a_problem_without_training_rows_is_refused():
    with pytest.raises(InputError, match="training part"):
        Problem(("a",), np.zeros(2, int), np.full(2, 1)).without_untrained_classes()


def test_counts_that_are_given_are_believed():
    assert Problem(("a",), np.zeros(2, int), np.full(2, 1), class_counts=np.array([7])).counts.tolist() == [7]


def test_given_scores_keep_classes_without_training_rows():
    scores = np.eye(3)[[0, 1, 2, 0]]
    given = Problem(
        ("a", "b", "c"),
        np.array([0, 1, 2, 0]),
        np.array([1, 1, 2, 2]),
        features=scores,
        class_counts=np.array([5, 0, 2]),
    )
    assert given.scores_given
    assert given.without_untrained_classes() is given
    base = ScoresOrHead()(given.quick(0))
    assert base.calibration_scores.shape == (2, 3)
    assert base.class_counts.tolist() == [5, 0, 2]
