import numpy as np
import pytest

from repair.terms.learned.quasi_newton import minimized


def quadratic(size, condition, seed=0):
    """Return a matrix, a vector, and the loss x'Ax/2 − b'x with the gradient."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix = (directions * np.geomspace(1.0, condition, size)) @ directions.T
    vector = rng.normal(size=size)
    calls = []

    def loss(point):
        calls.append(point)
        exact = point.ravel().astype(np.float64)
        gradient = (matrix @ exact - vector).astype(np.float32).reshape(point.shape)
        return 0.5 * exact @ matrix @ exact - vector @ exact, gradient

    return matrix, vector, loss, calls


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_it_finds_the_minimum(penalty):
    matrix, vector, loss, _ = quadratic(12, 30.0)
    found = minimized(loss, np.zeros((3, 4), dtype=np.float32), (penalty,), 200, 1e-10)[0]
    expected = np.linalg.solve(matrix + penalty * np.eye(12), vector)
    np.testing.assert_allclose(found.ravel(), expected, atol=2e-3)


def test_it_learns_the_curvature():
    """Steepest descent would need about as many steps as the condition number."""
    _, _, loss, calls = quadratic(12, 1000.0)
    minimized(loss, np.zeros((3, 4), dtype=np.float32), (0.0,), 500, 1e-7)
    assert len(calls) < 100


def test_every_step_decreases_the_loss():
    _, _, loss, _ = quadratic(12, 100.0)
    values = [loss(minimized(loss, np.zeros((3, 4), dtype=np.float32), (0.0,), steps, 0.0)[0])[0] for steps in range(8)]
    assert (np.diff(values) < 0).all()


def test_the_start_is_returned_if_it_is_the_minimum_and_is_never_changed():
    matrix, vector, loss, _ = quadratic(6, 1.0)
    start = np.linalg.solve(matrix, vector).astype(np.float32).reshape(2, 3)
    before = start.copy()
    np.testing.assert_allclose(minimized(loss, start, (0.0,), 50, 1e-6)[0], before, atol=1e-6)
    assert np.array_equal(start, before)


def test_known_curvatures_save_iterations():
    curvature = np.geomspace(1.0, 1e4, 12).astype(np.float32).reshape(3, 4)
    found, calls = {}, {}
    for known in (None, curvature):
        evaluated = []

        def loss(point, evaluated=evaluated):
            evaluated.append(point)
            return 0.5 * float((curvature * (point - 1.0) ** 2).sum()), curvature * (point - 1.0)

        solution = minimized(loss, np.zeros((3, 4), dtype=np.float32), (0.1,), 300, 1e-9, known)[0]
        found[known is None], calls[known is None] = solution, len(evaluated)
    np.testing.assert_allclose(found[False], curvature / (curvature + 0.1), atol=1e-4)
    np.testing.assert_allclose(found[True], found[False], atol=2e-3)
    assert calls[False] < calls[True] / 3


def test_several_penalties_save_evaluations():
    """The curvature that was learned for one penalty is used for the next."""
    matrix, vector, loss, calls = quadratic(12, 100.0)
    start, penalties = np.zeros((3, 4), dtype=np.float32), (3.0, 2.0, 1.0)
    found = minimized(loss, start, penalties, 200, 1e-8)
    together, before = len(calls), start
    for solution, penalty in zip(found, penalties, strict=True):
        expected = np.linalg.solve(matrix + penalty * np.eye(12), vector)
        np.testing.assert_allclose(solution.ravel(), expected, atol=2e-3)
        before = minimized(loss, before, (penalty,), 200, 1e-8)[0]  # from the solution before, but without its steps
    assert together < 0.9 * (len(calls) - together)


@pytest.mark.parametrize("curvature", [None, 1e-3, 100.0])
def test_a_loss_that_is_almost_flat_is_no_error(curvature):
    """Rows that the base model has right with certainty leave gradients near the smallest float32 numbers."""
    estimate = None if curvature is None else np.full(4, curvature, dtype=np.float32)
    for slope in 10.0 ** np.arange(-26, -15, 0.05):
        gradient = np.full(4, slope, dtype=np.float32)
        start = np.zeros(4, dtype=np.float32)

        def loss(matrix, gradient=gradient):
            return float((matrix * gradient).sum()), gradient.copy()

        found = minimized(loss, start, (10.0, 1.0, 0.1), 50, 1e-4, estimate)
        assert np.abs(found).max() <= 11.0 * slope
