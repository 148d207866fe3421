"""Tables from the JSON of a run."""

import pytest

from repair_bench.report.result_tables import KINDS, all_tables, tables
from repair_bench.report.short_tables import short_differences, short_signs, short_trials
from repair_bench.report.table import AbsentError


def rows(kind, result, which=0):
    return tables(kind, result)[which].rows


def test_percent_and_plain_numbers_with_their_spread(result):
    first, second = rows("main", result)
    assert first[:4] == ["Classwise", "50.0 ± 1.0", "50.0 ± 1.0", "0.500 ± 0.010"]  # MRR is no percentage
    assert second[:2] == ["Pairwise", "61.5"]  # one trial has no spread
    assert rows("unconditional", result)[1] == ["Pairwise", "scores only", *["61.5"] * 4]


def test_signs_and_differences_name_their_pair(result):
    (signs,) = tables("signs", result)
    assert signs.caption == "Sign test over 2 trials, Pairwise against Classwise"
    assert signs.rows[0] == ["Hit@1", "4/1/0", "✓", "0.188", "n/a"]
    covered, everything, gaps = tables("bootstrap", result)
    assert covered.rows[1][:2] == everything.rows[1][:2] == ["Pairwise", "61.5 (40.0 to 70.0)"]
    assert everything.header[1] == "Accuracy, all rows"
    assert gaps.caption.startswith("Pairwise − Classwise, 95 % interval from 50")
    assert gaps.rows[0] == ["Hit@1", "+1.5", "−0.2 to +3.0", "0.900", "0.200", "0.400"]


def test_a_result_of_one_method_has_no_pairs_and_still_its_intervals(result):
    del result["methods"]["Classwise"]
    with pytest.raises(AbsentError, match=r"birds: no pair to compare was run, such as Pairwise and Classwise$"):
        tables("signs", result)
    assert len(tables("bootstrap", result)) == 2


def test_who_takes_its_own_shortlists_is_in_no_column_over_covered_rows(own_list_result):
    def titles(table):
        return [line[0] for line in table.rows]

    for covered in (tables("main", own_list_result)[0], *tables("trials", own_list_result)[:3]):
        assert titles(covered) == ["Classwise", "Pairwise", "REPAIR as published"]
    for everything in (tables("unconditional", own_list_result)[0], tables("trials", own_list_result)[3]):
        assert titles(everything)[-1] == "Extended"
    assert "(without methods that build their own shortlists: Extended)" in tables("main", own_list_result)[0].caption
    *_, covered, everything = [one for one in tables("bootstrap", own_list_result) if one.caption.startswith("Fit")]
    assert (len(covered.rows), len(everything.rows)) == (3, 4)
    assert short_trials(own_list_result)[0].rows[-1][1:] == ["–", "–", "–", "64.0, 64.0 [64.0]"]


def test_what_each_method_gets_is_shown_over_all_rows_and_many_own_lists_are_only_counted(contests):
    (table,) = tables("unconditional", contests["massive"])
    assert table.header[:2] == ["method", "gets"]
    gets = {line[0]: line[1] for line in table.rows}
    assert gets["Auto"] == "scores only"
    assert gets["GDA"] == gets["Auto+embeddings"] == "scores and embeddings"
    contests["massive"]["methods"]["Base"]["own_list"] = False
    assert "(without the 11 methods that build their own shortlists)" in tables("main", contests["massive"])[0].caption


def test_pairs_with_a_list_of_their_own_are_compared_over_all_rows(own_list_result):
    signs = {one.caption.split(", ")[1]: [line[0] for line in one.rows] for one in tables("signs", own_list_result)}
    assert signs["Extended against REPAIR as published"] == [
        "Accuracy, all rows",
        "Rare, all rows",
        "Frequent, all rows",
    ]
    covered, everything = short_differences(own_list_result)
    assert covered.header == ["metric", "Pairwise − Classwise", "Pairwise − REPAIR as published"]
    assert everything.header == ["metric", "Extended − REPAIR as published"]
    assert everything.rows[0] == ["Accuracy, all rows", "+4.0 (+1.0 to +7.0), p 0.200"]


def test_lengths_components_quintiles_and_classes(result):
    assert rows("k", result) == [["Pairwise", "70.0", "n/a", "70.0", "n/a"], ["(coverage)", "70.0", "n/a", "", ""]]
    assert [line[:2] for line in rows("ablation", result)] == [["Classwise", "offsets only"], ["Pairwise", "both"]]
    assert rows("quintiles", result) == [["Q1", "0.100 to 0.200", "2", "9", "+5.0 ± 2.0"]]
    assert rows("distribution", result)[0] == ["frequent (top 20 %)", "1", "10", "50.0", "10", "10", "10"]
    assert rows("distribution", result)[1] == ["rare (the others)", "4", "10", "50.0", "5", "2", "1"]


def test_every_trial_and_the_papers_figures(result):
    assert rows("trials", result)[1] == ["Pairwise", "61.5", "61.5", "61.5"]
    header = tables("paper", result)[0].header
    assert header == ["method", "Hit@1", "HFR"]
    assert rows("paper", result)[:2] == [["Base", "47 / n/a", "– / n/a"], ["REPAIR", "49 / 61.5", "0.138 / 0.615"]]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("k", {"by_k": {}}),
        ("quintiles", {"quintiles": {"not_applicable": "few"}}),
        ("distribution", {"data": {"class_counts": None}}),
        ("paper", {"published": {"base": None, "numbers": {}}}),
        ("ablation", {"methods": {}}),
        ("pie", {}),
    ],
)
def test_what_a_result_lacks_is_said(result, kind, change):
    with pytest.raises(AbsentError, match=r"birds|pie"):
        tables(kind, {**result, **change})


def test_all_tables_stand_under_their_captions_or_say_why_not(result):
    text = all_tables({**result, "quintiles": {"not_applicable": "few"}})
    assert "quick run" not in text
    assert "quick run" in all_tables({**result, "settings": {**result["settings"], "quick": True}})
    assert text.startswith("Birds | made up: 5 classes, 20 training, 40 calibration and 30 test rows\nnot real\n")
    assert "birds: quintiles are not applicable: few" in text
    for kind in set(KINDS) - {"quintiles"}:
        assert tables(kind, result)[0].text in text


def test_short_tables_hold_the_same_in_fewer_cells(result):
    assert short_differences(result)[0].rows[0] == ["Hit@1", "+1.5 (−0.2 to +3.0), p 0.200"]
    assert short_signs(result)[0].rows[0] == ["Hit@1", "4/1/0 ✓, p 0.188"]
    assert short_trials(result)[0].rows[0][:2] == ["Classwise", "50.0, 50.0 [50.0]"]
