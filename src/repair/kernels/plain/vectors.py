"""Kernels on row vectors and full score rows, in plain numpy."""

import numpy as np

from repair._utils.arrays import PAD_ID, AnyArray, FloatArray, IntArray

__all__ = ["labels_above", "list_loss", "row_dots"]


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


def list_loss(
    features: AnyArray,
    table: AnyArray,
    ids: IntArray,
    base: FloatArray,
    target: IntArray,
    weights: FloatArray,
    gradient: AnyArray,
) -> float:
    """Return the weighted negative log-likelihood of a conditional logit, and add its gradient by `table`.

    The score of a candidate is its base score plus the dot product of the row's features and the class's row of
    `table`.  `target` is the position of each label.  Padding is at the end of a row.
    """
    real, rows = ids != PAD_ID, np.arange(len(ids))
    scores = np.where(real, base + row_dots(features, table, ids, real.sum(axis=1)), -np.inf)
    scores -= scores.max(axis=1, keepdims=True)
    of_label = scores[rows, target]
    shares = np.exp(scores)
    total = shares.sum(axis=1)
    residuals = shares / total[:, None]
    residuals[rows, target] -= 1.0
    residuals *= weights[:, None]
    for candidate in range(ids.shape[1]):
        listed = real[:, candidate]
        factors = residuals[listed, candidate, None].astype(np.float32)
        np.add.at(gradient, ids[listed, candidate], factors * features[listed])
    return float(weights @ (np.log(total) - of_label))


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
