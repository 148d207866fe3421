"""Kernels on row vectors and full score rows, in plain numpy."""

import numpy as np

from repair._utils.arrays import PAD_ID, AnyArray, FloatArray, IntArray

__all__ = ["labels_above", "row_dots"]


def row_dots(vectors: AnyArray, table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Return the dot products of each row's vector with its candidates' vectors in `table`, 0 on padding.

    Products are summed in float32.
    """
    products = np.zeros(ids.shape)
    safe = np.maximum(ids, 0)
    for candidate in range(ids.shape[1]):
        products[:, candidate] = np.einsum("ij,ij->i", vectors, table[safe[:, candidate]])
    products[ids == PAD_ID] = 0.0
    return products


def labels_above(scores: AnyArray, adjustments: AnyArray, labels: IntArray, above: IntArray) -> None:
    """Write how many classes have a higher score than each row's label, for each of several adjustments.

    `adjustments` has shape (w, K), and each of its rows is added to the scores.  The count is K
    where the label is −1 or its score is −Inf.
    """
    rows, safe = np.arange(len(labels)), np.maximum(labels, 0)
    for column, adjustment in enumerate(adjustments):
        adjusted = scores + adjustment
        above[:, column] = (adjusted > adjusted[rows, safe][:, None]).sum(axis=1)
    above[(labels < 0) | np.isneginf(scores[rows, safe])] = scores.shape[1]
