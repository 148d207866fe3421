"""An approximate inverse of the Hessian that is cheap to apply and saves most Hessian products.

The Hessian has a large block for the offsets, of which only the diagonal is kept, a small block for
the weights, and a cross block between them.  With the cross block it is an arrowhead matrix: the
offsets are eliminated one by one, which leaves an equation in the few weights.
"""

from collections.abc import Callable

import numpy as np

from repair._utils.arrays import FloatArray

__all__ = ["approximate_inverse"]

#: Eigenvalues of the weights' block below this fraction of the largest are left out of its inverse.
SINGULAR = 1e-13
#: The cross block is used if the remaining matrix of the weights has no eigenvalue below this fraction of their own
#: curvature.
SAFELY_POSITIVE = 0.05


def approximate_inverse(
    diagonal: FloatArray, block: FloatArray, cross: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Return a function that multiplies (offsets, weights) by an approximate inverse of the Hessian.

    Parameters
    ----------
    diagonal : ndarray (n_offsets,)
        Diagonal of the offsets' block.
    block : ndarray (d, d)
        Block of the weights.
    cross : ndarray (n_offsets, d) or (0, d)
        Block between offsets and weights.  If it is empty, the other two blocks are inverted
        separately.  The same is done if the arrowhead matrix is not clearly positive definite: the
        diagonal alone overstates what two offsets can explain together, and with a very small
        penalty no curvature would be left for the weights.

    Returns
    -------
    callable
        Takes and returns a vector of length n_offsets + d.
    """
    n_offsets = len(diagonal)
    if len(cross):
        by_weight = np.ascontiguousarray(cross.T)  # sums run along its long rows
        per_offset = by_weight / diagonal
        rest = block - np.einsum("ji,ki->jk", by_weight, per_offset)
        on_weights, weakest = _inverse(rest, block.diagonal())
        if weakest > SAFELY_POSITIVE:
            return _arrow(diagonal, per_offset, on_weights)
    on_weights, _ = _inverse(block, block.diagonal())

    def apply(vector: FloatArray) -> FloatArray:
        return np.concatenate([vector[:n_offsets] / diagonal, (on_weights * vector[n_offsets:]).sum(axis=1)])

    return apply


def _arrow(diagonal: FloatArray, per_offset: FloatArray, on_weights: FloatArray) -> Callable[[FloatArray], FloatArray]:
    n_offsets = len(diagonal)

    def apply(vector: FloatArray) -> FloatArray:
        offsets = vector[:n_offsets]
        left = vector[n_offsets:] - np.einsum("ji,i->j", per_offset, offsets)
        weights = (on_weights * left).sum(axis=1)
        return np.concatenate([offsets / diagonal - np.einsum("ji,j->i", per_offset, weights), weights])

    return apply


def _inverse(block: FloatArray, curvature: FloatArray) -> tuple[FloatArray, float]:
    """Return the inverse of a block, which may be badly scaled or numerically singular, and its smallest eigenvalue.

    Both are computed in units in which the curvature of each weight is 1.
    """
    size = np.sqrt(curvature)
    scale = size[:, None] * size
    values, vectors = np.linalg.eigh(block / scale)
    kept = np.abs(values) > SINGULAR * np.abs(values).max(initial=0.0)
    inverses = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    inverse: FloatArray = np.einsum("ij,j,kj->ik", vectors, inverses, vectors) / scale
    return inverse, float(values.min(initial=np.inf))
