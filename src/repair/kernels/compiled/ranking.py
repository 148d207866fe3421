"""Top-k selection and final order, compiled.  Candidates are inserted one by one, which is fast for short lists."""

import math

import numpy as np

from repair._utils.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled

__all__ = ["label_positions", "order_rows", "rank_rows", "top_k"]

#: The top-k tests this many scores at once.  If any of them matters, it tests them again in chunks of this size.
STRETCH, CHUNK = 256, 32


@compiled
def any_outside(scores: AnyArray, bounds: AnyArray) -> bool:
    """Return whether any score is above ``bounds[0]``, at or below ``bounds[1]``, or NaN.  The loop is vectorised."""
    weakest, lowest = bounds[0], bounds[1]
    outside = 0
    for position in range(len(scores)):
        outside |= int(not (scores[position] <= weakest)) | int(scores[position] <= lowest)
    return outside != 0


@compiled
def insert(score: float, candidate: int, filled: int, best: FloatArray, ids: IntArray) -> None:
    """Insert a candidate into the sorted list of the best so far.  If the list is full, the worst one is dropped."""
    position = min(filled, len(best) - 1)
    while position > 0 and best[position - 1] < score:
        best[position] = best[position - 1]
        ids[position] = ids[position - 1]
        position -= 1
    best[position] = score
    ids[position] = candidate


@compiled
def top_k(scores: AnyArray, limit: float, out_ids: IntArray, out_scores: FloatArray) -> int:
    n_classes, k = scores.shape[1], out_ids.shape[1]
    bounds = np.empty(2, scores.dtype)  # in the precision of the scores, so comparisons use full vectors
    for row in range(len(scores)):
        line, best, ids = scores[row], out_scores[row], out_ids[row]
        filled = 0
        bounds[0], bounds[1] = -np.inf, -limit
        for start in range(0, n_classes, STRETCH):
            stop = min(start + STRETCH, n_classes)
            if not any_outside(line[start:stop], bounds):
                continue
            for first in range(start, stop, CHUNK):
                last = min(first + CHUNK, stop)
                if not any_outside(line[first:last], bounds):
                    continue
                for candidate in range(first, last):
                    score = line[candidate]
                    if not (score <= limit) or (score < -limit and score != -np.inf):
                        return row
                    if score > bounds[0]:
                        insert(score, candidate, filled, best, ids)
                        filled = min(filled + 1, k)
                        if filled == k:
                            bounds[0] = best[k - 1]
        for position in range(filled, k):
            ids[position] = PAD_ID
            best[position] = PAD_SCORE
    return -1


@compiled
def label_positions(ids: IntArray, labels: IntArray) -> IntArray:
    positions = np.empty(len(ids), np.int32)
    for row in range(len(ids)):
        label, row_ids, position = labels[row], ids[row], -1
        for candidate in range(len(row_ids)):
            position = candidate if row_ids[candidate] == label else position
        positions[row] = position if label >= 0 else -1
    return positions


@compiled
def rank_rows(
    ids: IntArray, scores: FloatArray, lengths: IntArray, order: IntArray, ranked_ids: IntArray, ranked: FloatArray
) -> None:
    n, k = scores.shape
    for row in range(n):
        row_order, sorted_scores = order[row], ranked[row]
        for candidate in range(k):
            position = candidate
            score = scores[row, candidate] if candidate < lengths[row] else PAD_SCORE
            if candidate < lengths[row] and not math.isnan(score):
                while position > 0:
                    above = sorted_scores[position - 1]
                    if above >= score:  # false for NaN, which moves down
                        break
                    sorted_scores[position] = above
                    row_order[position] = row_order[position - 1]
                    position -= 1
            sorted_scores[position] = score
            row_order[position] = candidate
        for position in range(k):
            ranked_ids[row, position] = ids[row, row_order[position]]


@compiled
def order_rows(scores: FloatArray, lengths: IntArray) -> IntArray:
    order, ids = np.empty(scores.shape, np.int32), np.zeros(scores.shape, np.int32)
    rank_rows(ids, scores, lengths, order, np.empty_like(ids), np.empty_like(scores))
    return order
