"""The search for variances: quick where steps shrink, and never round in circles."""

import numpy as np
import pytest

from repair.variance_search import VarianceSearch, leap_from


def leap(step, last_step, moved):
    return leap_from(np.array([step]), np.array([last_step]), np.array([moved]))[0]


def test_upwards_a_leap_finds_the_end_of_a_geometric_approach():
    """From 1, steps of 0.2, 0.16, … lead to 2; from 1.2 on that is 0.8."""
    assert leap(0.16, 0.2, 0.2) == pytest.approx(0.8)
    assert leap(0.1, 0.1001, 1.0) == pytest.approx(3.0)  # no farther


def test_downwards_a_leap_takes_steps_for_linear_in_the_variance():
    """Steps of −0.2 at variance 1 and −0.16 at e^−0.2 vanish at 1 − 5·(1 − e^−0.2)."""
    end = 1 - 5 * (1 - np.exp(-0.2))
    assert leap(-0.16, -0.2, -0.2) == pytest.approx(np.log(end) + 0.2)
    assert leap(-0.19, -0.2, -0.2) == pytest.approx(-3.0)  # linear, that would be below zero


def test_after_a_long_move_downwards_the_secant_is_in_logarithms():
    """Linear in the variance, a move of −2.7 would always promise the cap."""
    assert leap(-0.4, -2.7, -2.7) == pytest.approx(-0.4 * 2.7 / 2.3)


def test_a_leap_stays_where_nothing_moves_and_goes_back_between_two_signs():
    assert leap(0.0, 0.0, 0.0) == 0.0
    assert leap(0.3, -0.1, -0.2) == pytest.approx(0.15)


def test_steps_that_do_not_shrink_are_doubled_on_the_way():
    assert leap(-0.01, -0.009, -0.05) == pytest.approx(-0.1)
    assert leap(0.01, 0.01, 0.001) == pytest.approx(0.01)


def root_of(step, start, rounds):
    search, place = VarianceSearch(1), np.array([start])
    for _ in range(rounds):
        place = search.next(place, step(place))
    return place[0]


@pytest.mark.parametrize("start", [-9.0, -2.5, 0.5, 2.0, 9.0])
@pytest.mark.parametrize("root", [-4.0, 0.0, 3.0])
def test_it_gets_there_from_both_sides(start, root):
    """Steps that are long far above the root and short far below, as the update's are."""

    def step(place):
        return np.clip(0.4 * -np.expm1(place - root), -(place - root) - 0.5, 0.4) * np.where(place > root, 0.3, 1.0)

    assert root_of(step, start, 40) == pytest.approx(root, abs=1e-4)


def test_it_does_not_go_round_in_circles():
    """A leap down from above may pass the root by far, and one up from below as well: a bound is in its way."""

    def step(place):
        return np.where(place > -0.5, -0.34 * (place + 0.5), 0.4 * np.tanh(-(place + 0.5)))

    places = []
    search, place = VarianceSearch(1), np.array([0.3])
    for _ in range(25):
        places.append(float(place[0]))
        place = search.next(place, step(place))
    assert place[0] == pytest.approx(-0.5, abs=1e-5)
    above, below = [one for one in places if one > -0.5], [one for one in places if one < -0.5]
    assert above == sorted(above, reverse=True)  # each bound only closes in
    assert below == sorted(below)


def test_a_bound_that_the_update_itself_passes_is_given_up():
    search = VarianceSearch(1)
    search.next(np.array([0.0]), np.array([-0.1]))  # so the root seemed to be below 0
    reached = search.next(np.array([-0.05]), np.array([0.2]))  # another variance has moved: it is above after all
    assert reached[0] > 0.0
