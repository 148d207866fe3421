"""Tables from the JSON of a run."""

import pytest

from repair.bench.result_tables import (
    ablation_table,
    difference_table,
    k_table,
    main_table,
    paper_table,
    quintile_table,
    sign_table,
    unconditional_table,
)
from repair.comparison_metrics import METRICS


def values(mean, std=0.01):
    return {metric: {"mean": mean, "std": std} for metric in METRICS}


@pytest.fixture
def result():
    signs = {"wins": 4, "losses": 1, "ties": 0, "mark": True, "p_value": 0.1875, "p_holm": None}
    gap = {"estimate": 0.015, "low": -0.002, "high": 0.03, "p_positive": 0.9, "p_value": 0.2}
    pair = {"Classwise": {metric: {"signs": signs, "difference": gap} for metric in METRICS}}
    bins = [{"low": 0.1, "high": 0.2, "classes": [1, 2], "n_rows": 9, "delta": {"gain": 0.05, "error": 0.02}}]
    return {
        "methods": {
            "Classwise": {"metrics": values(0.5), "against": {}},
            "REPAIR": {"metrics": values(0.615, None), "against": pair},
        },
        "by_k": {"5": {"REPAIR": {"metrics": values(0.7)}}, "10": {"REPAIR": {"metrics": values(None)}}},
        "quintiles": {"bins": bins},
        "published": {"base": "X", "numbers": {"Base": {"hit@1": 47.0}, "REPAIR": {"hit@1": 49.0, "hfr": 0.138}}},
    }


def cells(table):
    return [line.split() for line in table.splitlines()[2:]]


def test_percent_and_plain_numbers_with_their_spread(result):
    first, second = cells(main_table(result))
    assert first[:4] == ["Classwise", "50.0", "±", "1.0"]
    assert first[7:10] == ["0.500", "±", "0.010"]  # MRR is no percentage
    assert second[:3] == ["REPAIR", "61.5", "61.5"]  # one trial has no spread
    assert cells(unconditional_table(result))[1] == ["REPAIR", *["61.5"] * 4]


def test_signs_and_differences_name_their_pair(result):
    assert sign_table(result).startswith("REPAIR – Classwise")
    assert cells(sign_table(result))[0] == ["Hit@1", "4/1/0", "✓", "0.188", "n/a"]
    assert cells(difference_table(result))[0] == ["Hit@1", "+1.5", "-0.2", "to", "+3.0", "0.900", "0.200"]
    assert sign_table(result, "REPAIR", "Base") == "REPAIR and Base were not both run"
    assert difference_table(result, "auto") == "auto and Classwise were not both run"


def test_lengths_components_quintiles_and_the_papers_figures(result):
    assert cells(k_table(result))[0] == ["REPAIR", "70.0", "n/a", "70.0", "n/a"]
    assert k_table({**result, "by_k": {}}) == "no other shortlist length was run"
    assert [line[:3] for line in cells(ablation_table(result))] == [
        ["Classwise", "offsets", "only"],
        ["REPAIR", "both", "61.5"],
    ]
    assert cells(quintile_table(result))[0] == ["Q1", "0.100", "to", "0.200", "2", "9", "+5.0", "±", "2.0"]
    assert quintile_table({"quintiles": {"not_applicable": "why"}}) == "quintiles: not applicable: why"
    assert cells(paper_table(result)) == [["Base", "47", "–"], ["REPAIR", "49", "0.138"]]
    assert "no figures" in paper_table({"published": {"base": None, "numbers": {}}})
