"""The nearest vectors of a query and their votes, compiled."""

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled, compiled_in_any_order

__all__ = ["largest_in_rows", "nearest_of_candidates", "vote_sums"]

#: A row is cut into this many columns, or more for many results.  The largest numbers of the columns give a bound that
#: few other numbers exceed.
COLUMNS = 256
#: Steps of the bisection for that bound.
HALVINGS = 20
#: If at most this many times the number of results exceed the bound, they are put in order by counting the larger ones,
#: which is vectorised.
SHORT = 4
#: The bit of the sign.  Alone it is −0, which must count as equal to 0.
SIGN = np.uint32(1 << 31)


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
def sort_key(bits: int, place: int) -> np.uint64:
    """Return an integer that is smaller for larger numbers, and among equal numbers for lower places."""
    value = np.uint32(0) if bits == SIGN else np.uint32(bits)
    rank = value if value & SIGN else ~(value | SIGN)
    return (np.uint64(rank) << np.uint64(32)) | np.uint64(place)


@compiled
def write_result(key: np.uint64, position: int, out_places: IntArray, out_bits: AnyArray) -> None:
    """Write the place and the number that a key was made of."""
    rank = np.uint32(key >> np.uint64(32))
    out_places[position] = np.uint32(key)
    out_bits[position] = rank if rank & SIGN else ~(rank | SIGN)


@compiled
def largest_of_line(
    line: AnyArray,
    places: IntArray,
    maxima: AnyArray,
    bounds: AnyArray,
    keys: AnyArray,
    out_places: IntArray,
    out_values: AnyArray,
) -> None:
    """Write the largest numbers of a line, which has at least as many, and their places."""
    size, number, bits, out_bits = len(line), len(out_places), line.view(np.uint32), out_values.view(np.uint32)
    width, found = min(len(maxima), size), 0
    largest_of_columns(line, maxima[:width])
    bound_below(maxima[:width], number, bounds)
    bound = bounds[0]
    for column in range(width):
        if maxima[column] >= bound:
            for index in range(column, size, width):
                if line[index] >= bound:
                    keys[found] = sort_key(bits[index], places[index])
                    found += 1
    if found > SHORT * number:  # many equal numbers
        keys[:found].sort()
        for position in range(number):
            write_result(keys[position], position, out_places, out_bits)
        return
    for candidate in range(found):
        key, position = keys[candidate], 0
        for other in range(found):
            position += int(keys[other] < key)
        if position < number:
            write_result(key, position, out_places, out_bits)


@compiled
def largest_in_rows(values: AnyArray, out_columns: IntArray, out_values: AnyArray) -> None:
    size, number = values.shape[1], out_columns.shape[1]
    maxima, bounds = np.empty(max(COLUMNS, 5 * number // 2), np.float32), np.empty(3, np.float32)
    places, keys = np.arange(size).astype(np.int32), np.empty(size, np.uint64)
    for row in range(len(values)):
        largest_of_line(values[row], places, maxima, bounds, keys, out_columns[row], out_values[row])


@compiled_in_any_order
def products_of_class(
    query: AnyArray, vectors: AnyArray, first: int, last: int, products: AnyArray, places: IntArray, found: int
) -> None:
    """Write the products of a query with the vectors of a class, and the places of these vectors."""
    for place in range(first, last):
        vector, total = vectors[place], np.float32(0.0)
        for column in range(len(query)):
            total += query[column] * vector[column]
        products[found + place - first] = total
        places[found + place - first] = place


@compiled
def nearest_of_candidates(
    queries: AnyArray,
    vectors: AnyArray,
    starts: IntArray,
    ids: IntArray,
    query_groups: AnyArray,
    groups: AnyArray,
    out_places: IntArray,
    out_values: AnyArray,
) -> None:
    size, number = len(vectors), out_places.shape[1]
    maxima, bounds = np.empty(max(COLUMNS, 5 * number // 2), np.float32), np.empty(3, np.float32)
    products, places, keys = np.empty(size, np.float32), np.empty(size, np.int32), np.empty(size, np.uint64)
    for row in range(len(queries)):
        found = 0
        for candidate in range(ids.shape[1]):
            label = ids[row, candidate]
            if label < 0:
                break
            products_of_class(queries[row], vectors, starts[label], starts[label + 1], products, places, found)
            found += starts[label + 1] - starts[label]
        for index in range(found):
            if groups[places[index]] == query_groups[row]:
                products[index] = -np.inf
        written = min(found, number)
        out_places[row, written:] = 0
        out_values[row, written:] = -np.inf
        if written:
            results = out_places[row, :written], out_values[row, :written]
            largest_of_line(products[:found], places, maxima, bounds, keys, results[0], results[1])


@compiled
def vote_sums(
    ids: IntArray,
    voted: IntArray,
    weights: FloatArray,
    kinds: IntArray,
    numbers: IntArray,
    sums: FloatArray,
    totals: FloatArray,
) -> None:
    for row in range(len(ids)):
        candidates, total = ids[row], totals[row]
        for neighbour in range(voted.shape[1]):
            position = -1
            for candidate in range(len(candidates)):
                position = candidate if candidates[candidate] == voted[row, neighbour] else position
            for vote in range(len(numbers)):
                if neighbour < numbers[vote]:
                    weight = weights[kinds[vote], row, neighbour]
                    total[vote] += weight
                    if position >= 0:
                        sums[row, position, vote] += weight
