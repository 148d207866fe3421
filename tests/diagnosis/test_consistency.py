"""The headline, the numbers and the sections of one output never contradict each other."""

import re

import numpy as np
import pytest

from repair import Reranker, ScoreSet, diagnose
from repair.cli.fit_summary import FitReport, judge_fit
from repair.data.calibration_set import CalibrationSet
from repair.datasets import SyntheticSettings, make_synthetic
from repair.diagnosis.verdict import ANSWERS, FIX_ERRORS, KEEP_BASE, TOO_FEW

GAIN = re.compile(r"([+-]\d+\.\d) points,? \(?(?:95 % interval )?([+-]\d+\.\d) to ([+-]\d+\.\d)\)?")


def drawn(seed=0, n=400, n_classes=12, bias=0.0, noise=0.0, counts=None):
    """Labels from a known posterior.  Base scores are its logarithm plus a class bias and noise."""
    rng = np.random.default_rng(seed)
    counts = np.round(300 / np.arange(1, n_classes + 1)) + 1 if counts is None else counts
    log_posterior = rng.normal(size=(n, n_classes)) * 1.5 + np.log(counts / counts.sum())
    labels = (log_posterior + rng.gumbel(size=log_posterior.shape)).argmax(axis=1)
    scores = log_posterior + bias * np.sin(np.arange(n_classes)) + noise * rng.normal(size=log_posterior.shape)
    return ScoreSet(scores, labels, class_counts=counts)


def pairs():
    made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=700, n_test=1, n_pairs=4))
    return ScoreSet(made.calibration.scores, made.calibration.labels, class_counts=made.class_counts)


def drift():
    """Calibration rows whose class mix is not that of the training rows."""
    rows = drawn(n=400)
    reversed_counts = rows.class_counts[::-1].copy()
    return ScoreSet(rows.scores, rows.labels, class_counts=reversed_counts)


def duplicates():
    """Labels are noise, and each row occurs four times, so copies of held-out rows are in every fit."""
    rng = np.random.default_rng(1)
    scores, labels = rng.normal(size=(100, 12)), rng.integers(0, 12, size=100)
    return ScoreSet(np.repeat(scores, 4, axis=0), np.repeat(labels, 4))


def grouped():
    rows = drawn(n=300, bias=1.0)
    return ScoreSet(rows.scores, rows.labels, class_counts=rows.class_counts, groups=np.arange(300) // 3)


PROBLEMS = {
    "nothing to gain": lambda: drawn(n=500),
    "offsets only": lambda: drawn(n=500, bias=1.5),
    "a little to gain": lambda: drawn(seed=3, n=150, bias=0.5),
    "pairs": pairs,
    "drift": drift,
    "duplicates": duplicates,
    "grouped": grouped,
    "few rows": lambda: drawn(n=70, bias=2.0),
    "too few rows": lambda: drawn(n=30, bias=2.0),
    "balanced": lambda: drawn(n=300, n_classes=4, bias=1.0, counts=np.array([100.0, 105.0, 98.0, 102.0])),
}


@pytest.fixture(scope="module", params=PROBLEMS)
def case(request):
    rows = PROBLEMS[request.param]()
    return request.param, rows, diagnose(rows, n_candidates=6, draws=5)


def test_the_recommendation_does_not_deny_the_interval(case):
    _, _, found = case
    verdict = found.verdict
    assert verdict.answer in ANSWERS
    if verdict.overall is None:
        assert verdict.answer == TOO_FEW
        return
    low, high = verdict.gain.interval()
    assert not (verdict.recommends and high < 0)
    assert not (verdict.answer == KEEP_BASE and low > 0)
    assert ("may be chance" in verdict.headline) <= (low <= 0 <= high)
    assert verdict.recommends <= verdict.applied
    assert (verdict.answer == FIX_ERRORS) == verdict.headline.startswith("No verdict yet")


def test_strata_and_overall_gain_add_up(case):
    _, rows, found = case
    verdict = found.verdict
    if verdict.overall is None or not verdict.strata or rows.groups is not None:
        return
    assert sum(stratum.rows for stratum in verdict.strata) == verdict.overall.rows
    for name in ("before", "after"):
        together = sum(stratum.rows * getattr(stratum, name) for stratum in verdict.strata) / verdict.overall.rows
        assert together == pytest.approx(getattr(verdict.overall, name))


def test_no_quantity_has_two_numbers(case):
    """Every gain in the headline is in the table, and the section on steps repeats the verdict's comparison."""
    _, _, found = case
    verdict = found.verdict
    for gain, low, high in GAIN.findall(str(found)):
        assert float(low) <= float(gain) <= float(high)
    for gain, low, high in GAIN.findall(verdict.headline):
        assert f"{gain}" in verdict.table
        assert f"{low} to {high}" in verdict.table
    if verdict.over_offsets is not None:
        assert found.separability.extended.accuracy == verdict.over_offsets
    if verdict.overall is not None:
        base = found.held_out.hits["base"]
        name = "few_terms" if "(few terms)" in verdict.correction else "extended"
        weights = found.measured_on.importance
        assert verdict.overall.before == pytest.approx(weights @ base / weights.sum())
        assert verdict.overall.after == pytest.approx(weights @ found.held_out.hits[name] / weights.sum())


def test_no_one_sided_p_value_is_beside_an_interval(case):
    _, _, found = case
    assert "one-sided" not in f"{found.verdict}{found.separability}"
    assert "p = 1)" not in f"{found.verdict}{found.separability}"


def test_a_fit_says_the_same_as_the_diagnosis(case):
    _, rows, found = case
    checked = CalibrationSet.build(rows, 6)
    model = Reranker(n_candidates=6).fit_checked(checked)
    judged = judge_fit(model, checked, 0)
    assert judged.verdict.to_dict() == found.verdict.to_dict()
    assert str(FitReport(model, checked, judged.verdict)).startswith(str(found.verdict))
    assert (model.mode_ != "base") == found.verdict.applied


def test_what_each_problem_should_be_told(case):
    name, _, found = case
    answer = found.verdict.answer
    if name in ("offsets only", "grouped", "pairs"):
        assert found.verdict.recommends
    if name == "nothing to gain":
        assert answer in (KEEP_BASE, TOO_FEW)
    if name == "too few rows":
        assert (answer, found.verdict.table) == (TOO_FEW, "")
    if name == "duplicates":
        assert found.verdict.gain.gain > 0.2  # it looks like a large gain, and is none
        assert answer == FIX_ERRORS
        assert "RP108" in found.verdict.headline
        assert "points" not in found.verdict.headline
    if name == "balanced":
        assert found.verdict.strata == ()
        assert "No class is called rare" in str(found.verdict)


def test_a_gain_far_above_the_share_of_copies_stands():
    rows = drawn(n=500, bias=3.0)
    copied = np.concatenate([np.arange(500), np.arange(10)])
    again = ScoreSet(rows.scores[copied], rows.labels[copied], class_counts=rows.class_counts)
    found = diagnose(again, n_candidates=6, draws=5)
    assert "RP108" in [check.code for check in found.failed]
    assert found.verdict.gain.interval()[0] > 0.04
    assert found.verdict.recommends
    assert "RP108 warning" in str(found)
