"""Cutting rows into parts that share no group."""

import numpy as np

from repair.arrays import IntArray
from repair.errors import InputError

__all__ = ["group_folds", "subsample"]


def group_folds(n_rows: int, groups: IntArray | None, n_folds: int, seed: int) -> IntArray:
    """Return a fold number for each row: whole groups, folds of nearly equal size.

    Groups are dealt out from the largest to the smallest, each to the fold with the fewest rows so
    far; groups of equal size in random order.  Without groups every row is its own.

    Parameters
    ----------
    n_rows : int
    groups : ndarray of int (n_rows,) or None
        Consecutive codes from 0.
    n_folds : int
    seed : int

    Returns
    -------
    ndarray of int32 (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from repair.folds import group_folds
    >>> folds = group_folds(6, np.array([0, 0, 0, 1, 2, 2]), 2, seed=0)
    >>> sorted(np.bincount(folds).tolist()), bool(folds[0] == folds[1] == folds[2])
    ([3, 3], True)
    """
    rng = np.random.default_rng(seed)
    if groups is None:
        return (rng.permutation(n_rows) % n_folds).astype(np.int32)
    sizes = np.bincount(groups)
    if len(sizes) < n_folds:
        raise InputError(f"{len(sizes)} groups cannot fill {n_folds} folds; pass more groups or ask for fewer folds")
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    fold_of = np.empty(len(sizes), dtype=np.int32)
    filled = np.zeros(n_folds, dtype=np.int64)
    for group in order:
        fold_of[group] = np.argmin(filled)
        filled[fold_of[group]] += sizes[group]
    folds: IntArray = fold_of[groups]
    return folds


def subsample(n_rows: int, groups: IntArray | None, share: float, seed: int) -> IntArray:
    """Return, sorted, the rows of a random `share` of the groups (of the rows, without groups).

    Examples
    --------
    >>> from repair.folds import subsample
    >>> len(subsample(10, None, 0.8, seed=0))
    8
    """
    rng = np.random.default_rng(seed)
    n_units = n_rows if groups is None else int(groups.max()) + 1
    chosen = np.zeros(n_units, dtype=bool)
    chosen[rng.permutation(n_units)[: max(1, round(share * n_units))]] = True
    return np.flatnonzero(chosen if groups is None else chosen[groups]).astype(np.int32)
