"""Principal components, which make wide embeddings shorter."""

import numpy as np

from repair._utils.arrays import AnyArray
from repair.rerankers.rivals.rows import Rows

__all__ = ["principal_components"]


def principal_components(rows: Rows, width: int) -> AnyArray | None:
    """Return the leading principal components (d, width) of the labelled rows, or None if d is at most `width`.

    Labels are not used.  The components are those of uncentred vectors.
    """
    x = rows.vectors()
    if x.shape[1] <= width:
        return None
    squares = x.T @ x
    if rows.reference_x is not None:
        squares = squares + rows.reference_x.T @ rows.reference_x
    _, vectors = np.linalg.eigh(squares.astype(np.float32))
    return np.ascontiguousarray(vectors[:, : -width - 1 : -1]).astype(np.float32)
