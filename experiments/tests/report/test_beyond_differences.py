"""Differences of the extended mode to its rivals, and their correction."""

import pytest

from repair_bench.report.beyond_differences import (
    ablation_table,
    count_table,
    difference_table,
    family,
    side_table,
    worse_pairs,
)


def test_one_family_holds_all_benchmarks_and_rivals(beyond_results):
    verdicts = family(beyond_results, "Extended")
    assert len(verdicts) == 9  # three benchmarks, three of the five rivals were run
    assert verdicts["better", "Base"].p_holm == pytest.approx(9 * 0.001)
    assert verdicts["small", "Base"].p_holm == pytest.approx(6 * 0.03)  # the three smaller ones are out of the way
    assert [verdicts[name, "Base"].corrected for name in beyond_results] == [1, 0, 0]
    assert [verdicts[name, "Base"].alone for name in beyond_results] == [1, 0, -1]
    assert family(beyond_results, "Extended+embeddings") == {}


def test_below_is_below_after_the_correction_too(make_beyond):
    worse = {"worse": make_beyond("worse", (-0.02, -0.03, -0.01))}
    assert {one.corrected for one in family(worse, "Extended").values()} == {-1}


def test_the_tables_show_interval_corrected_p_and_counts(beyond_results):
    table = difference_table(beyond_results, "Extended")
    assert "Holm over 9 comparisons" in table.caption
    assert table.rows[0][:2] == ["better", "+4.0 (+2.0 to +6.0) *, p 0.009"]
    assert table.rows[2][1:4] == ["−2.0 (−3.0 to −1.0) *, p 0.180"] * 2 + ["–"]
    assert count_table(beyond_results).rows == [
        ["Extended", *["1 / 0 of 3 (1 / 1)"] * 2, "–", "–", "1 / 0 of 3 (1 / 1)"],
        ["Extended+embeddings", *["–"] * 5],
    ]


def test_rare_and_frequent_classes_are_counted_apart(beyond_results):
    gap = beyond_results["better"]["methods"]["Extended"]["against"]["LogitAdj"]["accuracy_rare"]["difference"]
    gap |= {"low": -0.2, "high": -0.1}
    rare, frequent, *others = side_table(beyond_results).rows
    assert rare[:4] == ["Extended", "rare classes", "1 / 1 of 3", "0 / 2 of 3"]
    assert frequent[:4] == ["Extended", "frequent classes", "1 / 1 of 3", "1 / 1 of 3"]
    assert {cell for line in others for cell in line[2:]} == {"–"}


def test_who_is_above_is_named_but_not_our_own_forms(beyond_results):
    ours = beyond_results["better"]["methods"]["Extended"]["against"]["Extended, base's list"]
    ours["accuracy"]["difference"] |= {"low": -0.2, "high": -0.1}
    assert worse_pairs(beyond_results, "Extended") == [
        ("small", "Base"),
        ("small", "LogitAdj"),
        ("small", "REPAIR as published"),
    ]


def test_who_gets_more_information_may_be_above(contests):
    below = {"low": -0.2, "high": -0.1}
    for first in ("Extended", "Extended+embeddings"):
        for pair in contests["massive"]["methods"][first]["against"].values():
            pair["accuracy"]["difference"] |= below
    others = {other for name, other in worse_pairs(contests, "Extended") if name == "massive"}
    assert others == {"Base", "REPAIR as published", "LogitAdj", "Vector scaling"}
    assert {other for _, other in worse_pairs(contests, "Extended+embeddings")} == others | {"GDA", "ProKeR"}


def test_parts_are_paired_differences_and_their_mean(beyond_results):
    gap = beyond_results["open"]["methods"]["Extended"]["against"]["Extended, base's list"]["accuracy"]["difference"]
    gap |= {"estimate": 0.03, "low": 0.01, "high": 0.05}
    table = ablation_table(beyond_results)
    assert table.header[1] == "own list"
    assert [line[1] for line in table.rows] == [
        "+0.0 (−1.0 to +1.0)",
        "+3.0 (+1.0 to +5.0) *",
        "+0.0 (−1.0 to +1.0)",
        "+1.0 (of 3)",
    ]
    assert {cell for line in table.rows for cell in line[2:]} == {"–"}  # no embeddings
