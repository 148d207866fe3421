"""The bank of labelled vectors."""

import numpy as np

from repair.rerankers.rivals.bank import Bank


def _bank():
    x = np.eye(4, dtype=np.float32)
    return Bank.build(x[:2], np.array([2, 0]), np.array([0, 1]), 3, x[2:], np.array([1, 2]))


def test_neighbours_of_the_own_fold_are_left_out():
    bank, query = _bank(), np.array([[1.0, 0.1, 0.2, 0.0]], dtype=np.float32)
    assert bank.nearest(query, 4)[1][0, 0] == 2
    near, labels = bank.nearest(query, 4, np.array([0]))
    assert labels[0].tolist()[0] == 1
    assert labels[0, -1] == -1
    assert (np.diff(near[0]) <= 0).all()


def test_affinities_are_sums_of_the_kernel_per_class():
    bank, query = _bank(), np.array([[1.0, 0.0, 0.0, 0.0]], dtype=np.float32)
    first, second = bank.affinities(query, (1.0, 2.0))
    np.testing.assert_allclose(first[0], [np.exp(-1), np.exp(-1), 1 + np.exp(-1)], rtol=1e-5)
    np.testing.assert_allclose(second[0], [np.exp(-2), np.exp(-2), 1 + np.exp(-2)], rtol=1e-5)
    np.testing.assert_allclose(bank.affinities(query, (1.0,), np.array([0]))[0, 0, 2], np.exp(-1), rtol=1e-5)
