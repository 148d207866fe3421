import numpy as np
import pytest

from repair.stats.row_weights import renumbered
from repair.terms.learned.cross_fitted_ridge import FOLDS, RidgeRows, _inverse, mixed


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
    from repair.stats.folds import group_folds

    units = n if groups is None else int(groups.max()) + 1
    return group_folds(n, groups, min(FOLDS, units), seed=0)


def test_coefficients_solve_the_normal_equations_of_all_rows():
    rows = make_rows()
    coefficients, _ = rows.cross_fitted(60, None, rows.target_ids)
    for number, penalty in enumerate(rows.penalties):
        np.testing.assert_allclose(coefficients[number].T, by_hand(rows, np.arange(60), penalty), rtol=1e-4, atol=1e-5)


def test_predictions_come_from_fits_without_the_rows_own_fold():
    rows = make_rows()
    ids = np.tile(np.array([4, 0, -1], dtype=np.int32), (60, 1))
    _, predictions = rows.cross_fitted(60, None, ids)
    folds = folds_of(60)
    for row in (0, 17, 59):
        for number, penalty in enumerate(rows.penalties):
            expected = rows.features[row] @ by_hand(rows, folds != folds[row], penalty)
            np.testing.assert_allclose(predictions[row, :2, number], expected[[4, 0]], rtol=1e-4, atol=1e-5)
    assert (predictions[:, 2] == 0).all()


def test_rows_that_are_not_predicted_are_used_in_every_fold():
    rows = make_rows()
    ids = rows.target_ids[:20]
    _, predictions = rows.cross_fitted(20, None, ids)
    folds = np.append(folds_of(20), np.full(40, -1))
    expected = rows.features[3] @ by_hand(rows, folds != folds[3], 0.5)
    np.testing.assert_allclose(predictions[3, 0, 0], expected[ids[3, 0]], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("grouped", [False, True])
def test_predictions_do_not_depend_on_labels_of_their_own_fold(grouped):
    """Change every label of one fold: the predictions of that fold stay the same, others change."""
    rows = make_rows()
    groups = renumbered(np.arange(60) // 4) if grouped else None
    ids = np.tile(np.arange(5, dtype=np.int32), (60, 1))
    folds = folds_of(60, groups)
    _, before = rows.cross_fitted(60, groups, ids)
    changed = np.where((folds == 0)[:, None], (rows.target_ids + 1) % 5, rows.target_ids).astype(np.int32)
    other = RidgeRows(rows.features, changed, rows.target_values, 5, rows.weights, rows.penalties)
    _, after = other.cross_fitted(60, groups, ids)
    np.testing.assert_allclose(after[folds == 0], before[folds == 0], rtol=0, atol=1e-12)
    assert np.abs(after[folds != 0] - before[folds != 0]).max() > 1e-3
    if grouped:
        assert all(len(set(folds[groups == group])) == 1 for group in range(15))


def test_several_targets_per_row_give_the_same_sums():
    rng = np.random.default_rng(0)
    features = np.where(rng.random((30, 6)) < 0.4, rng.random((30, 6)), 0.0).astype(np.float32)
    ids = np.array([rng.permutation(5)[:3] for _ in range(30)], dtype=np.int32)
    ids[4, 2] = -1
    values = np.where(ids >= 0, rng.normal(size=(30, 3)), 7.0)  # values with id −1 must be ignored
    rows = RidgeRows(features, ids, values, 5, np.ones(30), (1.0,))
    targets = np.zeros((30, 5))
    for row in range(30):
        for target, value in zip(ids[row], values[row], strict=True):
            if target >= 0:
                targets[row, target] = value
    expected = np.linalg.solve(features.T @ features + np.eye(6), features.T @ targets)
    coefficients, _ = rows.cross_fitted(30, None, np.zeros((30, 1), dtype=np.int32))
    np.testing.assert_allclose(coefficients[0].T, expected, rtol=1e-3, atol=1e-5)


def test_a_matrix_that_rounding_made_indefinite_is_inverted_too():
    gram = np.diag([1e16, 1.0]) + np.array([[0.0, 1e9], [1e9, 0.0]])
    inverse = _inverse(gram, 1e-9)
    assert np.isfinite(inverse).all()
    well = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(_inverse(well, 0.5) @ (well + 0.5 * np.eye(2)), np.eye(2), atol=1e-12)


def test_blocks_change_only_rounding(monkeypatch):
    rows = make_rows()
    whole = rows.cross_fitted(60, None, rows.target_ids)[1]
    monkeypatch.setattr("repair.terms.learned.cross_fitted_ridge.ROWS_PER_BLOCK", 7)
    np.testing.assert_allclose(rows.cross_fitted(60, None, rows.target_ids)[1], whole, rtol=1e-4, atol=1e-5)


def test_two_rows_give_two_folds():
    rows = make_rows(n=2)
    _, predictions = rows.cross_fitted(2, None, rows.target_ids)
    assert np.isfinite(predictions).all()


def test_mixing_with_weights_of_both_signs_gives_the_sum_of_the_columns():
    matrices = np.random.default_rng(0).normal(size=(3, 4, 2)).astype(np.float32)
    weights = np.array([2.0, -1.0, 0.5])
    mean, total = mixed(matrices, weights)
    np.testing.assert_allclose(total * mean[0], np.einsum("m,mij->ij", weights, matrices), rtol=1e-5)
    unweighted, total = mixed(matrices, np.zeros(3))
    assert total == 0.0
    np.testing.assert_allclose(unweighted[0], matrices.mean(axis=0), rtol=1e-5)


def test_codes_have_no_gaps():
    assert renumbered(np.array([7, 3, 7, 9])).tolist() == [1, 0, 1, 2]
