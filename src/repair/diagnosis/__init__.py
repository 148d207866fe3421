"""What the rows say about the method's assumptions: contradictory pairs and threshold dispersion."""

from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.dispersion import Dispersion, threshold_dispersion
from repair.diagnosis.expected import ExpectedContradictions, expected_contradictions
from repair.diagnosis.pairs import PairCounts, WorstPair, contradictory_pairs
from repair.diagnosis.quintiles import QuintileGain, QuintileGains, quintile_gains

__all__ = [
    "Dispersion",
    "ExpectedContradictions",
    "NotApplicable",
    "PairCounts",
    "QuintileGain",
    "QuintileGains",
    "WorstPair",
    "contradictory_pairs",
    "expected_contradictions",
    "quintile_gains",
    "threshold_dispersion",
]
