import numpy as np
import pytest

from repair.fitting.preconditioning import approximate_inverse


def arrow(n_offsets=6, d=3, strength=0.3, seed=0):
    rng = np.random.default_rng(seed)
    diagonal = rng.uniform(1.0, 5.0, size=n_offsets)
    columns = rng.normal(size=(20, d))
    return diagonal, columns.T @ columns, strength * rng.normal(size=(n_offsets, d))


def whole(diagonal, block, cross):
    return np.block([[np.diag(diagonal), cross], [cross.T, block]])


def inverse_matrix(diagonal, block, cross):
    apply = approximate_inverse(diagonal, block, cross)
    return np.array([apply(unit) for unit in np.eye(len(diagonal) + len(block))])


def test_an_arrow_is_inverted_exactly():
    parts = arrow()
    np.testing.assert_allclose(inverse_matrix(*parts) @ whole(*parts), np.eye(9), atol=1e-12)


def test_without_a_cross_block_offsets_and_weights_are_inverted_separately():
    diagonal, block, _ = arrow()
    expected = np.linalg.inv(whole(diagonal, block, np.zeros((6, 3))))
    np.testing.assert_allclose(inverse_matrix(diagonal, block, np.zeros((0, 3))), expected, atol=1e-12)


@pytest.mark.parametrize("strength", [0.3, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_positive_even_where_the_arrow_is_not(strength, seed):
    values = np.linalg.eigvalsh(inverse_matrix(*arrow(strength=strength, seed=seed)))
    assert values.min() > 0


def test_a_strong_cross_block_is_left_out():
    diagonal, block, cross = arrow(strength=30.0)
    assert np.linalg.eigvalsh(whole(diagonal, block, cross)).min() < 0  # so this is the case to test
    without = inverse_matrix(diagonal, block, np.zeros((0, 3)))
    np.testing.assert_allclose(inverse_matrix(diagonal, block, cross), without)


def test_nearly_equal_columns_do_not_make_it_worse():
    """Their block has a tiny eigenvalue, although the offsets explain little of either column."""
    diagonal, block, cross = arrow()
    mixing = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1e-4]])  # the last column nearly equals the first
    parts = diagonal, mixing.T @ block @ mixing, cross @ mixing
    np.testing.assert_allclose(inverse_matrix(*parts) @ whole(*parts), np.eye(9), atol=1e-5)


def test_a_column_that_the_offsets_explain_keeps_some_curvature():
    diagonal, block, cross = arrow()
    explained = np.einsum("ij,ik->jk", cross / diagonal[:, None], cross)
    block = explained + np.diag([1.0, 1.0, 0.0])  # nothing is left of the last column
    product = inverse_matrix(diagonal, block, cross) @ whole(diagonal, block, cross)
    values = np.linalg.eigvals(product)
    assert np.isclose(values, 1.0).sum() == 8  # only one direction is not inverted exactly
    assert np.linalg.eigvalsh(inverse_matrix(diagonal, block, cross)).min() > 0
