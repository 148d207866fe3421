import numpy as np
import pytest

from repair.terms.cross_fit import FOLDS, RidgeRows, _inverse, dense_codes, mixed


def make_rows(n=60, width=4, n_targets=5, seed=0, penalties=(0.5, 2.0)):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_targets, size=n)
    features = (rng.normal(size=(n, width)) + np.eye(n_targets)[labels][:, :width]).astype(np.float32)
    return RidgeRows(
        features, labels[:, None].astype(np.int32), np.ones((n, 1)), n_targets, rng.random(n) + 0.5, penalties
    )


def by_hand(rows, kept, penalty):
    """Solve the normal equations with dense targets."""
    targets = np.zeros((len(rows.weights), rows.n_targets))
    np.put_along_axis(targets, rows.target_ids, rows.target_values, axis=1)
    features = rows.features[kept].astype(np.float64)
    weighted = features * rows.weights[kept, None]
    size = rows.features.shape[1]
    return np.linalg.solve(weighted.T @ features + penalty * np.eye(size), weighted.T @ targets[kept])


def folds_of(n, groups=None):
    from repair.folds import group_folds

    units = n if groups is None else int(groups.max()) + 1
    return group_folds(n, groups, min(FOLDS, units), seed=0)


def test_coefficients_solve_the_normal_equations_of_all_rows():
    rows = make_rows()
    coefficients, _ = rows.cross_fitted(60, None, rows.target_ids)
    for place, penalty in enumerate(rows.penalties):
        np.testing.assert_allclose(coefficients[place].T, by_hand(rows, np.arange(60), penalty), rtol=1e-4, atol=1e-5)


def test_predictions_come_from_fits_without_the_rows_own_fold():
    rows = make_rows()
    wanted = np.tile(np.array([4, 0, -1], dtype=np.int32), (60, 1))
    _, predictions = rows.cross_fitted(60, None, wanted)
    folds = folds_of(60)
    for row in (0, 17, 59):
        for place, penalty in enumerate(rows.penalties):
            expected = rows.features[row] @ by_hand(rows, folds != folds[row], penalty)
            np.testing.assert_allclose(predictions[row, :2, place], expected[[4, 0]], rtol=1e-4, atol=1e-5)
    assert (predictions[:, 2] == 0).all()


def test_rows_beyond_the_own_ones_teach_every_fold():
    rows = make_rows()
    wanted = rows.target_ids[:20]
    _, predictions = rows.cross_fitted(20, None, wanted)
    folds = np.append(folds_of(20), np.full(40, -1))
    expected = rows.features[3] @ by_hand(rows, folds != folds[3], 0.5)
    np.testing.assert_allclose(predictions[3, 0, 0], expected[wanted[3, 0]], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("grouped", [False, True])
def test_no_label_of_a_rows_own_fold_moves_its_predictions(grouped):
    """Change every label of one fold: the fold's predictions keep every bit, others do not."""
    rows = make_rows()
    groups = dense_codes(np.arange(60) // 4) if grouped else None
    wanted = np.tile(np.arange(5, dtype=np.int32), (60, 1))
    folds = folds_of(60, groups)
    _, before = rows.cross_fitted(60, groups, wanted)
    changed = np.where((folds == 0)[:, None], (rows.target_ids + 1) % 5, rows.target_ids).astype(np.int32)
    other = RidgeRows(rows.features, changed, rows.target_values, 5, rows.weights, rows.penalties)
    _, after = other.cross_fitted(60, groups, wanted)
    np.testing.assert_allclose(after[folds == 0], before[folds == 0], rtol=0, atol=1e-12)
    assert np.abs(after[folds != 0] - before[folds != 0]).max() > 1e-3
    if grouped:
        assert all(len(set(folds[groups == one])) == 1 for one in range(15))


def test_several_targets_a_row_are_the_same_sums():
    rng = np.random.default_rng(0)
    features = np.where(rng.random((30, 6)) < 0.4, rng.random((30, 6)), 0.0).astype(np.float32)
    ids = np.array([rng.permutation(5)[:3] for _ in range(30)], dtype=np.int32)
    ids[4, 2] = -1
    values = np.where(ids >= 0, rng.normal(size=(30, 3)), 7.0)  # what −1 points at is never looked at
    rows = RidgeRows(features, ids, values, 5, np.ones(30), (1.0,))
    targets = np.zeros((30, 5))
    for row in range(30):
        for one, value in zip(ids[row], values[row], strict=True):
            if one >= 0:
                targets[row, one] = value
    expected = np.linalg.solve(features.T @ features + np.eye(6), features.T @ targets)
    coefficients, _ = rows.cross_fitted(30, None, np.zeros((30, 1), dtype=np.int32))
    np.testing.assert_allclose(coefficients[0].T, expected, rtol=1e-3, atol=1e-5)


def test_a_matrix_that_rounding_made_indefinite_is_inverted_all_the_same():
    gram = np.diag([1e16, 1.0]) + np.array([[0.0, 1e9], [1e9, 0.0]])
    inverse = _inverse(gram, 1e-9)
    assert np.isfinite(inverse).all()
    well = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(_inverse(well, 0.5) @ (well + 0.5 * np.eye(2)), np.eye(2), atol=1e-12)


def test_blocks_change_only_rounding(monkeypatch):
    rows = make_rows()
    whole = rows.cross_fitted(60, None, rows.target_ids)[1]
    monkeypatch.setattr("repair.terms.cross_fit.ROWS_PER_BLOCK", 7)
    np.testing.assert_allclose(rows.cross_fitted(60, None, rows.target_ids)[1], whole, rtol=1e-4, atol=1e-5)


def test_two_rows_are_two_folds():
    rows = make_rows(n=2)
    _, predictions = rows.cross_fitted(2, None, rows.target_ids)
    assert np.isfinite(predictions).all()


def test_mixing_with_weights_of_both_signs_gives_the_sum_of_the_columns():
    matrices = np.random.default_rng(0).normal(size=(3, 4, 2)).astype(np.float32)
    weights = np.array([2.0, -1.0, 0.5])
    one, total = mixed(matrices, weights)
    np.testing.assert_allclose(total * one[0], np.einsum("m,mij->ij", weights, matrices), rtol=1e-5)
    nothing, total = mixed(matrices, np.zeros(3))
    assert total == 0.0
    np.testing.assert_allclose(nothing[0], matrices.mean(axis=0), rtol=1e-5)


def test_codes_have_no_gaps():
    assert dense_codes(np.array([7, 3, 7, 9])).tolist() == [1, 0, 1, 2]
