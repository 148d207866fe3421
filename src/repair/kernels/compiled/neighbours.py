"""The nearest vectors of a query and their votes, compiled."""

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled

__all__ = ["largest_in_rows", "vote_sums"]

#: A row is cut into this many columns, or more for many results.  The largest numbers of the columns give a bound that
#: few other numbers exceed.
COLUMNS = 256
#: Steps of the bisection for that bound.
HALVINGS = 20
#: If at most this many times the number of results exceed the bound, they are put in order by counting the larger ones,
#: which is vectorised.
SHORT = 4
#: The bits of −0, which must count as equal to 0.
MINUS_ZERO = np.uint32(1 << 31)


@compiled
def largest_of_columns(line: AnyArray, maxima: AnyArray) -> None:
    """Write the largest number of each column.  The numbers of a row fill the columns line by line."""
    width = len(maxima)
    maxima[:] = line[:width]
    for start in range(width, len(line) - width + 1, width):
        part = line[start : start + width]
        for column in range(width):
            maxima[column] = part[column] if part[column] > maxima[column] else maxima[column]
    rest = len(line) - len(line) % width
    for column in range(len(line) - rest):
        maxima[column] = max(maxima[column], line[rest + column])


@compiled
def bound_below(maxima: AnyArray, number: int, bounds: AnyArray) -> None:
    """Write a number that at least `number` of the maxima reach, and usually few more, to ``bounds[0]``."""
    bounds[0], bounds[1] = maxima.min(), maxima.max()
    for _ in range(HALVINGS):
        bounds[2] = bounds[0] + (bounds[1] - bounds[0]) / np.float32(2.0)
        middle, reach = bounds[2], np.int32(0)
        for column in range(len(maxima)):
            reach += np.int32(maxima[column] >= middle)
        if reach < number:
            bounds[1] = middle
            continue
        bounds[0] = middle
        if reach <= number + number // 8:
            return


@compiled
def sort_key(bits: int, column: int) -> np.uint64:
    """Return an integer that is smaller for larger numbers, and among equal numbers for earlier columns."""
    value = np.uint32(0) if bits == MINUS_ZERO else np.uint32(bits)
    rank = value if value & MINUS_ZERO else ~(value | MINUS_ZERO)
    return (np.uint64(rank) << np.uint64(32)) | np.uint64(column)


@compiled
def largest_in_rows(values: AnyArray, out_columns: IntArray, out_values: AnyArray) -> None:
    size, number = values.shape[1], out_columns.shape[1]
    width = min(max(COLUMNS, 5 * number // 2), size)
    maxima, bounds, keys = np.empty(width, np.float32), np.empty(3, np.float32), np.empty(size, np.uint64)
    for row in range(len(values)):
        line, bits = values[row], values[row].view(np.uint32)
        largest_of_columns(line, maxima)
        bound_below(maxima, number, bounds)
        bound, found = bounds[0], 0
        for column in range(width):
            if maxima[column] >= bound:
                for place in range(column, size, width):
                    if line[place] >= bound:
                        keys[found] = sort_key(bits[place], place)
                        found += 1
        if found > SHORT * number:  # many equal numbers
            keys[:found].sort()
            found = number
        for candidate in range(found):
            key, position = keys[candidate], 0
            for other in range(found):
                position += int(keys[other] < key)
            if position < number:
                nearest = np.uint32(key)
                out_columns[row, position] = nearest
                out_values[row, position] = line[nearest]


@compiled
def vote_sums(ids: IntArray, voted: IntArray, weights: FloatArray, sums: FloatArray) -> None:
    for row in range(len(ids)):
        candidates, row_sums = ids[row], sums[row]
        for neighbour in range(weights.shape[1]):
            label, weight = voted[row, neighbour], weights[row, neighbour]
            for candidate in range(len(candidates)):
                if candidates[candidate] == label:
                    row_sums[candidate] += weight
