"""Comparisons between the candidates of a row, compiled."""

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled

__all__ = [
    "add_class_difference",
    "add_column",
    "add_mean_difference",
    "add_per_class",
    "average_over_rivals",
    "classes_present",
    "largest_leads",
    "mean_difference",
    "per_class",
]

#: A similarity table is read class by class if it has at least this many numbers, so it does not fit into the cache of
#: a core, and at most this many numbers per candidate slot.
LARGE_TABLE, NUMBERS_PER_SLOT = 1 << 19, 16
#: Slot numbers are 32-bit.
MOST_SLOTS = 2**31 - 1


@compiled
def per_class(vector: AnyArray, ids: IntArray) -> AnyArray:
    entries = np.empty(ids.shape, vector.dtype)
    for row in range(ids.shape[0]):
        for candidate in range(ids.shape[1]):
            class_id = ids[row, candidate]
            # An unsigned index saves numba's check for negative indices, here and below.
            entries[row, candidate] = vector[np.uint32(class_id)] if class_id >= 0 else 0
    return entries


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
        row_total, added = total[row], column[row]
        for candidate in range(len(row_total)):
            row_total[candidate] += factor * added[candidate]


@compiled
def add_per_class(total: FloatArray, factor: float, vector: FloatArray, ids: IntArray) -> None:
    for row in range(total.shape[0]):
        row_total, row_ids = total[row], ids[row]
        for candidate in range(len(row_total)):
            class_id = row_ids[candidate]
            row_total[candidate] += factor * (vector[np.uint32(class_id)] if class_id >= 0 else 0.0)


@compiled
def add_mean_difference(total: FloatArray, factor: float, values: FloatArray, lengths: IntArray) -> None:
    for row in range(total.shape[0]):
        add_difference(total[row], factor, values[row], lengths[row])


@compiled
def add_class_difference(
    total: FloatArray, factor: float, vector: FloatArray, ids: IntArray, lengths: IntArray
) -> None:
    value = np.empty(ids.shape[1])
    for row in range(total.shape[0]):
        length, row_ids = lengths[row], ids[row]
        for candidate in range(length):
            value[candidate] = vector[np.uint32(row_ids[candidate])]
        add_difference(total[row], factor, value, length)


@compiled
def add_difference(row_total: FloatArray, factor: float, value: FloatArray, length: int) -> None:
    """Add `factor` times the mean differences of one row's values to its scores."""
    mean, scale = mean_and_scale(value, length)
    for candidate in range(length):
        row_total[candidate] += factor * ((value[candidate] - mean) * scale)


@compiled
def mean_and_scale(value: FloatArray, length: int) -> tuple[float, float]:
    """Return the mean of a row's m values, and m/(m−1)."""
    mass = 0.0
    for candidate in range(length):
        mass += value[candidate]
    return mass / max(length, 1), length / max(length - 1, 1)


@compiled
def mean_difference(values: FloatArray, lengths: IntArray) -> FloatArray:
    difference = np.zeros(values.shape)
    for row in range(values.shape[0]):
        value, row_difference = values[row], difference[row]
        mean, scale = mean_and_scale(value, lengths[row])
        for candidate in range(lengths[row]):
            row_difference[candidate] = (value[candidate] - mean) * scale
    return difference


@compiled
def average_over_rivals(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    if LARGE_TABLE <= table.size <= NUMBERS_PER_SLOT * ids.size and ids.size <= MOST_SLOTS:
        return average_class_by_class(table, ids, lengths)
    return average_row_by_row(table, ids, lengths)


@compiled
def average_class_by_class(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Read the table once, class by class, which is fast even if the table does not stay in the cache."""
    width = np.uint32(ids.shape[1])
    average = np.zeros(ids.shape)
    starts, slots = slots_by_class(ids, len(table))
    line = np.empty(len(table))
    for class_id in range(len(table)):
        if starts[class_id] < starts[class_id + 1]:
            line[:] = table[class_id]
            line[class_id] = 0.0  # the candidate itself
        for position in range(starts[class_id], starts[class_id + 1]):
            slot = np.uint32(slots[position])
            row = slot // width
            length, row_ids = lengths[row], ids[row]
            total = 0.0
            for rival in range(length):
                total += line[np.uint32(row_ids[rival])]
            average[row, slot - row * width] = total / max(length - 1, 1)
    return average


@compiled
def slots_by_class(ids: IntArray, n_classes: int) -> tuple[IntArray, IntArray]:
    """Return where the slots of each class begin, and the slots row·k + candidate sorted by class."""
    n, k = ids.shape
    starts = np.zeros(n_classes + 1, np.int32)
    for row in range(n):
        for candidate in range(k):
            if ids[row, candidate] >= 0:
                starts[np.uint32(ids[row, candidate] + 1)] += 1
    for class_id in range(n_classes):
        starts[class_id + 1] += starts[class_id]
    free, slots = starts[:-1].copy(), np.empty(starts[-1], np.int32)
    for row in range(n):
        for candidate in range(k):
            if ids[row, candidate] >= 0:
                unsigned_id = np.uint32(ids[row, candidate])
                slots[np.uint32(free[unsigned_id])] = row * k + candidate
                free[unsigned_id] += 1
    return starts, slots


@compiled
def average_row_by_row(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Read only the entries that each row needs.  With many classes and few rows that is less than the whole table."""
    average = np.zeros(ids.shape)
    for row in range(ids.shape[0]):
        length, row_ids, row_average = lengths[row], ids[row], average[row]
        for candidate in range(length):
            line = table[np.uint32(row_ids[candidate])]
            total = 0.0
            for rival in range(candidate):
                total += line[np.uint32(row_ids[rival])]
            for rival in range(candidate + 1, length):
                total += line[np.uint32(row_ids[rival])]
            row_average[candidate] = total / max(length - 1, 1)
    return average


@compiled
def largest_leads(
    pairs: IntArray, ids: IntArray, scores: FloatArray, lengths: IntArray, target: IntArray, largest: FloatArray
) -> None:
    for row in range(ids.shape[0]):
        label = target[row]
        for rival in range(lengths[row]):
            if rival != label:
                low, high = min(label, rival), max(label, rival)
                pair = pairs[row, high * (high - 1) // 2 + low]
                side = 1 if ids[row, label] > ids[row, rival] else 0
                lead = scores[row, rival] - scores[row, label]
                if lead > largest[pair, side]:
                    largest[pair, side] = lead
