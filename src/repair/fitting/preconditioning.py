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
#: The share of the weights' curvature that the offsets cannot explain counts as at least this.  Offsets nearly explain
#: a column that depends on the class alone.  If a share is below minus this number, the cross block is not used.
SMALLEST_SHARE = 0.05


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
        separately.  The same is done if the arrowhead matrix is clearly not positive definite: the
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
        on_weights, weakest = _inverse(rest, block)
        if weakest >= -SMALLEST_SHARE:
            return _arrow(diagonal, per_offset, on_weights)
    on_weights, _ = _inverse(block, block)

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


def _inverse(rest: FloatArray, block: FloatArray) -> tuple[FloatArray, float]:
    """Return the inverse of `rest`, and the smallest share of the curvature of `block` that is left in a direction.

    Smaller shares count as `SMALLEST_SHARE` in the inverse.  Columns may be badly scaled or nearly equal, so
    everything is computed in units in which `block` is the identity.  Directions in which it is numerically singular
    are left out.
    """
    size = np.sqrt(block.diagonal())
    scale = size[:, None] * size
    values, vectors = np.linalg.eigh(block / scale)
    kept = values > SINGULAR * values.max(initial=0.0)
    units = vectors[:, kept] / np.sqrt(values[kept])
    shares, directions = np.linalg.eigh(units.T @ (rest / scale) @ units)
    along = units @ directions
    inverse: FloatArray = np.einsum("ij,j,kj->ik", along, 1.0 / np.maximum(shares, SMALLEST_SHARE), along) / scale
    return inverse, float(shares.min(initial=np.inf))
