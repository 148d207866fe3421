"""What the candidates of a row are to each other, compiled."""

import numpy as np

from repair.arrays import AnyArray, BoolArray, FloatArray, IntArray
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

#: A table is read as a whole if it is too large for a core's own cache, and at most so large for each candidate slot.
LARGE_TABLE, NUMBERS_PER_SLOT = 1 << 19, 16
#: Slots are numbered in 32 bits.
MOST_SLOTS = 2**31 - 1


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
def add_per_class(total: FloatArray, factor: float, vector: FloatArray, ids: IntArray) -> None:
    for row in range(total.shape[0]):
        own, mine = total[row], ids[row]
        for candidate in range(len(own)):
            place = mine[candidate]
            own[candidate] += factor * (vector[np.uint32(place)] if place >= 0 else 0.0)


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
        length, mine = lengths[row], ids[row]
        for candidate in range(length):
            value[candidate] = vector[np.uint32(mine[candidate])]
        add_difference(total[row], factor, value, length)


@compiled
def add_difference(own: FloatArray, factor: float, value: FloatArray, length: int) -> None:
    """Do as `add_mean_difference` for one row."""
    mean, scale = mean_and_scale(value, length)
    for candidate in range(length):
        own[candidate] += factor * ((value[candidate] - mean) * scale)


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
        value, found = values[row], difference[row]
        mean, scale = mean_and_scale(value, lengths[row])
        for candidate in range(lengths[row]):
            found[candidate] = (value[candidate] - mean) * scale
    return difference


@compiled
def average_over_rivals(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    if LARGE_TABLE <= table.size <= NUMBERS_PER_SLOT * ids.size and ids.size <= MOST_SLOTS:
        return average_class_by_class(table, ids, lengths)
    return average_row_by_row(table, ids, lengths)


@compiled
def average_class_by_class(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Read the table once from top to bottom: that is quick even if other programs keep it out of the cache."""
    width = np.uint32(ids.shape[1])
    average = np.zeros(ids.shape)
    starts, slots = slots_by_class(ids, len(table))
    line = np.empty(len(table))
    for one in range(len(table)):
        if starts[one] < starts[one + 1]:
            line[:] = table[one]
            line[one] = 0.0  # the candidate itself
        for place in range(starts[one], starts[one + 1]):
            slot = np.uint32(slots[place])
            row = slot // width
            length, mine = lengths[row], ids[row]
            total = 0.0
            for rival in range(length):
                total += line[np.uint32(mine[rival])]
            average[row, slot - row * width] = total / max(length - 1, 1)
    return average


@compiled
def slots_by_class(ids: IntArray, n_classes: int) -> tuple[IntArray, IntArray]:
    """Return where each class's slots begin, and the slots row·k + candidate in order of their class."""
    n, k = ids.shape
    starts = np.zeros(n_classes + 1, np.int32)
    for row in range(n):
        for candidate in range(k):
            if ids[row, candidate] >= 0:
                starts[np.uint32(ids[row, candidate] + 1)] += 1
    for one in range(n_classes):
        starts[one + 1] += starts[one]
    free, slots = starts[:-1].copy(), np.empty(starts[-1], np.int32)
    for row in range(n):
        for candidate in range(k):
            if ids[row, candidate] >= 0:
                own = np.uint32(ids[row, candidate])
                slots[np.uint32(free[own])] = row * k + candidate
                free[own] += 1
    return starts, slots


@compiled
def average_row_by_row(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Read what each row needs, from all over the table: less, where there are many classes and few rows."""
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
