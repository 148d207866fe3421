"""The project's targets, held against results."""

from repair_bench.report.beyond_targets import mean_targets, standing_targets, worse_sentence


def test_means_are_held_against_what_was_wanted(beyond_results):
    rows = {line[0]: line[1:] for line in mean_targets(beyond_results).rows}
    assert rows["all rows, Extended"] == [
        "≥ 12 %",
        "+8.7 % (mean of 3): not reached",
        "+15.0 % (mean of 2): reached",
    ]
    assert rows["all rows, Extended+embeddings"] == ["≥ 25 %", "–", "–"]
    del beyond_results["better"]
    rows = {line[0]: line[1:] for line in mean_targets(beyond_results).rows}
    assert rows["all rows, Extended"][1] == "+3.0 % (mean of 2): not reached"


def test_numbers_of_benchmarks_are_held_against_what_was_wanted(beyond_results):
    above, rivals, anybody = standing_targets(beyond_results).rows
    assert above[1:] == ["at least a quarter", "1 of 3: reached", "1 of 3: reached"]
    assert rivals[1:] == ["never", "0 of 9: reached", "3 of 9: not reached"]
    assert anybody[1:] == ["never", "–", "3: not reached"]
    del beyond_results["better"]
    assert standing_targets(beyond_results).rows[0][2:] == ["0 of 2: not reached"] * 2


def test_where_it_is_below_is_said(beyond_results):
    below = "Base on small, LogitAdj on small, REPAIR as published on small"
    assert worse_sentence(beyond_results) == f"Without correction, Extended is significantly below {below}."
    del beyond_results["small"]
    assert worse_sentence(beyond_results) == ""
