"""Row weights: for rows that share a group, and for rows of rare classes."""

import numpy as np

from repair._utils.arrays import FloatArray, IntArray, dot

__all__ = [
    "describe_weights",
    "effective_number",
    "equal_group_weights",
    "number_of_units",
    "renumbered",
    "rows_in_own_group",
    "tilted_weights",
]


def rows_in_own_group(groups: IntArray) -> IntArray:
    """Return the number of rows in the group of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.row_weights import rows_in_own_group
    >>> rows_in_own_group(np.array([0, 1, 0])).tolist()
    [2, 1, 2]
    """
    return np.bincount(groups)[groups].astype(np.int32)


def equal_group_weights(n_rows: int, groups: IntArray | None) -> FloatArray:
    """Return weights that count every group once: 1/(group size), or 1 without groups."""
    return np.ones(n_rows) if groups is None else 1.0 / rows_in_own_group(groups)


def describe_weights(weights: FloatArray, groups: IntArray | None) -> str:
    """Return a sentence that tells weighted percentages from plain counts, or '' if all rows weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.row_weights import describe_weights
    >>> describe_weights(np.array([0.5, 1.0, 0.5]), np.array([0, 1, 0]))
    ' Percentages count every group once; numbers of rows are plain counts.'
    >>> describe_weights(np.ones(3), None)
    ''
    """
    if len(weights) == 0 or np.allclose(weights, weights[0]):
        return ""
    by_group = groups is not None and np.ptp(weights * rows_in_own_group(groups)) <= 1e-9 * weights.max()
    how = "count every group once" if by_group else "use the row weights"
    return f" Percentages {how}; numbers of rows are plain counts."


def renumbered(groups: IntArray) -> IntArray:
    """Return group codes numbered from 0 without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.row_weights import renumbered
    >>> renumbered(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    return np.unique(groups, return_inverse=True)[1].astype(np.int32)


def number_of_units(n_rows: int, groups: IntArray | None) -> int:
    """Return how many independent units there are: groups, or rows without groups."""
    return n_rows if groups is None else len(np.unique(groups))


def effective_number(weights: FloatArray, groups: IntArray | None) -> float:
    """Return the effective sample size (Σw)²/Σw², where the rows of a group count as one.

    Rows of a group may be copies of each other.  If each counted as evidence, the shrinkage would
    trust class offsets that rest on a single publication or patient.
    """
    mass: FloatArray = weights if groups is None else np.bincount(groups, weights).astype(np.float64)
    return float(mass.sum() ** 2 / dot(mass, mass))


def tilted_weights(
    importance: FloatArray, labels: IntArray, class_counts: FloatArray | None, alpha: float
) -> FloatArray:
    """Return row weights w that sum to 1.

    The weights are ``(1−α)·v/Σv + α·v·u/Σ(v·u)`` with u = 1/√(count of the true class + 1).  α moves
    weight towards rare classes without changing the total.

    Parameters
    ----------
    importance : ndarray (n,)
        v.
    labels : ndarray of int (n,)
        Class ids.
    class_counts : ndarray (K,) or None
        Training examples per class, needed only if α is not 0.
    alpha : float
        α, from 0 (no upweighting) to 1.

    Returns
    -------
    ndarray (n,)
    """
    plain: FloatArray = importance / importance.sum()
    if alpha == 0.0:
        return plain
    assert class_counts is not None
    upweighted = importance / np.sqrt(class_counts[labels] + 1.0)
    tilted: FloatArray = upweighted / upweighted.sum()
    return (1.0 - alpha) * plain + alpha * tilted
