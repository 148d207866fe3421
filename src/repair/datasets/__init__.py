"""Synthetic problems for trying out the library."""

from repair.datasets.example import EXAMPLE_FILES, example_files, make_example
from repair.datasets.synthetic import (
    RELEASED_SCRIPT,
    SyntheticPart,
    SyntheticProblem,
    SyntheticSettings,
    make_synthetic,
)

__all__ = [
    "EXAMPLE_FILES",
    "RELEASED_SCRIPT",
    "SyntheticPart",
    "SyntheticProblem",
    "SyntheticSettings",
    "example_files",
    "make_example",
    "make_synthetic",
]
