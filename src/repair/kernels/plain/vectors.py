"""Rows as vectors, in plain numpy."""

import numpy as np

from repair.arrays import PAD_ID, AnyArray, FloatArray, IntArray

__all__ = ["labels_above", "row_dots"]


def row_dots(vectors: AnyArray, table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Return the product of each row's vector with its candidates' vectors in `table`, 0 on padding; float32 sums."""
    found = np.zeros(ids.shape)
    safe = np.maximum(ids, 0)
    for place in range(ids.shape[1]):
        found[:, place] = np.einsum("ij,ij->i", vectors, table[safe[:, place]])
    found[ids == PAD_ID] = 0.0
    return found


def labels_above(scores: AnyArray, adjustments: AnyArray, labels: IntArray, above: IntArray) -> None:
    """Write how many classes are above each row's label, for each way (w, K) to adjust the scores.

    All K of them where there is no label (−1), or its score is −Inf.
    """
    rows, safe = np.arange(len(labels)), np.maximum(labels, 0)
    for way, added in enumerate(adjustments):
        adjusted = scores + added
        above[:, way] = (adjusted > adjusted[rows, safe][:, None]).sum(axis=1)
    above[(labels < 0) | np.isneginf(scores[rows, safe])] = scores.shape[1]
