"""The nearest vectors of a query and their votes, in plain numpy."""

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray

__all__ = ["largest_in_rows", "nearest_of_candidates", "vote_sums"]


def largest_in_rows(values: AnyArray, out_columns: IntArray, out_values: AnyArray) -> None:
    """Write the columns of the largest numbers of each row and the numbers, largest first, then by column.

    The numbers are float32 and not NaN, and the arrays are contiguous.
    """
    number = out_columns.shape[1]
    # The smallest number that belongs to the result, and how many numbers that are equal to it do.
    last = np.partition(values, values.shape[1] - number, axis=1)[:, values.shape[1] - number, None]
    above, equal = values > last, values == last
    equal &= np.cumsum(equal, axis=1) <= number - above.sum(axis=1, keepdims=True)
    columns = np.nonzero(above | equal)[1].reshape(len(values), number)
    kept = np.take_along_axis(values, columns, axis=1)
    order = np.argsort(-kept, axis=1, kind="stable")
    out_columns[:] = np.take_along_axis(columns, order, axis=1)
    out_values[:] = np.take_along_axis(kept, order, axis=1)


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
    """Write the places of the vectors nearest to each query among those of its candidates, and their products.

    Vectors are in the order of their classes, and those of class y begin at ``starts[y]``.  Vectors of the query's
    group are left out.  If there are too few, the rest of a row is 0 with the product −Inf.
    """
    products = queries @ vectors.T
    is_candidate = np.zeros((len(ids), len(starts)), dtype=bool)  # the last column is for padding
    np.put_along_axis(is_candidate, ids, True, axis=1)
    classes = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    products[~is_candidate[:, classes] | (query_groups[:, None] == groups)] = -np.inf
    largest_in_rows(products, out_places, out_values)
    out_places[np.isneginf(out_values)] = 0


def vote_sums(
    ids: IntArray,
    voted: IntArray,
    weights: FloatArray,
    kinds: IntArray,
    numbers: IntArray,
    sums: FloatArray,
    totals: FloatArray,
) -> None:
    """Add the weights of the neighbours to `totals` (n, v), and to the candidate they voted for in `sums` (n, k, v).

    `voted` (n, m) has the label of each neighbour, nearest first.  In vote v, the first ``numbers[v]`` of them count
    with the weights (n, m) in ``weights[kinds[v]]``.
    """
    matches = ids[:, :, None] == voted[:, None, :]
    for vote, (kind, number) in enumerate(zip(kinds.tolist(), numbers.tolist(), strict=True)):
        counted = weights[kind][:, :number]
        # The last cumulative sum adds one neighbour after the other, as the compiled kernel does.
        totals[:, vote] += np.cumsum(counted, axis=1)[:, -1]
        votes = np.where(matches[:, :, :number], counted[:, None, :], 0.0)
        sums[:, :, vote] += np.cumsum(votes, axis=2)[:, :, -1]
