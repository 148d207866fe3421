"""Tables and sentences over several benchmarks."""

import pytest

from repair_bench.report.agreement import agreement, agreement_counts
from repair_bench.report.overview import gain_tables, overview_tables, standing_tables
from repair_bench.report.reading import read_results
from repair_bench.report.table import AbsentError


@pytest.fixture
def results(folder):
    return read_results(folder).benchmarks


def test_every_method_of_every_benchmark_has_a_cell(results):
    results["few_tk"]["methods"]["newcomer"] = results["few_tk"]["methods"]["Pairwise"]
    covered, everything = overview_tables(results)
    assert covered.header == ["benchmark", "Classwise", "Pairwise", "newcomer"]
    assert covered.rows == [
        ["massive", "50.0 (50.0)", "61.5 (61.5)", "–"],
        ["few_tk", "50.0 (50.0)", "61.5 (61.5)", "61.5 (61.5)"],
    ]
    assert everything.rows[0] == ["massive", "50.0", "61.5", "–"]


def test_methods_with_different_information_are_in_different_tables(contests):
    *_, scores, embedded, test_rows = overview_tables(contests)
    assert scores.caption.startswith("Methods that get scores only: accuracy over all rows")
    assert scores.header[1:] == ["Base", "REPAIR as published", "LogitAdj", "Vector scaling", "Auto", "Extended"]
    assert "scores and embeddings" in embedded.caption
    assert embedded.header[1:] == ["GDA", "ProKeR", "Auto+embeddings", "Extended+embeddings"]
    assert test_rows.header[1:] == ["EM prior", "BBSE"]
    assert test_rows.rows[0] == ["massive", "80.0", "75.0"]


def test_only_our_methods_are_held_against_others(contests):
    firsts = [line[0] for line in standing_tables(contests)[0].rows]
    assert firsts == ["Auto", "Extended", "Auto+embeddings", "Extended+embeddings"]


def test_who_takes_its_own_shortlists_is_compared_over_all_rows_only(own_list_result):
    covered, everything = overview_tables({"birds": own_list_result})
    assert "Extended" not in covered.header
    assert everything.header[-1] == "Extended"
    assert everything.rows[0][-1] == "64.0"
    gains = gain_tables({"birds": own_list_result})
    assert gains[1].header == ["benchmark", "Extended − REPAIR as published"]
    assert gains[1].rows == [["birds", "+4.0 (+1.0 to +7.0) *"]]
    by_caption = {one.caption.partition(": ")[2]: one.rows for one in standing_tables({"birds": own_list_result})}
    assert ["Extended", "1 / 0 / 0", "1 / 0 / 0"] in by_caption["accuracy over all rows of rare classes"]
    assert [line[0] for line in by_caption["Hit@1 of rare classes, covered rows"]] == ["Classwise", "Pairwise"]


def test_gains_are_marked_where_zero_is_left_out(results):
    (table,) = gain_tables(results)
    assert table.rows == [["massive", "+2.0 (+1.0 to +3.0) *"], ["few_tk", "−1.0 (−3.0 to +1.0)"]]
    with pytest.raises(AbsentError):
        gain_tables({"x": {"methods": {}}})


def test_standing_counts_above_below_and_neither(results):
    table = standing_tables(results)[0]
    assert table.header == ["method", "against Classwise"]
    assert table.rows == [["Classwise", "–"], ["Pairwise", "1 / 0 / 1"]]


def test_what_agrees_with_the_paper_is_put_into_words(make_result):
    better, worse = make_result(gap=(0.02, 0.01, 0.03)), make_result(gap=(-0.02, -0.03, -0.01))
    text = agreement(better)  # the paper has REPAIR one point below Classwise, and no figure for Rare
    said = "Significant, but not in the same direction as in the paper. Pairwise won 4 of 5 trials."
    assert f"- Hit@1: −1.00 in the paper, +2.0 (+1.0 to +3.0) here. {said}\n" in text
    assert "- Rare: +2.0 (+1.0 to +3.0) here. Significant, in the same direction as in the paper." in text
    assert (
        "−1.00 in the paper, −2.0 (−3.0 to −1.0) here. Significant, in the same direction as in the paper."
        in agreement(worse)
    )
    open_ = make_result(gap=(0.01, -0.01, 0.03))
    assert "Not the same direction as in the paper, and not significant." in agreement(open_)
    assert "Same direction as in the paper, but not significant." in agreement(open_)  # Rare: above, as in general
    open_["published"]["numbers"] = {}
    assert agreement(open_).startswith("The paper has no figures for this set")
    del open_["methods"]["Classwise"]
    assert agreement(open_) == ""


def test_the_paper_s_claim_is_counted(results):
    said = "in Hit@1 on 1 of 2 benchmarks (significantly on 1, and significantly below on 0)"
    assert said in agreement_counts(results)
    assert agreement_counts({}) == ""
