"""Tables of our methods and rivals with the same information."""

import pytest

from repair_bench.report.information import CONTESTS
from repair_bench.report.rival_tables import (
    below_sentence,
    best_gap_table,
    best_table,
    contest_family,
    contested,
    every_table,
    rival_count_table,
)

SCORES, EMBEDDED, TEST_ROWS = CONTESTS


def test_the_short_table_names_the_best_rival_of_each_benchmark(contests):
    table = best_table(contests, SCORES)
    assert table.caption.startswith("Rivals that get scores only: the best rival by its calibration rows.")
    assert table.header == ["benchmark", "best rival", "Base", "best rival's accuracy", "Auto", "Extended"]
    assert table.rows == [
        ["massive", "Vector scaling", "60.0", "75.0", "82.0", "82.0"],
        ["rarebench", "LogitAdj", "60.0", "80.0", "82.0", "82.0"],
        ["mean", "", "60.0 (of 2)", "77.5 (of 2)", "82.0 (of 2)", "82.0 (of 2)"],
    ]
    assert best_table(contests, EMBEDDED).rows[0][1:4] == ["ProKeR", "60.0", "75.0"]
    assert best_table(contests, TEST_ROWS).header[-2:] == ["Auto", "Extended"]


def test_the_long_table_has_every_rival_and_marks_the_chosen_one(contests):
    table = every_table(contests, SCORES)
    rivals = ["REPAIR as published", "LogitAdj", "Vector scaling"]
    assert table.header == ["benchmark", "Base", *rivals, "Auto", "Extended"]
    assert table.rows[0] == ["massive", "60.0", "70.0", "80.0", "75.0 †", "82.0", "82.0"]
    assert table.rows[1][3:5] == ["80.0 †", "75.0"]


def test_shares_are_of_the_error_of_the_best_rival(contests):
    table = best_gap_table(contests, SCORES)
    assert table.rows[0] == ["massive", "Vector scaling", *["+2.0 (+1.0 to +3.0) *", "+8.0 (+4.0 to +12.0)"] * 2]
    assert table.rows[1][1:4] == ["LogitAdj", "−1.0 (−2.0 to −0.1) *", "−5.0 (−10.0 to −0.5)"]
    assert table.rows[2] == ["mean", "", "+0.5 (of 2)", "+1.5 (of 2)", "+2.0 (of 2)", "+9.0 (of 2)"]


def test_one_family_holds_all_entries_rivals_and_the_base(contests):
    verdicts = contest_family(contests, SCORES, "Auto")
    assert len(verdicts) == 2 * 4
    assert {rival for _, rival in verdicts} == {"REPAIR as published", "LogitAdj", "Vector scaling", "Base"}
    assert verdicts["massive", "Base"].p_holm == pytest.approx(8 * 0.001)
    assert verdicts["rarebench", "Base"].p_holm == pytest.approx(4 * 0.04)
    assert {rival for _, rival in contest_family(contests, EMBEDDED, "Auto+embeddings")} == {"GDA", "ProKeR", "Base"}
    table = rival_count_table(contests, EMBEDDED)
    assert "after Holm over 6 and 6 comparisons" in table.caption
    assert table.rows[0] == ["GDA", "1 / 0 of 2 (1 / 1)", "1 / 0 of 2 (2 / 0)"]


def test_where_we_are_below_is_said(contests):
    said = below_sentence(contests, TEST_ROWS)
    below = "EM prior on rarebench, BBSE on rarebench, Base on rarebench"
    assert f"Auto is significantly below no rival after Holm, and below {below} without correction." in said
    assert "Extended is significantly below no rival after Holm, and below no rival without correction." in said
    for name in contests:
        for pair in contests[name]["methods"]["Auto"]["against"].values():
            pair["accuracy"]["difference"] |= {"p_value": 0.0001}
    assert f"Auto is significantly below {below} after Holm" in below_sentence(contests, TEST_ROWS)


def test_entries_without_a_rival_or_without_ours_are_left_out(contests, make_result):
    contests["plain"] = make_result("plain")
    for title in ("Auto+embeddings", "Extended+embeddings"):
        del contests["massive"]["methods"][title]
    assert list(contested(contests, SCORES)) == ["massive", "rarebench"]
    assert list(contested(contests, EMBEDDED)) == ["rarebench"]
    del contests["rarebench"]["methods"]["Extended"]
    assert best_table(contests, SCORES).rows[1][-1] == "–"
    assert best_gap_table(contests, SCORES).rows[1][-2:] == ["–", "–"]
