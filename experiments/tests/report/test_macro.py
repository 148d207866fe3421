"""Macro accuracy at a rival's accuracy."""

import pytest

from repair_bench.harness.methods import EMBEDDINGS, SCORES
from repair_bench.report.macro import macro_at, macro_gap, macro_table
from repair_bench.report.numbers import number
from repair_bench.report.table import AbsentError


def curve(*points):
    steps, accuracy, macro = zip(*points, strict=True)
    return {"steps": list(steps), "accuracy": list(accuracy), "macro": list(macro)}


OURS = curve((0.0, 0.9, 0.5), (1.0, 0.8, 0.7), (2.0, 0.6, 0.6))


def method(points, role="rival", information=SCORES):
    return {"role": role, "information": information, "macro_frontier": points}


def result(rival_accuracy, rival_macro, ours="Extended", information=SCORES):
    rival = curve((0.0, 0.99, 0.0), (1.0, rival_accuracy, rival_macro))
    return {
        "methods": {
            "Base": method(OURS, "base"),
            ours: method(OURS, "ours", information),
            "Vector scaling": method(rival, "rival", information),
            "Vector scaling, balanced": method(rival, "macro", information),
        }
    }


@pytest.mark.parametrize(("accuracy", "macro"), [(0.9, 0.5), (0.85, 0.6), (0.8, 0.7), (0.7, 0.65), (0.6, 0.6)])
def test_between_two_steps_the_curve_is_a_line(accuracy, macro):
    assert macro_at(OURS, accuracy) == pytest.approx(macro)


def test_a_curve_that_comes_back_is_read_nearest_to_the_dial_macro():
    back = curve((-1.0, 0.7, 0.9), (0.0, 0.9, 0.5), (1.0, 0.8, 0.7), (2.0, 0.6, 0.6))
    assert macro_at(back, 0.7) == pytest.approx(0.65)
    flat = curve((0.0, 0.8, 0.5), (1.0, 0.8, 0.7), (2.0, 0.6, 0.6))
    assert macro_at(flat, 0.8) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("accuracy", "macro", "gap"), [(0.85, 0.5, 0.1), (0.8, 0.8, -0.1), (0.95, 0.1, "n/a ↑"), (0.5, 0.1, "n/a ↓")]
)
def test_the_rival_stands_at_the_dial_macro(accuracy, macro, gap):
    found = macro_gap(result(accuracy, macro), "Extended", "Vector scaling")
    assert found == (gap if isinstance(gap, str) else pytest.approx(gap))
    assert macro_gap(result(accuracy, macro), "Extended", "ProKeR") is None


def test_the_rival_takes_the_dial_that_is_better_for_it():
    record = result(0.85, 0.5)
    record["methods"]["Vector scaling"]["trade_off"] = {"dials": [0.0, 1.0], "accuracy": [0, 0.8], "macro": [0, 0.69]}
    assert macro_gap(record, "Extended", "Vector scaling") == pytest.approx(0.01)
    record["methods"]["Vector scaling"]["trade_off"] = {"dials": [0.0, 1.0], "accuracy": [0, 0.8], "macro": [0, 0.3]}
    assert macro_gap(record, "Extended", "Vector scaling") == pytest.approx(0.1)


def test_rivals_with_the_same_information_are_compared_and_counted():
    records = {"a": result(0.85, 0.5), "b": result(0.8, 0.8), "c": result(0.95, 0.1)}
    table = macro_table(records, SCORES)
    assert table.header == ["benchmark", "Vector scaling", "Vector scaling, balanced"]
    assert [line[0] for line in table.rows] == ["a", "b", "c", "mean", "above"]
    assert [line[1] for line in table.rows] == ["+10.0", "−10.0", "n/a ↑", number(0.0, "macro", "+"), "1 of 2"]


def test_the_table_is_about_our_method_with_the_same_information():
    plain = {"a": result(0.85, 0.5, "Extended+embeddings", EMBEDDINGS)}
    assert macro_table(plain, EMBEDDINGS).caption.startswith("Macro accuracy of Extended+embeddings minus")
    with pytest.raises(AbsentError, match="no benchmark has the macro accuracy of Extended and of a rival"):
        macro_table(plain, SCORES)
