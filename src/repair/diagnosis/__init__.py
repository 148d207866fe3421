"""``diagnose``: whether a correction is worth having, and checks of the calibration rows."""

from repair.diagnosis.checks import Check
from repair.diagnosis.diagnose import Diagnosis, diagnose
from repair.diagnosis.dispersion import Dispersion, threshold_dispersion
from repair.diagnosis.drift import Drift, DriftTest, measure_drift
from repair.diagnosis.expected import ExpectedContradictions, expected_contradictions
from repair.diagnosis.pairs import PairCounts, WorstPair, contradictory_pairs
from repair.diagnosis.quintiles import QuintileGain, QuintileGains, quintile_gains
from repair.diagnosis.separability import Separability
from repair.diagnosis.verdict import Verdict
from repair.stats.not_applicable import NotApplicable

__all__ = [
    "Check",
    "Diagnosis",
    "Dispersion",
    "Drift",
    "DriftTest",
    "ExpectedContradictions",
    "NotApplicable",
    "PairCounts",
    "QuintileGain",
    "QuintileGains",
    "Separability",
    "Verdict",
    "WorstPair",
    "contradictory_pairs",
    "diagnose",
    "expected_contradictions",
    "measure_drift",
    "quintile_gains",
    "threshold_dispersion",
]
