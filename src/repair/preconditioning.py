"""An approximate inverse of the fit's Hessian: quick to apply, and close enough to save most products.

The Hessian has a large block for the offsets, of which only the diagonal is kept, a small one for
the weights, and a cross block between them.  With the cross block it is an arrow: offsets are
eliminated one by one, and what remains is an equation in the few weights.
"""

from collections.abc import Callable

import numpy as np

from repair.arrays import FloatArray

__all__ = ["approximate_inverse"]

#: Directions of the weights' block that are weaker than this share of the strongest are left out of its inverse.
SINGULAR = 1e-13
#: The arrow is used if what remains for the weights has no eigenvalue below this share of their own curvature.
SAFELY_POSITIVE = 0.05


def approximate_inverse(
    diagonal: FloatArray, block: FloatArray, cross: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Return a function that multiplies (offsets, weights) by roughly the inverse of the Hessian.

    Parameters
    ----------
    diagonal : ndarray (n_offsets,)
        Of the offsets' block.
    block : ndarray (d, d)
        The weights' block.
    cross : ndarray (n_offsets, d) or (0, d)
        The block between them; without it the two are inverted each on its own.  So they are where
        the arrow is not safely positive: a diagonal alone overstates what two offsets can do
        together, and with hardly any penalty nothing would be left for the weights.
    """
    n_offsets = len(diagonal)
    if len(cross):
        by_weight = np.ascontiguousarray(cross.T)  # long rows, which sums run along
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
    """Invert a block that may be badly scaled or, to rounding, singular; return its smallest eigenvalue too.

    Both are found in units in which each weight's own curvature is 1.
    """
    size = np.sqrt(curvature)
    scale = size[:, None] * size
    values, vectors = np.linalg.eigh(block / scale)
    kept = np.abs(values) > SINGULAR * np.abs(values).max(initial=0.0)
    inverses = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    inverse: FloatArray = np.einsum("ij,j,kj->ik", vectors, inverses, vectors) / scale
    return inverse, float(values.min(initial=np.inf))
