"""What methods are and what they get."""

from repair_bench.harness.methods import EMBEDDINGS, METHODS, SCORES, TEST_ROWS
from repair_bench.report.information import (
    CONTESTS,
    best_rival,
    information_of,
    is_ours,
    is_rival,
    knows_no_more,
    rivals_of,
)


def test_the_best_rival_is_chosen_by_calibration_rows_and_not_by_test_rows(contests):
    massive, rarebench = contests["massive"], contests["rarebench"]
    assert massive["methods"]["LogitAdj"]["metrics"]["accuracy"]["full"] == 0.8  # better on test rows
    assert [best_rival(massive, kind) for kind in (SCORES, EMBEDDINGS, TEST_ROWS)] == [
        "Vector scaling",
        "ProKeR",
        "BBSE",
    ]
    assert best_rival(rarebench, SCORES) == "LogitAdj"


def test_rivals_without_a_figure_are_never_the_best(contests):
    record = contests["massive"]
    assert "REPAIR as published" in rivals_of(record, SCORES)  # has none
    record["methods"]["Vector scaling"]["calibration"]["accuracy"] = None
    assert best_rival(record, SCORES) == "LogitAdj"
    record["methods"]["LogitAdj"]["calibration"] = None
    assert best_rival(record, SCORES) is None


def test_the_first_of_equals_is_the_best(make_contest):
    assert best_rival(make_contest("x", ((0, 0, 0), (0, 0, 0)), calibration=(0.7, 0.7)), SCORES) == "LogitAdj"


def test_results_that_do_not_say_it_are_read_by_title():
    record = {"methods": {method.title: {} for method in METHODS.values()} | {"newcomer": {}}}
    for method in METHODS.values():
        assert information_of(record, method.title) == method.information
        assert is_rival(record, method.title) == (method.role == "rival")
        assert is_ours(record, method.title) == (method.role == "ours")
    assert (information_of(record, "newcomer"), is_ours(record, "newcomer")) == (SCORES, True)
    assert best_rival(record, SCORES) is None


def test_scores_are_known_to_all(contests):
    record = contests["massive"]
    assert knows_no_more(record, "LogitAdj", "Auto+embeddings")
    assert knows_no_more(record, "GDA", "Auto+embeddings")
    assert not knows_no_more(record, "GDA", "Auto")
    assert not knows_no_more(record, "BBSE", "Auto+embeddings")


def test_opponents_are_the_rivals_of_all_benchmarks_and_the_base(contests):
    del contests["massive"]["methods"]["GDA"]
    assert CONTESTS[1].opponents(contests.values()) == ["ProKeR", "GDA", "Base"]
