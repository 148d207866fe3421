"""How much two sets overlap: the Jaccard index of all pairs by sparse products."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from repair.arrays import FloatArray
from repair.errors import InputError

__all__ = ["check_sets", "jaccard", "weighted_jaccard"]

#: Entries of the result that are computed at once; a block's sparse product takes 12 bytes for each.
BLOCK_ENTRIES = 4_000_000


def jaccard(sets: Sequence[Iterable[Hashable]]) -> FloatArray:
    """Return the share of common members, |A ∩ B| / |A ∪ B|, for all pairs of classes.

    Parameters
    ----------
    sets : sequence of K collections of hashables
        What each class consists of; repeated members count once.

    Returns
    -------
    ndarray of float64, shape (K, K)
        Symmetric, from 0 to 1, with 1 on the diagonal.  An empty set is similar to no other, not
        even to another empty one: nothing is known of either.

    Examples
    --------
    >>> jaccard([{"fur", "claws"}, {"fur", "claws", "mane"}, {"fins"}]).round(2)
    array([[1.  , 0.67, 0.  ],
           [0.67, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    return weighted_jaccard(sets, None)


def weighted_jaccard(sets: Sequence[Iterable[Hashable]], weights: Mapping[Any, float] | None) -> FloatArray:
    """Return Σ weights of A ∩ B / Σ weights of A ∪ B for all pairs of classes.

    Parameters
    ----------
    sets : sequence of K collections of hashables
        What each class consists of.  Weights are added in the order in which members first occur,
        so sorted collections give the same bits in every process.
    weights : mapping from members to numbers of 0 or more, or None
        What each member counts; 1 each if None.

    Returns
    -------
    ndarray of float64, shape (K, K)
        As `jaccard` returns it; classes whose union weighs nothing have similarity 0.

    Examples
    --------
    >>> weighted_jaccard([["fur", "claws"], ["fur", "mane"]], {"fur": 1.0, "claws": 3.0, "mane": 4.0})
    array([[1.   , 0.125],
           [0.125, 1.   ]])
    """
    members, weight_of_column = _membership(check_sets(sets, "sets"), weights)
    n_classes = members.shape[0]
    weighted = members.multiply(weight_of_column).tocsr()
    weighted.sort_indices()  # so that both (i, j) and (j, i) add the same numbers in the same order
    rows = np.repeat(np.arange(n_classes), np.diff(weighted.indptr))
    total = np.bincount(rows, weighted.data, minlength=n_classes)
    transposed = members.T.tocsr()
    result = np.zeros((n_classes, n_classes))
    step = max(BLOCK_ENTRIES // max(n_classes, 1), 1)
    for start in range(0, n_classes, step):
        block = slice(start, start + step)
        common = (weighted[block] @ transposed).toarray()
        union = total[block, None] + total - common
        np.divide(common, union, out=result[block], where=union > 0)
    np.minimum(result, 1.0, out=result)  # a union can be rounded below its common part
    np.fill_diagonal(result, 1.0)
    return result


def check_sets(sets: Sequence[Iterable[Hashable]], name: str) -> list[Collection[Hashable]]:
    """Return the sets as collections, or refuse what is not a sequence of collections.

    Examples
    --------
    >>> check_sets([["b", "a"], range(2)], "sets")
    [['b', 'a'], range(0, 2)]
    """
    if isinstance(sets, str | bytes | Mapping) or not isinstance(sets, Iterable):
        raise InputError(f"{name} is {type(sets).__name__}; pass a list with one collection for each class")
    checked: list[Collection[Hashable]] = []
    for position, one in enumerate(sets):
        if isinstance(one, str | bytes) or not isinstance(one, Iterable):
            raise InputError(f"{name}[{position}] is {one!r}, not a collection; pass a set or list for each class")
        checked.append(one if isinstance(one, Collection) else list(one))
    return checked


def _membership(sets: list[Collection[Hashable]], weights: Mapping[Any, float] | None) -> tuple[Any, FloatArray]:
    """Return the class × member matrix of ones, and the members' weights."""
    from scipy.sparse import csr_matrix

    column_of: dict[Hashable, int] = {}
    columns: list[int] = []
    ends = [0]
    for one in sets:
        columns += dict.fromkeys(column_of.setdefault(member, len(column_of)) for member in one)
        ends.append(len(columns))
    shape = len(sets), len(column_of)
    members = csr_matrix((np.ones(len(columns)), np.array(columns, dtype=np.int32), np.array(ends)), shape=shape)
    if weights is None:
        return members, np.ones(len(column_of))
    return members, np.array([weights[member] for member in column_of], dtype=np.float64)
