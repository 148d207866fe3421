"""Similarity by the overlap of sets: the Jaccard index of all pairs, computed by sparse products."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from repair._utils.arrays import FloatArray
from repair.errors import InputError

__all__ = ["check_sets", "jaccard", "weighted_jaccard"]

#: Entries of the result that are computed at once.  The sparse product of a block takes 12 bytes per entry.
BLOCK_ENTRIES = 4_000_000


def jaccard(sets: Sequence[Iterable[Hashable]]) -> FloatArray:
    """Return the share of common members, |A ∩ B| / |A ∪ B|, for all pairs of classes.

    Parameters
    ----------
    sets : sequence of K collections of hashables
        Members of each class.  Repeated members count once.

    Returns
    -------
    ndarray of float64, shape (K, K)
        Symmetric, from 0 to 1, with 1 on the diagonal.  An empty set has similarity 0 to every other
        set, also to other empty sets, because nothing is known about either class.

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
        Members of each class.  Weights are added in the order in which members first occur, so
        sorted collections give bit-identical results in every process.
    weights : mapping from members to numbers of 0 or more, or None
        Weight of each member.  With None, each has weight 1.

    Returns
    -------
    ndarray of float64, shape (K, K)
        Symmetric, from 0 to 1, with 1 on the diagonal.  Classes whose union has weight 0 have
        similarity 0.

    Examples
    --------
    >>> weighted_jaccard([["fur", "claws"], ["fur", "mane"]], {"fur": 1.0, "claws": 3.0, "mane": 4.0})
    array([[1.   , 0.125],
           [0.125, 1.   ]])
    """
    members, weight_of_column = _membership(check_sets(sets, "sets"), weights)
    n_classes = members.shape[0]
    weighted = members.multiply(weight_of_column).tocsr()
    weighted.sort_indices()  # so (i, j) and (j, i) add the same numbers in the same order
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
    np.minimum(result, 1.0, out=result)  # rounding can make a union smaller than its common part
    np.fill_diagonal(result, 1.0)
    return result


def check_sets(sets: Sequence[Iterable[Hashable]], name: str) -> list[Collection[Hashable]]:
    """Return the sets as collections, or raise an error if `sets` is not a sequence of collections.

    Parameters
    ----------
    sets : sequence of K iterables
    name : str
        Name of the argument, for error messages.

    Returns
    -------
    list of collections

    Examples
    --------
    >>> check_sets([["b", "a"], range(2)], "sets")
    [['b', 'a'], range(0, 2)]
    """
    if isinstance(sets, str | bytes | Mapping) or not isinstance(sets, Iterable):
        raise InputError(f"{name} is {type(sets).__name__}; pass a list with one collection for each class")
    checked: list[Collection[Hashable]] = []
    for position, members in enumerate(sets):
        if isinstance(members, str | bytes) or not isinstance(members, Iterable):
            raise InputError(f"{name}[{position}] is {members!r}, not a collection; pass a set or list for each class")
        checked.append(members if isinstance(members, Collection) else list(members))
    return checked


def _membership(sets: list[Collection[Hashable]], weights: Mapping[Any, float] | None) -> tuple[Any, FloatArray]:
    """Return the class × member matrix of zeros and ones, and the weights of the members."""
    from scipy.sparse import csr_matrix

    column_of: dict[Hashable, int] = {}
    columns: list[int] = []
    ends = [0]
    for collection in sets:
        columns += dict.fromkeys(column_of.setdefault(member, len(column_of)) for member in collection)
        ends.append(len(columns))
    shape = len(sets), len(column_of)
    members = csr_matrix((np.ones(len(columns)), np.array(columns, dtype=np.int32), np.array(ends)), shape=shape)
    if weights is None:
        return members, np.ones(len(column_of))
    return members, np.array([weights[member] for member in column_of], dtype=np.float64)
