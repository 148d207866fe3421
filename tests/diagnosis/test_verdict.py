"""The words of a verdict follow from its numbers."""

from dataclasses import replace

import pytest

from repair.diagnosis.checks import failed_check
from repair.diagnosis.measured_rows import Basis, StratumGain
from repair.diagnosis.verdict import ANSWERS, RECOMMENDED, FailedTest, Verdict
from repair.stats.paired_gains import PairedGain


def stratum(name, gain, error=0.005, rows=1000):
    return StratumGain(name, PairedGain(gain, error, rows - 1), 0.6, rows)


SURE = Verdict(
    answer="more than offsets is worth it",
    correction="Extended",
    mode="extended",
    applied=True,
    overall=stratum("all", 0.03),
    strata=(stratum("rare", 0.05), stratum("frequent", -0.0001)),
    strata_rule="Rare: some.",
    over_offsets=PairedGain(0.02, 0.005, 999),
    basis=Basis(1000, 950, None, 5),
)
KEPT = replace(SURE, answer="keep the base order", applied=False, overall=stratum("all", 0.002, 0.004))


def test_the_headline_can_be_forwarded():
    assert SURE.headline == (
        "Use the Extended correction: accuracy rises from 60.0 % to 63.0 % on held-out calibration rows "
        "(+3.0 points, 95 % interval +2.0 to +4.0)."
    )


@pytest.mark.parametrize("answer", RECOMMENDED)
def test_a_gain_that_may_be_zero_is_called_uncertain(answer):
    assert "may be chance" not in str(replace(SURE, answer=answer))
    unsure = replace(SURE, answer=answer, overall=stratum("all", 0.009, 0.006), more_units=1234)
    assert unsure.headline.startswith("Probably use the Extended correction: ")
    assert "may be chance" in unsure.headline
    assert "Roughly 1,200 more labelled rows would settle it (approximate, 80 % power)." in unsure.sentences


def test_the_headline_never_hides_who_pays():
    paid = replace(SURE, strata=(stratum("rare", 0.2), stratum("frequent", -0.02)))
    assert paid.headline.endswith("Frequent classes lose 2.0 points.")
    assert any("head_loss" in sentence for sentence in paid.sentences)
    assert "lose" not in SURE.headline


def test_a_kept_base_order_tells_what_rare_classes_would_gain():
    assert KEPT.headline.startswith("Keep the base order: ")
    assert any(sentence.startswith("Rare classes would gain.") for sentence in KEPT.sentences)
    nothing = replace(KEPT, strata=(stratum("rare", 0.005),))
    assert not any("would gain" in sentence for sentence in nothing.sentences)


def test_a_missed_test_says_by_how_much():
    missed = replace(KEPT, failed_test=FailedTest(0.12, 0.05, PairedGain(0.004, 0.003, 999)))
    assert "p = 0.12, which allows for several tests and for rows that folds share, and 0.05 is needed" in str(missed)
    assert "changed by +0.004 per row (-0.002 to +0.010)" in str(missed)


def test_errors_lead_and_no_gain_is_promised():
    error = failed_check("RP108", "300 rows are copies.")
    voided = replace(SURE, answer="fix the errors first", errors=(error,))
    assert voided.headline == (
        "No verdict yet: fix RP108 (duplicate rows) first. The results below are not reliable until you do."
    )
    assert str(voided).splitlines()[2] == str(error)
    assert "points" not in voided.headline
    assert not voided.recommends


def test_a_loss_is_called_a_loss():
    worse = replace(SURE, answer="keep the base order", overall=stratum("all", -0.03))
    assert worse.headline == "Keep the base order: the Extended correction costs accuracy, -3.0 points (-4.0 to -2.0)."


def test_no_change_is_called_no_change():
    same = replace(KEPT, overall=stratum("all", 0.0, 0.0))
    assert same.headline == "Keep the base order: the Extended correction makes no held-out row right or wrong."


def test_the_simpler_correction_is_named_where_it_does_as_well():
    close = replace(SURE, answer="a correction is worth it", over_offsets=PairedGain(0.001, 0.005, 999))
    assert any("this simpler correction may do as well" in sentence for sentence in close.sentences)
    assert not any("may do as well" in sentence for sentence in SURE.sentences)


def test_a_rounded_zero_has_no_minus_sign():
    assert "-0.0 " not in SURE.table
    assert "+0.0" in SURE.table


def test_test_rows_are_called_so():
    tested = replace(SURE, basis=Basis(1000, 950, 40, None))
    assert tested.headline.startswith(
        "The Extended correction helps: accuracy rises from 60.0 % to 63.0 % on test rows"
    )
    assert "Based on 1,000 test rows in 40 groups, 950 of them covered." in tested.sentences


def test_it_is_plain_data():
    numbers = SURE.to_dict()
    assert numbers["answer"] in ANSWERS
    assert numbers["basis"] == {"rows": 1000, "covered": 950, "groups": None, "folds": 5, "unit": "rows"}
    assert numbers["headline"] == SURE.headline
