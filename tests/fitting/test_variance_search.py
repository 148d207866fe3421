"""The search for variances converges quickly if steps shrink, and never cycles."""

import numpy as np
import pytest

from repair.fitting.variance_search import VarianceSearch, secant_step


def secant(step, last_step, moved):
    return secant_step(np.array([step]), np.array([last_step]), np.array([moved]))[0]


def test_upwards_a_secant_step_finds_the_limit_of_a_geometric_series():
    """From 1, steps of 0.2, 0.16, … lead to 2.  The point 1.2 is 0.8 away from it."""
    assert secant(0.16, 0.2, 0.2) == pytest.approx(0.8)
    assert secant(0.1, 0.1001, 1.0) == pytest.approx(3.0)  # the longest step


def test_downwards_a_secant_step_is_linear_in_the_variance():
    """Steps of −0.2 at variance 1 and −0.16 at e^−0.2 vanish at 1 − 5·(1 − e^−0.2)."""
    end = 1 - 5 * (1 - np.exp(-0.2))
    assert secant(-0.16, -0.2, -0.2) == pytest.approx(np.log(end) + 0.2)
    assert secant(-0.19, -0.2, -0.2) == pytest.approx(-3.0)  # a linear step would lead below zero


def test_after_a_long_move_downwards_the_secant_is_in_logarithms():
    """After a move of −2.7, a step that is linear in the variance would always be the longest one."""
    assert secant(-0.4, -2.7, -2.7) == pytest.approx(-0.4 * 2.7 / 2.3)


def test_a_secant_step_is_zero_at_rest_and_goes_back_after_a_change_of_sign():
    assert secant(0.0, 0.0, 0.0) == 0.0
    assert secant(0.3, -0.1, -0.2) == pytest.approx(0.15)


def test_the_last_move_is_doubled_if_steps_do_not_shrink():
    assert secant(-0.01, -0.009, -0.05) == pytest.approx(-0.1)
    assert secant(0.01, 0.01, 0.001) == pytest.approx(0.01)


def root_of(step, start, rounds):
    search, point = VarianceSearch(1), np.array([start])
    for _ in range(rounds):
        point = search.next(point, step(point))
    return point[0]


@pytest.mark.parametrize("start", [-9.0, -2.5, 0.5, 2.0, 9.0])
@pytest.mark.parametrize("root", [-4.0, 0.0, 3.0])
def test_it_converges_from_both_sides(start, root):
    """Like those of the update, steps are long far above the root and short far below it."""

    def step(point):
        return np.clip(0.4 * -np.expm1(point - root), -(point - root) - 0.5, 0.4) * np.where(point > root, 0.3, 1.0)

    assert root_of(step, start, 40) == pytest.approx(root, abs=1e-4)


def test_it_does_not_cycle():
    """Secant steps from above and from below can both pass the root by far, but the bracket stops them."""

    def step(point):
        return np.where(point > -0.5, -0.34 * (point + 0.5), 0.4 * np.tanh(-(point + 0.5)))

    points = []
    search, point = VarianceSearch(1), np.array([0.3])
    for _ in range(25):
        points.append(float(point[0]))
        point = search.next(point, step(point))
    assert point[0] == pytest.approx(-0.5, abs=1e-5)
    above, below = [value for value in points if value > -0.5], [value for value in points if value < -0.5]
    assert above == sorted(above, reverse=True)  # the bracket only becomes narrower
    assert below == sorted(below)


def test_a_bound_that_the_update_itself_passes_is_dropped():
    search = VarianceSearch(1)
    search.next(np.array([0.0]), np.array([-0.1]))  # the root seems to be below 0
    reached = search.next(np.array([-0.05]), np.array([0.2]))  # another variance has changed, so it is above 0
    assert reached[0] > 0.0
