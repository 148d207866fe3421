"""The nearest vectors of a query and their votes, in plain numpy."""

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray

__all__ = ["largest_in_rows", "vote_sums"]


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


def vote_sums(ids: IntArray, voted: IntArray, weights: FloatArray, sums: FloatArray) -> None:
    """Add the weights of the neighbours that voted for each candidate to `sums`, neighbour by neighbour.

    `voted` is the label of each neighbour.  Only as many neighbours vote as there are weights.
    """
    matches = ids[:, :, None] == voted[:, None, : weights.shape[1]]
    # The last cumulative sum adds one neighbour after the other, as the compiled kernel does.
    sums += np.cumsum(np.where(matches, weights[:, None, :], 0.0), axis=2)[:, :, -1]
