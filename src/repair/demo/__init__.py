"""The demonstrations: a rare-disease differential, and the paper's synthetic problem."""

from repair.demo.rare_disease import run_rare_disease
from repair.demo.synthetic import comparison_table, evaluate_methods, run_synthetic

__all__ = ["comparison_table", "evaluate_methods", "run_demo", "run_rare_disease", "run_synthetic"]

#: The name before there were two demonstrations.
run_demo = run_synthetic
