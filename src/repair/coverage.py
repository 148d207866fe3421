"""A shortlist that misses fewer labels: common classes give way to rare ones before the top k is taken."""

from dataclasses import replace

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray, as_floats, dot
from repair.calibration import CalibrationSet
from repair.class_table import ClassTable
from repair.kernels import kernels_for
from repair.parallel import map_row_blocks, row_blocks
from repair.shortlist import SCORES_PER_BLOCK, Shortlist

__all__ = ["choose_shortlist_tau", "list_adjustment", "with_adjusted_list"]

#: How strongly counts may count, from not at all.
TAUS = tuple(round(0.1 * step, 1) for step in range(21))
#: Rows that are looked at; more would not change the choice.
MOST_ROWS = 20_000


def list_adjustment(table: ClassTable, tau: float) -> FloatArray | None:
    """Return −τ·log(n+1) for each class, or None for τ = 0."""
    return None if tau == 0.0 else -tau * table.log_counts


def choose_shortlist_tau(calibration: CalibrationSet) -> float:
    """Return the τ with the best recall on the calibration rows, the smallest among equals.

    The label is on the list more often if the list is taken by g − τ·log(n+1).  One number is
    chosen from many rows, so that choosing it on the rows of the fit costs next to nothing.

    Returns
    -------
    float
        0 where only a shortlist or no counts were given.
    """
    if calibration.all_scores is None or calibration.table.class_counts is None:
        return 0.0
    rows = slice(0, None, -(-len(calibration.labels) // MOST_ROWS))
    above = _classes_above(calibration.all_scores[rows], calibration.labels[rows], calibration.table)
    listed = above < calibration.shortlist.n_candidates
    recall = [dot(calibration.importance[rows], listed[:, place].astype(np.float64)) for place in range(len(TAUS))]
    return TAUS[int(np.argmax(recall))]


def _classes_above(scores: AnyArray, labels: IntArray, table: ClassTable) -> IntArray:
    """Return how many classes are above each row's label, for each τ (n, len(TAUS)).

    The list also keeps the base's best class; that can cost a label the last place, and is left out
    of account here.
    """
    above = np.empty((len(scores), len(TAUS)), dtype=np.int32)
    kernels = kernels_for(scores.size)

    def count(rows: slice) -> None:
        block = np.ascontiguousarray(as_floats(scores[rows]))
        adjustments = np.outer(TAUS, -table.log_counts).astype(block.dtype)
        kernels.labels_above(block, adjustments, labels[rows], above[rows])

    map_row_blocks(count, row_blocks(len(scores), max(1, SCORES_PER_BLOCK // scores.shape[1])))
    return above


def with_adjusted_list(calibration: CalibrationSet, tau: float) -> CalibrationSet:
    """Return the calibration set with the shortlists that `tau` gives; unchanged for τ = 0."""
    adjustment = None if calibration.all_scores is None else list_adjustment(calibration.table, tau)
    if adjustment is None or calibration.all_scores is None:
        return calibration
    chosen = Shortlist.from_scores(
        calibration.all_scores, calibration.shortlist.n_candidates, adjustment=adjustment
    ).with_embeddings(calibration.shortlist.embeddings)
    return replace(calibration, shortlist=chosen)
