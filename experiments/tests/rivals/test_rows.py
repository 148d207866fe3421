"""Rows and folds."""

import numpy as np

from repair.data.calibration_set import CalibrationSet
from repair_bench.rivals.rows import Rows


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
