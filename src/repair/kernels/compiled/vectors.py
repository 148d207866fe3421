"""Rows as vectors, compiled."""

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled, compiled_in_any_order

__all__ = ["labels_above", "row_dots"]


@compiled_in_any_order
def row_dots(vectors: AnyArray, table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    found = np.zeros(ids.shape)
    for row in range(ids.shape[0]):
        vector = vectors[row]
        for candidate in range(lengths[row]):
            line = table[np.uint32(ids[row, candidate])]  # unsigned, or negative places would be looked for
            total = np.float32(0.0)
            for place in range(len(vector)):
                total += vector[place] * line[place]
            found[row, candidate] = total
    return found


@compiled
def labels_above(scores: AnyArray, adjustments: AnyArray, labels: IntArray, above: IntArray) -> None:
    for row in range(len(labels)):
        if labels[row] < 0 or scores[row, labels[row]] == -np.inf:
            above[row] = scores.shape[1]
            continue
        line = scores[row]
        for way in range(len(adjustments)):
            added = adjustments[way]
            own = line[labels[row]] + added[labels[row]]
            count = 0
            for one in range(len(line)):
                count += int(line[one] + added[one] > own)
            above[row, way] = count
