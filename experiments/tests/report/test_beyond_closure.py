"""The share of the published error that is closed."""

import pytest

from repair_bench.report.beyond_closure import CLOSURES, closure_table, closures, mean_closure

ALL_ROWS, BASE_LIST = "all rows, Extended", "base's list, Extended"


def test_the_difference_is_divided_by_the_published_error(beyond_results):
    found = closures(beyond_results, *CLOSURES[ALL_ROWS])
    shares = {name: (one.estimate, one.low, one.high) for name, one in found.items()}
    assert shares["better"] == pytest.approx((0.2, 0.1, 0.3))  # 4 points of 20
    assert shares["open"] == pytest.approx((0.1, -0.1, 0.3))
    assert shares["small"] == pytest.approx((-0.04, -0.06, -0.02))


def test_the_two_kinds_read_their_own_method_and_metric(beyond_results):
    methods = beyond_results["better"]["methods"]
    methods["Extended, base's list"]["against"]["REPAIR as published"]["hit@1"]["difference"]["estimate"] = 0.01
    methods["REPAIR as published"]["metrics"]["hit@1"]["full"] = 0.9
    assert closures(beyond_results, *CLOSURES[BASE_LIST])["better"].estimate == pytest.approx(0.1)
    assert closures(beyond_results, *CLOSURES[ALL_ROWS])["better"].estimate == pytest.approx(0.2)


def test_no_error_has_no_share(make_beyond):
    assert closures({"all right": make_beyond("x", (0.0, 0.0, 0.0), accuracy=1.0)}, *CLOSURES[ALL_ROWS]) == {}


def test_means_are_shown_with_and_without_small_benchmarks(beyond_results):
    assert mean_closure(beyond_results, ALL_ROWS) == (pytest.approx(0.26 / 3), 3)
    assert mean_closure(beyond_results, ALL_ROWS, 200) == (pytest.approx(0.15), 2)
    assert mean_closure(beyond_results, "all rows, Extended+embeddings") == (None, 0)
    table = closure_table(beyond_results)
    assert table.rows[0][:4] == ["better", "500", "+20.0 (+10.0 to +30.0)", "–"]
    assert [line[2] for line in table.rows[-2:]] == ["+8.7 (of 3)", "+15.0 (of 2)"]
