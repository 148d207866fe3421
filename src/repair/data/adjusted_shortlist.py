"""Shortlists that miss fewer labels: scores of frequent classes are lowered before the top k, and k may be larger."""

from dataclasses import replace

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray, as_floats, dot
from repair._utils.parallel import map_row_blocks, row_blocks
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.data.shortlist import SCORES_PER_BLOCK, Shortlist
from repair.kernels import kernels_for

__all__ = ["choose_shortlist_tau", "list_adjustment", "with_adjusted_list"]

#: Values of τ that are tried.  0 leaves the shortlist unchanged.
TAUS = tuple(round(0.1 * step, 1) for step in range(21))
#: At most this many rows are used to choose τ.  More would not change the choice.
MOST_ROWS = 20_000


def list_adjustment(table: ClassTable, tau: float) -> FloatArray | None:
    """Return −τ·log(n+1) of each class, or None for τ = 0."""
    return None if tau == 0.0 else -tau * table.log_counts


def choose_shortlist_tau(calibration: CalibrationSet, width: int) -> float:
    """Return the τ with the best coverage of the calibration rows, and the smallest such τ if several are best.

    The label is on the shortlist more often if the candidates are chosen by g − τ·log(n+1).  Only one
    number is chosen from many rows, so choosing it on the rows of the fit causes almost no bias.

    Parameters
    ----------
    calibration : CalibrationSet
    width : int
        Number of candidates per row.

    Returns
    -------
    float
        0 if only a shortlist was given, or no class counts.
    """
    if calibration.all_scores is None or calibration.table.class_counts is None:
        return 0.0
    rows = slice(0, None, -(-len(calibration.labels) // MOST_ROWS))
    above = _classes_above(calibration.all_scores[rows], calibration.labels[rows], calibration.table)
    listed = above < width
    coverage = [dot(calibration.importance[rows], listed[:, column].astype(np.float64)) for column in range(len(TAUS))]
    return TAUS[int(np.argmax(coverage))]


def _classes_above(scores: AnyArray, labels: IntArray, table: ClassTable) -> IntArray:
    """Return how many classes have a higher adjusted score than each row's label, for each τ, (n, len(TAUS)).

    An adjusted shortlist always keeps the base model's best class, which can push a label off the
    last position.  That is ignored here.
    """
    above = np.empty((len(scores), len(TAUS)), dtype=np.int32)
    kernels = kernels_for(scores.size)

    def count(rows: slice) -> None:
        block = np.ascontiguousarray(as_floats(scores[rows]))
        adjustments = np.outer(TAUS, -table.log_counts).astype(block.dtype)
        kernels.labels_above(block, adjustments, labels[rows], above[rows])

    map_row_blocks(count, row_blocks(len(scores), max(1, SCORES_PER_BLOCK // scores.shape[1])))
    return above


def with_adjusted_list(calibration: CalibrationSet, tau: float, width: int) -> CalibrationSet:
    """Return the calibration set with `width` candidates per row, chosen with `tau`.

    It is unchanged if only shortlists were given, or if its shortlists are those already.
    """
    given, scores = calibration.shortlist, calibration.all_scores
    if scores is None or (tau == 0.0 and width == given.n_candidates):
        return calibration
    chosen = Shortlist.from_scores(scores, width, adjustment=list_adjustment(calibration.table, tau))
    return replace(calibration, shortlist=chosen.with_embeddings(given.embeddings).as_converted())
