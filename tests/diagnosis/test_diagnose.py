"""The whole diagnosis: the right verdict on problems whose answer is known, and honest numbers."""

import json

import numpy as np
import pytest

import repair
from repair import InputError, ScoreSet, Shortlist, diagnose
from repair.data.calibration_set import CalibrationSet
from repair.datasets import SyntheticSettings, make_synthetic
from repair.diagnosis import NotApplicable
from repair.diagnosis.judging import judge_auto, units_needed
from repair.model.choice import Choice
from repair.model.tuning_records import AutoChoice, CandidateResult
from repair.stats.paired_gains import PairedGain


def draw(seed=0, n=600, n_classes=12, bias=0.0):
    """Labels from a known posterior; base scores are its logarithm plus a class bias."""
    rng = np.random.default_rng(seed)
    counts = np.round(300 / np.arange(1, n_classes + 1)) + 1
    log_posterior = rng.normal(size=(n, n_classes)) * 1.5 + np.log(counts / counts.sum())
    labels = (log_posterior + rng.gumbel(size=log_posterior.shape)).argmax(axis=1)
    return log_posterior + bias * np.sin(np.arange(n_classes)), labels, counts


def test_scores_that_are_the_truth_are_left_alone():
    result = diagnose(ScoreSet(*draw(n=1500)), n_candidates=6, draws=20)
    assert result.verdict.answer == "keep the base order"
    assert not result.verdict.applied
    assert not result.verdict.recommends
    assert result.verdict.failed_test.p_value > 0.05
    assert str(result).startswith("Keep the base order: ")
    assert f"The test of auto was failed: p = {result.verdict.failed_test.p_value:.2g}," in str(result)
    assert result.expected.p_value > 0.05


def test_a_class_bias_needs_offsets_only():
    result = diagnose(ScoreSet(*draw(bias=1.5)), n_candidates=6, draws=20)
    verdict = result.verdict
    assert verdict.answer == "offsets suffice"
    assert verdict.gain.interval()[0] > 0
    assert verdict.is_certain
    assert verdict.more_units is None
    assert result.separability.offsets.accuracy.p_value() < 0.05
    assert result.separability.pairwise.accuracy.p_value() > 0.05
    assert result.separability.extended.accuracy.interval()[0] < 0
    assert "Frequent classes " in str(result)


def test_contradictory_pairs_need_more_than_offsets():
    problem = make_synthetic(SyntheticSettings(n_calibration=3000, n_test=50))
    part = problem.calibration
    test = ScoreSet(np.concatenate([problem.test.scores, part.scores[:2]]), np.zeros(52, dtype=int))
    result = diagnose(
        part.scores, part.labels, class_counts=problem.class_counts, similarity=problem.similarity, test=test, draws=50
    )
    # Pairwise gains over offsets, a temperature and a count slope, and Extended, which sees more, gains more.
    assert result.verdict.gain.interval()[0] > 0
    assert result.verdict.over_offsets.interval()[0] > 0
    assert result.separability.pairwise.log_likelihood.p_value() < 0.05
    assert result.separability.extended.accuracy == result.verdict.over_offsets
    assert result.expected.excess > 0
    assert result.expected.p_value <= 0.05
    assert "2 test rows" in next(check.explanation for check in result.failed if check.code == "RP110")
    # Rows in both sets come first, and the headline does not promise a gain.
    assert result.verdict.answer == "fix the errors first"
    assert str(result).startswith("No verdict yet: fix RP110 (test rows in calibration) first.")
    without = judge_auto(result.measured_on, result.auto)
    assert without.answer == "more than offsets is worth it"
    assert without.gain == result.verdict.gain


def test_forty_rows_are_too_few():
    result = diagnose(ScoreSet(*draw(n=40, bias=3.0)), n_candidates=6, draws=20)
    assert result.verdict.answer == "too few rows to say"
    assert result.verdict.overall is None
    assert result.verdict.table == ""
    assert "covered rows; held-out gains need 50" in str(result.separability)
    assert result.quintiles == result.separability
    assert "RP111" in [check.code for check in result.failed]
    assert str(result).startswith("Too few rows to say whether a correction helps: nothing was fitted")
    assert "RP111 error" in str(result).splitlines()[2]


def test_groups_are_the_unit_of_evidence():
    """Eight copies of sixty rows make 480 rows, and no more groups than before."""
    scores, labels, counts = draw(n=60, bias=1.0)
    rows = np.repeat(np.arange(60), 8)
    result = diagnose(scores[rows], labels[rows], class_counts=counts, groups=rows, n_candidates=6, draws=20)
    assert result.n_groups == 60
    assert (result.verdict.basis.unit, result.verdict.basis.units) == ("groups", 60)
    assert result.separability.pairwise.accuracy.freedom == 59
    assert "RP108" not in [check.code for check in result.failed]
    without = diagnose(scores[rows], labels[rows], class_counts=counts, n_candidates=6, draws=20)
    assert without.separability.pairwise.accuracy.freedom == 479
    assert "RP108" in [check.code for check in without.failed]
    few = diagnose(scores[rows], labels[rows], class_counts=counts, groups=rows % 4, n_candidates=6, draws=20)
    assert few.separability == NotApplicable("there are 4 groups; held-out gains need 5")
    assert few.verdict.answer == "too few rows to say"


def test_it_survives_json():
    for n in (40, 300):
        result = diagnose(ScoreSet(*draw(n=n)), n_candidates=6, draws=20)
        written = result.to_dict()
        assert json.loads(json.dumps(written, allow_nan=False)) == written
        assert written["verdict"]["answer"] == result.verdict.answer
        assert [check["code"] for check in written["checks"]] == [check.code for check in result.checks]
        assert written["contradictory_pairs"]["excess"] == result.expected.excess
    assert written["separability"]["pairwise"]["accuracy"]["gain"] == result.separability.pairwise.accuracy.gain
    assert list(written["quintiles"]) == ["not_applicable"]


def test_pairs_are_named_and_shortlists_serve():
    scores, labels, counts = draw(n=300)
    names = [f"class {letter}" for letter in "abcdefghijkl"]
    result = diagnose(scores, labels, class_counts=counts, class_names=names, n_candidates=6, draws=20)
    assert {result.worst_pairs[0].first, result.worst_pairs[0].second} <= set(names)
    assert "class a" in str(result)
    only = diagnose(Shortlist.from_scores(scores, 6), labels, class_counts=counts, draws=20)
    assert only.verdict.gain == result.verdict.gain
    for step in ("offsets", "separable", "pairwise"):  # Extended also reads all scores, if they are known
        assert getattr(only.separability, step) == getattr(result.separability, step)
    again = diagnose(scores, np.array(names)[labels], class_counts=counts, class_names=names, n_candidates=6, draws=20)
    assert str(again) == str(result)


def test_counts_and_similarity_may_be_missing():
    scores, labels, _ = draw(n=300)
    result = diagnose(scores, labels, n_candidates=6, draws=20)
    assert {check.code: check.outcome for check in result.checks}["RP105"] == "not applicable"


def test_test_labels_are_never_read():
    class Unreadable:
        def __array__(self, *_):
            raise AssertionError("test labels were read")

        def __len__(self):
            raise AssertionError("test labels were read")

    scores, labels, counts = draw(n=200)
    result = diagnose(
        scores, labels, class_counts=counts, test=ScoreSet(scores[:5], Unreadable()), n_candidates=6, draws=20
    )
    assert "RP110" in [check.code for check in result.failed]


def test_bad_arguments_are_named():
    scores, labels, counts = draw(n=100)
    with pytest.raises(InputError, match="test is tuple; pass a ScoreSet"):
        diagnose(scores, labels, class_counts=counts, test=(scores, labels))
    with pytest.raises(InputError, match="test has 11 classes, but scores has 12"):
        diagnose(scores, labels, class_counts=counts, test=ScoreSet(scores[:, :11], labels), n_candidates=6)
    with pytest.raises(InputError, match="draws is 0"):
        diagnose(scores, labels, class_counts=counts, draws=0)
    with pytest.raises(InputError, match="labels has shape"):
        diagnose(scores, labels[:5], class_counts=counts)


def test_it_is_public():
    assert repair.diagnose is diagnose
    assert repair.diagnosis.diagnose is diagnose


def verdict_of(gain, error, likelihood=0.01):
    """Give the verdict of a choice that turned this gain down."""
    scores, labels, counts = draw(n=400)
    calibration = CalibrationSet.build(ScoreSet(scores, labels, class_counts=counts), 6)
    rng = np.random.default_rng(0)
    before = (calibration.positions == 0).astype(float)
    base = CandidateResult(Choice("base", dial=0.0), PairedGain(0.0, 0.0, 1), 1.0, before, keeps_base=True)
    # Hits with about this gain and error: some rows are fixed and some are broken.
    changed = round(400 * 400 * error**2)
    fixed, broken = (changed + round(400 * gain)) // 2, (changed - round(400 * gain)) // 2
    after = before.copy()
    after[rng.permutation(np.flatnonzero(before == 0))[:fixed]] = 1
    after[rng.permutation(np.flatnonzero(before == 1))[:broken]] = 0
    per_row = PairedGain(likelihood, 0.008, 399)
    tried = CandidateResult(
        Choice("extended"), PairedGain(gain, error, 399), 0.2, after, log_likelihood=per_row, name="extended"
    )
    return judge_auto(calibration, AutoChoice(base, (base, tried), "kept", PairedGain(0.0, 0.0, 399), 5))


def test_an_open_question_says_how_many_rows_would_settle_it():
    promising = verdict_of(0.02, 0.015)
    assert promising.answer == "too few rows to say"
    assert promising.more_units == units_needed(promising.gain, 400) - 400 > 500
    assert "would settle it (approximate, 80 % power)" in str(promising)
    assert "p = 0.2, which allows" in str(promising)
    small = verdict_of(0.0025, 0.008)  # a worthwhile gain cannot be ruled out, but is not seen
    assert small.answer == "keep the base order"
    assert small.more_units is not None
    settled = verdict_of(0.0, 0.004)
    assert (settled.answer, settled.more_units) == ("keep the base order", None)
    assert "more than 0.7 points are unlikely" in settled.headline


def test_a_gain_above_zero_is_never_called_nothing():
    """Accuracy shows a gain, but the likelihood, which decides, does not."""
    odd = verdict_of(0.06, 0.015)
    assert odd.gain.interval()[0] > 0
    assert odd.answer == "too few rows to say"
    assert odd.headline.startswith("Not settled, so the base order is kept: the Extended correction gained +6.0 points")
    assert odd.more_units > 0
    assert verdict_of(0.06, 0.015, -0.01).more_units is None


def test_the_number_of_rows_gives_the_power_it_states():
    """Draws with the error that many rows would have are significant in 80 % of cases."""
    needed = units_needed(PairedGain(0.02, 0.015, 399), 400)
    error = 0.015 * np.sqrt(400 / needed)
    drawn = np.random.default_rng(0).normal(0.02, error, size=20000)
    assert abs((np.abs(drawn / error) > 1.96).mean() - 0.8) < 0.01
