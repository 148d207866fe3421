"""What the candidates of a row are to each other, compiled."""

import numpy as np

from repair.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled

__all__ = [
    "add_column",
    "average_over_rivals",
    "classes_present",
    "largest_leads",
    "mean_difference",
    "per_class",
]


@compiled
def per_class(vector: AnyArray, ids: IntArray) -> AnyArray:
    found = np.empty(ids.shape, vector.dtype)
    for row in range(ids.shape[0]):
        for candidate in range(ids.shape[1]):
            place = ids[row, candidate]
            # Unsigned, or negative places would be looked for.
            found[row, candidate] = vector[np.uint32(place)] if place >= 0 else 0
    return found


@compiled
def classes_present(ids: IntArray, n_classes: int) -> BoolArray:
    present = np.zeros(n_classes, np.bool_)
    for row in range(ids.shape[0]):
        for candidate in range(ids.shape[1]):
            if ids[row, candidate] >= 0:
                present[np.uint32(ids[row, candidate])] = True
    return present


@compiled
def add_column(total: FloatArray, factor: float, column: FloatArray) -> None:
    for row in range(total.shape[0]):
        own, added = total[row], column[row]
        for candidate in range(len(own)):
            own[candidate] += factor * added[candidate]


@compiled
def mean_difference(values: FloatArray, lengths: IntArray) -> FloatArray:
    n, k = values.shape
    difference = np.zeros((n, k))
    for row in range(n):
        length = lengths[row]
        total = 0.0
        for candidate in range(length):
            total += values[row, candidate]
        mean, factor = total / max(length, 1), length / max(length - 1, 1)
        for candidate in range(length):
            difference[row, candidate] = (values[row, candidate] - mean) * factor
    return difference


@compiled
def average_over_rivals(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    average = np.zeros(ids.shape)
    for row in range(ids.shape[0]):
        length, mine, found = lengths[row], ids[row], average[row]
        for candidate in range(length):
            line = table[np.uint32(mine[candidate])]  # unsigned, or negative places would be looked for
            total = 0.0
            for rival in range(candidate):
                total += line[np.uint32(mine[rival])]
            for rival in range(candidate + 1, length):
                total += line[np.uint32(mine[rival])]
            found[candidate] = total / max(length - 1, 1)
    return average


@compiled
def largest_leads(
    pairs: IntArray, ids: IntArray, scores: FloatArray, lengths: IntArray, target: IntArray, largest: FloatArray
) -> None:
    for row in range(ids.shape[0]):
        own = target[row]
        for rival in range(lengths[row]):
            if rival != own:
                low, high = min(own, rival), max(own, rival)
                pair = pairs[row, high * (high - 1) // 2 + low]
                side = 1 if ids[row, own] > ids[row, rival] else 0
                lead = scores[row, rival] - scores[row, own]
                if lead > largest[pair, side]:
                    largest[pair, side] = lead
