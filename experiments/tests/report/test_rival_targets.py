"""The targets for the comparison with rivals that have the same information."""

import pytest

from repair_bench.report.rival_targets import rival_targets

BELOW = "Auto significantly below a rival with the same information or Base (Holm)"


@pytest.fixture
def targets(contests):
    return lambda: {line[0]: line[1:] for line in rival_targets(contests).rows}


def test_every_target_is_there_for_scores_and_for_embeddings(targets):
    for auto, extended, share in (("Auto", "Extended", 12), ("Auto+embeddings", "Extended+embeddings", 25)):
        assert targets()[f"{auto} significantly below a rival with the same information or Base (Holm)"][0] == "never"
        assert targets()[f"best rival's error closed by {auto}, mean"][0] == "≥ 3 %"
        assert targets()[f"best rival's error closed by {extended}, mean"][0] == "≥ 3 %"
        assert targets()[f"error of REPAIR as published closed by {auto}, mean"][0] == f"≥ {share} %"
        assert targets()[f"error of REPAIR as published closed by {extended}, mean"][0] == f"≥ {share} %"
        assert targets()[f"{auto} − {extended}, mean"][0] == "≥ −0.2 points"
        assert targets()[f"{auto} significantly below {extended} (Holm)"][0] == "never"
    assert len(targets()) == 14


def test_all_judging_and_large_entries_are_held_to_them_separately(targets):
    assert targets()["best rival's error closed by Auto, mean"][1:] == [
        "+1.5 % (mean of 2): not reached",
        "−5.0 % (mean of 1): not reached",
        "+8.0 % (mean of 1): reached",
    ]
    assert targets()["best rival's error closed by Extended, mean"][1] == "+9.0 % (mean of 2): reached"
    assert targets()["error of REPAIR as published closed by Auto, mean"][1] == "+1.7 % (mean of 2): not reached"
    assert targets()["Auto − Extended, mean"][1:] == [
        "+0.50 (mean of 2): reached",
        "−1.00 (mean of 1): not reached",
        "+2.00 (mean of 1): reached",
    ]


def test_below_means_below_after_holm_within_each_part(targets, contests):
    assert targets()[BELOW][1:] == [
        "0 of 8 (4 without correction): reached",
        "0 of 4 (4 without correction): reached",
        "0 of 4 (0 without correction): reached",
    ]
    for pair in contests["rarebench"]["methods"]["Auto"]["against"].values():
        pair["accuracy"]["difference"]["p_value"] = 0.01
    assert targets()[BELOW][1] == "4 of 8 (4 without correction): not reached"
    assert targets()["Auto significantly below Extended (Holm)"][1] == "1 of 2 (1 without correction): not reached"


def test_too_few_resamples_cannot_reach_a_target(targets, contests):
    contests["massive"]["setup"]["resamples"] = 100
    assert targets()[BELOW][1].endswith(": too few resamples to say")
    assert targets()[BELOW][2].endswith(": reached")


def test_rivals_that_see_test_rows_have_no_target(contests):
    for record in contests.values():
        record["methods"] = {
            title: one for title, one in record["methods"].items() if title not in ("LogitAdj", "Vector scaling")
        }
    assert [line[0] for line in rival_targets(contests).rows if line[0].startswith("Auto ")] == []
