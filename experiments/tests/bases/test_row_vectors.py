"""Row vectors: of length 1, from the training rows alone, as far apart as the rows themselves."""

import numpy as np
import pytest

from repair_bench.bases.row_vectors import narrow, unit_rows


def test_a_row_of_zeros_stays_zero():
    assert unit_rows(np.array([[0.0, 0.0], [0.0, -2.0]])).tolist() == [[0.0, 0.0], [0.0, -1.0]]


@pytest.mark.needs("sklearn")
def test_narrow_keeps_cosines_where_the_width_is_enough_and_sees_training_rows_only():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    table = rng.random((30, 4)) @ rng.random((4, 12))
    training = np.arange(30) < 20
    found = narrow(csr_matrix(table), training, 4)
    assert found.shape == (30, 4)
    np.testing.assert_allclose(found @ found.T, unit_rows(table) @ unit_rows(table).T, atol=1e-6)
    table[25] *= 1000
    np.testing.assert_allclose(narrow(csr_matrix(table), training, 4), found, atol=1e-9)
    assert narrow(csr_matrix(table), training).shape == (30, 12)
