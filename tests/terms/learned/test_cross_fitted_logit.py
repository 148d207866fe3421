import numpy as np
import pytest

from repair.terms.learned.cross_fitted_logit import SoftmaxRows, cross_fitted


def rows(n=300, n_classes=5, width=8, seed=0, **more):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, size=n)
    features = (np.eye(n_classes, width)[labels] + rng.normal(size=(n, width))).astype(np.float32)
    return SoftmaxRows(features, labels, rng.random(n), n_classes, 0.1, **more)


def gradient(problem, matrix, which):
    """Return the gradient of the penalised loss over some rows, in float64."""
    features = problem.features[which].astype(np.float64)
    scores = features @ matrix.T.astype(np.float64)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(len(which)), problem.labels[which]] -= 1.0
    return (problem.weights[which, None] * shares).T @ features + problem.penalty * matrix


@pytest.mark.parametrize("with_moments", [False, True])
def test_a_fit_ends_where_the_gradient_is_zero(monkeypatch, with_moments):
    monkeypatch.setattr("repair.terms.learned.cross_fitted_logit.MAX_ITERATIONS", 500)
    monkeypatch.setattr("repair.terms.learned.cross_fitted_logit.TOLERANCE", 1e-9)
    monkeypatch.setattr("repair.terms.learned.cross_fitted_logit.ROWS_PER_BLOCK", 64)  # several blocks
    problem = rows()
    if with_moments:
        problem = rows(moments=(problem.features**2).mean(axis=0))
    which = np.arange(40, 300, 2)
    matrix = problem.fit(which)[0]
    at_zero = np.abs(gradient(problem, np.zeros_like(matrix), which)).max()
    assert np.abs(gradient(problem, matrix, which)).max() < 2e-3 * at_zero


def test_rows_that_are_left_out_have_no_effect():
    problem, which = rows(), np.arange(0, 200)
    other = SoftmaxRows(
        problem.features,
        np.where(np.arange(300) < 200, problem.labels, 0),
        problem.weights,
        problem.n_classes,
        problem.penalty,
    )
    assert np.array_equal(problem.fit(which), other.fit(which))
    assert not np.array_equal(problem.fit(np.arange(300)), other.fit(np.arange(300)))


def test_a_row_is_predicted_by_a_fit_without_its_fold():
    n = 50
    ids, features = np.zeros((n, 1), dtype=np.int32), np.ones((n, 1), dtype=np.float32)
    trained = []

    def fit(which):
        trained.append(set(which.tolist()))
        return np.full((1, 1, 1), len(trained), dtype=np.float32)  # the number of the fit

    matrices, predictions = cross_fitted(fit, features, ids, None, further=np.arange(n, n + 7))
    assert all(set(range(n, n + 7)) <= rows for rows in trained)
    for row in range(n):
        assert row not in trained[int(predictions[row, 0, 0]) - 1]
    assert trained[int(matrices[0, 0, 0]) - 1] == set(range(n + 7))
