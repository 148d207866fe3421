"""Candidates and their columns."""

import numpy as np

from repair_bench.rivals.columns import candidate_table


def test_candidates_come_in_base_order_with_one_line_of_columns_each():
    z = np.random.default_rng(0).normal(size=(5, 20))
    favoured = np.zeros((5, 20))
    favoured[:, 19] = 50.0
    table = candidate_table(z, [favoured], [np.zeros((5, 20))], np.ones(20), None)
    assert (np.diff(np.take_along_axis(z, table.ids, axis=1), axis=1) <= 0).all()
    assert (table.ids == 19).any(axis=1).all()
    assert table.columns.shape == (5, 12, 9 + 2 + 1 + 1)
    assert table.positions(np.full(5, 19)).min() >= 0


def test_other_classes_get_less_than_every_candidate():
    table = candidate_table(np.random.default_rng(0).normal(size=(4, 20)), [], [], None, None)
    spread = table.spread_out(np.random.default_rng(1).normal(size=(4, 12)), 20)
    assert (np.sort(spread, axis=1)[:, 7] == spread.min(axis=1)).all()
    assert (np.sort(spread, axis=1)[:, 8] > spread.min(axis=1)).all()
