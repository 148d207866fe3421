"""The sums of the fit in plain numpy.  Arrays have shape (k, n) and (d, k, n), with the rows in the last dimension."""

import numpy as np

from repair._utils.arrays import PAD_SCORE, FloatArray, IntArray, dot

__all__ = ["curvature", "hessian_product", "loss_and_gradient"]


def loss_and_gradient(
    base: FloatArray,
    index: IntArray,
    columns: FloatArray,
    lengths: IntArray,
    target: IntArray,
    row_weights: FloatArray,
    offsets: FloatArray,
    weights: FloatArray,
    start: int,
    stop: int,
    probabilities: FloatArray,
    gradient: FloatArray,
) -> float:
    """Return the weighted conditional-logit loss of rows `start` to `stop`.

    Adds these rows' gradient to `gradient`, laid out as (offsets, weights), and writes their
    `probabilities`.  `index` holds the number of each candidate's offset.
    """
    rows = slice(start, stop)
    padded = np.arange(len(base))[:, None] >= lengths[rows]
    scores = base[:, rows] + _linear(index[:, rows], columns[:, :, rows], offsets, weights)
    scores[padded] = PAD_SCORE
    best = scores.max(axis=0)
    shares = np.exp(scores - best)
    mass = shares.sum(axis=0)
    at_label = target[rows], np.arange(stop - start)
    loss = np.log(mass) + best - scores[at_label]
    shares /= mass
    probabilities[:, rows] = shares
    shares[at_label] -= 1.0
    shares *= row_weights[rows]
    _scatter(shares, index[:, rows], columns[:, :, rows], len(offsets), gradient)
    return dot(row_weights[rows], loss)


def hessian_product(
    index: IntArray,
    columns: FloatArray,
    row_weights: FloatArray,
    probabilities: FloatArray,
    direction: FloatArray,
    n_offsets: int,
    start: int,
    stop: int,
    product: FloatArray,
) -> None:
    """Add the Hessian of these rows' loss, at the point that gave `probabilities`, times `direction` to `product`."""
    rows = slice(start, stop)
    shares = probabilities[:, rows]
    change = _linear(index[:, rows], columns[:, :, rows], direction[:n_offsets], direction[n_offsets:])
    curved = shares * (change - (shares * change).sum(axis=0)) * row_weights[rows]
    _scatter(curved, index[:, rows], columns[:, :, rows], n_offsets, product)


def curvature(
    index: IntArray,
    columns: FloatArray,
    row_weights: FloatArray,
    probabilities: FloatArray,
    start: int,
    stop: int,
    diagonal: FloatArray,
    block: FloatArray,
    cross: FloatArray,
) -> None:
    """Add these rows' part of the Hessian.

    `diagonal` gets the diagonal of the offsets' block, `block` the block of the terms, and `cross`
    the block between offsets and terms unless it is empty.
    """
    rows = slice(start, stop)
    shares, weighted = probabilities[:, rows], probabilities[:, rows] * row_weights[rows]
    if len(diagonal):
        spread = weighted * (1.0 - shares)
        diagonal += np.bincount(index[:, rows].ravel(), spread.ravel(), minlength=len(diagonal))
    centred = columns[:, :, rows] - np.einsum("kn,dkn->dn", shares, columns[:, :, rows])[:, None]
    block += np.einsum("kn,dkn,ekn->de", weighted, centred, centred, optimize=True)
    if len(cross):
        for term, column in enumerate(centred):
            cross[:, term] += np.bincount(index[:, rows].ravel(), (weighted * column).ravel(), minlength=len(cross))


def _linear(index: IntArray, columns: FloatArray, offsets: FloatArray, weights: FloatArray) -> FloatArray:
    scores = offsets[index] if len(offsets) else np.zeros(index.shape)
    for term, weight in enumerate(weights):
        scores += weight * columns[term]
    return scores


def _scatter(values: FloatArray, index: IntArray, columns: FloatArray, n_offsets: int, out: FloatArray) -> None:
    if n_offsets:
        out[:n_offsets] += np.bincount(index.ravel(), values.ravel(), minlength=n_offsets)
    out[n_offsets:] += np.einsum("kn,dkn->d", values, columns)
