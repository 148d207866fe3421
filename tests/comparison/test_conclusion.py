"""The conclusion says what the differences say."""

from dataclasses import replace

import numpy as np
import pytest

from repair import Base, LogitAdjustment, ScoreSet, compare


@pytest.fixture(scope="module")
def comparison():
    """Base and two methods, whose numbers the tests replace."""
    rng = np.random.default_rng(0)
    counts = np.array([90, 40, 20, 10, 5, 5])
    labels = rng.choice(6, size=200, p=counts / counts.sum())
    rows = ScoreSet(rng.normal(size=(200, 6)) + 2 * np.eye(6)[labels], labels, class_counts=counts)
    methods = {"base": Base(4), "logit_adjustment": LogitAdjustment(4), "other": LogitAdjustment(4, tau=1.0)}
    return compare(methods, rows, rows, trials=1, resamples=200)


def changed(comparison, **gains):
    """Set the accuracy of methods to that of Base plus (gain, spread)."""
    full = {name: dict(values) for name, values in comparison.full.items()}
    draws = comparison.draws.copy()
    column = comparison.metrics.index("accuracy")
    rng = np.random.default_rng(0)
    full["base"]["accuracy"], draws[:, 0, column] = 0.6, 0.6
    for place, name in enumerate(comparison.methods[1:], 1):
        gain, spread = gains[name]
        full[name]["accuracy"] = 0.6 + gain
        draws[:, place, column] = 0.6 + gain + spread * rng.standard_normal(len(draws))
    return replace(comparison, full=full, draws=draws)


def test_a_clear_winner_has_both_intervals(comparison):
    text = changed(comparison, logit_adjustment=(0.05, 0.01), other=(0.01, 0.001)).conclusion
    assert text.startswith("Conclusion: LogitAdj is more accurate than all others.")
    assert "Difference to Base: +5.0 points (95 % interval +3." in text
    assert "Difference to the runner-up other: +4.0 points" in text
    assert "may be chance" not in text
    assert "The best of 3 methods was picked on these rows" in text


def test_a_close_runner_up_is_named(comparison):
    text = changed(comparison, logit_adjustment=(0.05, 0.005), other=(0.049, 0.005)).conclusion
    assert text.startswith("Conclusion: LogitAdj is more accurate than Base, but not clearly than other.")
    assert "may be chance" in text


def test_no_clear_difference(comparison):
    text = changed(comparison, logit_adjustment=(0.005, 0.02), other=(-0.01, 0.01)).conclusion
    assert text.startswith("Conclusion: no clear difference between LogitAdj and Base.")
    assert text.count("Difference to") == 1  # Base is the runner-up


def test_base_may_be_the_best(comparison):
    text = changed(comparison, logit_adjustment=(-0.01, 0.02), other=(-0.02, 0.005)).conclusion
    assert text.startswith("Conclusion: no method is more accurate than Base.")


def test_who_loses_is_said(comparison):
    made = changed(comparison, logit_adjustment=(0.05, 0.005), other=(0.0, 0.005))
    column, full = made.metrics.index("accuracy_frequent"), dict(made.full)
    full["logit_adjustment"] = {
        **full["logit_adjustment"],
        "accuracy_frequent": full["base"]["accuracy_frequent"] - 0.03,
    }
    draws = made.draws.copy()
    draws[:, 1, column] = draws[:, 0, column] - 0.03
    assert (
        "Rows of frequent classes lose 3.0 points (-3.0 to -3.0)." in replace(made, full=full, draws=draws).conclusion
    )


def test_tables_end_with_it_and_lead_with_accuracy(comparison):
    text = str(comparison)
    assert " ".join(text.split()).endswith(comparison.conclusion)
    tables = [part for part in text.split("\n\n") if "----" in part]
    assert tables[0].splitlines()[2].startswith("Accuracy, all rows")
    assert tables[2].splitlines()[2].split()[:2] == ["LogitAdj", "Accuracy,"]
    assert comparison.conclusion in comparison.to_markdown().replace("\\", "")
    assert "marks need 5 trials" in " ".join(text.split())
    assert "✓" not in text
    assert comparison.setup.strata_rule in " ".join(text.split())


def test_few_medium_and_many(comparison):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, size=100)
    rows = ScoreSet(rng.normal(size=(100, 6)), labels, class_counts=[300, 200, 50, 30, 10, 5])
    found = compare({"base": Base(4), "ours": LogitAdjustment(4)}, rows, rows, trials=1, resamples=50, strata="counts")
    assert {"few", "medium", "many", "accuracy_few"} <= set(found.metrics)
    assert found.draws.shape == (50, 2, len(found.metrics))
    hits = found.rows["ours"]["hit@1"]
    assert found.full["ours"]["accuracy_few"] == pytest.approx(hits[labels >= 4].mean())
    assert "Few, all rows" in str(found)
    assert found.to_csv().count("accuracy_medium") == 2
