"""The kernels in plain numpy, without a compiler and without loops over rows.

Loops here run over the few candidates of a row or over terms, for all rows at once.  Sums that
affect a ranking are accumulated candidate by candidate, in the same order as in
`repair.kernels.compiled`, so both give bit-identical results.
"""

from repair.kernels.plain.fit import curvature, hessian_product, loss_and_gradient
from repair.kernels.plain.neighbours import largest_in_rows, nearest_of_candidates, vote_sums
from repair.kernels.plain.pairs import (
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
from repair.kernels.plain.ranking import label_positions, order_rows, rank_rows, top_k
from repair.kernels.plain.vectors import labels_above, list_loss, row_dots

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
