"""The demonstrations: rare diseases ranked for simulated patients, and the paper's synthetic problem."""

from repair.demo.rare_disease import run_rare_disease
from repair.demo.synthetic import comparison_table, evaluate_methods, run_synthetic

__all__ = ["comparison_table", "evaluate_methods", "run_demo", "run_rare_disease", "run_synthetic"]

#: The former name, from when there was only one demonstration.
run_demo = run_synthetic
