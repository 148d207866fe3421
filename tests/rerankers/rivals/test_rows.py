"""Rows and folds."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from repair.data.calibration_set import CalibrationSet
from repair.rerankers.rivals.rows import Rows


def test_folds_keep_groups_whole_and_few_rows_have_none(world):
    groups = np.repeat(np.arange(40), 5)
    rows = Rows.of(CalibrationSet.build(world.rows(200, groups=groups), 3), "this test")
    assert all(len(set(rows.folds[groups == group])) == 1 for group in range(40))
    np.testing.assert_allclose(rows.weights, 1.0)
    assert Rows.of(CalibrationSet.build(world.rows(12, groups=np.arange(12) % 3), 3), "this test").folds is None


def test_the_scale_undoes_a_wrong_temperature(world):
    flat = Rows.of(CalibrationSet.build(world.rows(600, lambda z, x, y: 0.01 * z), 3), "this test")
    assert 50 < flat.scale < 200


def test_the_digest_changes_with_the_rows(world):
    rows = Rows.of(CalibrationSet.build(world.rows(100), 3), "this test")
    assert rows.digest == rows.take(np.arange(100)).digest != rows.take(np.arange(99)).digest


def test_the_digest_changes_with_the_similarity(world):
    rows = world.rows(100)
    alike = np.random.default_rng(1).random((2, 8, 8))
    sparse = csr_matrix(np.diag(np.ones(7), 1))

    def digest(similarity):
        calibration = CalibrationSet.build(replace(rows, similarity=similarity), 3)
        return Rows.of(calibration, "this test").digest

    found = [digest(one) for one in (None, alike[0], alike[1], sparse, 2 * sparse, lambda y, j: y + j, lambda y, j: y)]
    assert len(set(found)) == len(found)
    assert digest(alike[0].copy()) == found[1]
    assert digest(2 * sparse) == found[4]
