"""Long tails, shares of each class, shares in time."""

import numpy as np
import pytest

from repair import InputError
from repair_bench.data.parts import keep_per_class, long_tail_counts, parts_in_order, stratified_parts


def test_the_tail_falls_in_the_order_of_the_own_counts_and_asks_for_no_more_than_there_is():
    counts = np.array([5, 1000, 300, 2])
    wanted = long_tail_counts(counts, 100)
    assert wanted.tolist() == [5, 1000, 215, 2]
    assert long_tail_counts(np.full(3, 50), 1000).tolist() == [50, 2, 1]
    assert long_tail_counts(counts, 100, largest=200).tolist() == [5, 200, 43, 2]
    with pytest.raises(InputError, match=r"imbalance is 0\.5"):
        long_tail_counts(counts, 0.5)


def test_rows_are_drawn_anew_with_another_seed():
    labels = np.repeat([0, 1], 50)
    first, again, other = (keep_per_class(labels, np.array([10, 3]), seed) for seed in (0, 0, 1))
    assert np.bincount(labels[first]).tolist() == [10, 3]
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_every_class_is_shared_out_alike():
    labels = np.repeat([0, 1, 2], [100, 50, 1])
    part = stratified_parts(labels, (0.6, 0.2, 0.2), 42)
    assert np.bincount(part[labels == 0]).tolist() == [60, 20, 20]
    assert np.bincount(part[labels == 1]).tolist() == [30, 10, 10]
    assert part[labels == 2].tolist() == [0]  # a lone row goes to the first part


def test_rows_in_order_are_cut_not_mixed():
    part = parts_in_order(10, (0.6, 0.2, 0.2))
    assert part.tolist() == sorted(part.tolist())
    assert np.bincount(part).tolist() == [6, 2, 2]
