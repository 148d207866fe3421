"""The kernels compiled by numba: one short loop nest each, which releases the interpreter lock.

Kernels do not validate their input and do not allocate per row.  The modules of the same names in
`repair.kernels.plain` document what each kernel computes.
"""

from repair.kernels.compiled.fit import curvature, hessian_product, loss_and_gradient
from repair.kernels.compiled.neighbours import largest_in_rows, nearest_of_candidates, vote_sums
from repair.kernels.compiled.pairs import (
    add_class_difference,
    add_column,
    add_mean_difference,
    add_per_class,
    average_over_rivals,
    classes_present,
    largest_leads,
    mean_difference,
    per_class,
)
from repair.kernels.compiled.ranking import label_positions, order_rows, rank_rows, top_k
from repair.kernels.compiled.vectors import labels_above, list_loss, row_dots

__all__ = [
    "add_class_difference",
    "add_column",
    "add_mean_difference",
    "add_per_class",
    "average_over_rivals",
    "classes_present",
    "curvature",
    "hessian_product",
    "label_positions",
    "labels_above",
    "largest_in_rows",
    "largest_leads",
    "list_loss",
    "loss_and_gradient",
    "mean_difference",
    "nearest_of_candidates",
    "order_rows",
    "per_class",
    "rank_rows",
    "row_dots",
    "top_k",
    "vote_sums",
]
