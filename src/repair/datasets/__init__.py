"""Synthetic problems for trying out the library."""

from repair.datasets.synthetic import SyntheticPart, SyntheticProblem, SyntheticSettings, make_synthetic

__all__ = ["SyntheticPart", "SyntheticProblem", "SyntheticSettings", "make_synthetic"]
