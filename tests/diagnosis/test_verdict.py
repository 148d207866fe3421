"""The words of a verdict follow from its numbers."""

from dataclasses import replace

import pytest

from repair.diagnosis.verdict import Verdict
from repair.stats.paired_gains import PairedGain

SURE = Verdict(
    answer="extended is worth it",
    mode="extended",
    gain=PairedGain(0.03, 0.005, 999),
    best_gain=PairedGain(0.03, 0.005, 999),
    rare=PairedGain(0.05, 0.01, 999),
    frequent=PairedGain(-0.0001, 0.005, 999),
    is_open=False,
    more_units=None,
    unit="rows",
    reason="",
)


@pytest.mark.parametrize("answer", ["extended is worth it", "offsets suffice"])
def test_a_gain_that_may_be_zero_is_called_uncertain(answer):
    sure = str(replace(SURE, answer=answer))
    assert "probably" not in sure
    assert "uncertain" not in sure
    unsure = str(replace(SURE, answer=answer, gain=PairedGain(0.009, 0.006, 999), is_open=True, more_units=1000))
    assert "probably" in unsure
    assert "its gain in accuracy is uncertain" in unsure or "their gain in accuracy is uncertain" in unsure
    assert "The size of the gain is uncertain. Roughly 1,000 more labelled rows would be enough to decide." in unsure


def test_base_that_is_kept_keeps_its_sentence_and_tells_what_rare_classes_would_gain():
    kept = str(replace(SURE, answer="keep the base order", mode="base", keeps_base=True, is_open=True, more_units=5))
    assert kept.startswith("Keep the base order:")
    assert "Rare classes with this correction: +5.0 points" in kept
    assert "Rare classes would gain" in kept
    nothing = replace(
        SURE, answer="keep the base order", mode="base", keeps_base=True, rare=PairedGain(0.01, 0.01, 999)
    )
    assert "would gain" not in str(nothing)


def test_a_rounded_zero_has_no_minus_sign():
    assert "Frequent classes: +0.0 points" in str(SURE)
