"""Rare classes at a rival's accuracy on frequent ones."""

import pytest

from repair_bench.report.beyond_frontier import frontier_gap, frontier_table, rare_at


def curve(*points):
    dials, frequent, rare = zip(*points, strict=True)
    return {"dials": list(dials), "frequent": list(frequent), "rare": list(rare)}


OURS = curve((-1.0, 0.9, 0.1), (0.0, 0.8, 0.4), (1.0, 0.6, 0.5))


def with_curves(record, frequent, rare):
    record["methods"]["Extended"]["trade_off"] = OURS
    rival = curve((-1.0, 0.99, 0.0), (0.0, frequent, rare), (1.0, 0.1, 0.9))
    record["methods"]["LogitAdj"]["trade_off"] = rival
    return record


@pytest.mark.parametrize(("frequent", "rare"), [(0.9, 0.1), (0.85, 0.25), (0.8, 0.4), (0.7, 0.45), (0.6, 0.5)])
def test_between_two_dials_the_curve_is_a_line(frequent, rare):
    assert rare_at(OURS, frequent) == pytest.approx(rare)


def test_a_curve_that_comes_back_is_read_nearest_to_dial_zero():
    back = curve((-1.0, 0.7, 0.9), (-0.5, 0.9, 0.2), (0.0, 0.8, 0.4), (0.5, 0.6, 0.5))
    assert rare_at(back, 0.7) == pytest.approx(0.45)
    flat = curve((-1.0, 0.9, 0.1), (-0.5, 0.9, 0.2), (0.0, 0.8, 0.4))
    assert rare_at(flat, 0.9) == 0.2


def test_dials_without_rows_are_left_out():
    assert rare_at(curve((0.0, 0.8, None), (0.5, None, 0.4)), 0.8) is None


@pytest.mark.parametrize(
    ("frequent", "rare", "gap"), [(0.7, 0.4, 0.05), (0.8, 0.5, -0.1), (0.95, 0.1, "n/a ↑"), (0.5, 0.1, "n/a ↓")]
)
def test_the_rival_stands_at_its_own_dial_zero(make_beyond, frequent, rare, gap):
    record = with_curves(make_beyond("x", (0.0, 0.0, 0.0)), frequent, rare)
    found = frontier_gap(record, "Extended", "LogitAdj")
    assert found == (gap if isinstance(gap, str) else pytest.approx(gap))
    assert frontier_gap(record, "Extended", "LambdaRank") is None


def test_negative_ones_are_counted_among_those_that_are_known(make_beyond):
    places = {"a": (0.7, 0.4), "b": (0.8, 0.5), "c": (0.95, 0.1)}
    records = {name: with_curves(make_beyond(name, (0.0, 0.0, 0.0)), *place) for name, place in places.items()}
    table = frontier_table(records, "Extended")
    assert table.header[2] == "LogitAdj"
    assert [line[2] for line in table.rows] == ["+5.0", "−10.0", "n/a ↑", "1 of 2"]
    assert [line[1] for line in table.rows] == ["–", "–", "–", "0 of 0"]
