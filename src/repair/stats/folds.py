"""Cross-validation folds and subsamples that keep groups whole."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from repair._utils.arrays import IntArray
from repair.errors import InputError
from repair.stats.row_weights import number_of_units

__all__ = [
    "FEWEST_GROUPS",
    "FEWEST_ROWS",
    "FOLDS",
    "TooFew",
    "fold_rows",
    "group_folds",
    "subsample",
    "too_few_units",
]

#: Default number of folds for held-out gains.
FOLDS = 5
#: With fewer covered rows or groups than this, held-out rows cannot distinguish a gain from chance.
FEWEST_ROWS, FEWEST_GROUPS = 50, FOLDS


class TooFew(NamedTuple):
    """What there is too little of, such as "12 covered rows", and how many are needed."""

    present: str
    needed: int


def too_few_units(n_covered: int, groups: IntArray | None) -> TooFew | None:
    """Return what there is too little of for held-out gains, or None if there are enough rows and groups.

    Parameters
    ----------
    n_covered : int
        Number of covered rows.
    groups : ndarray of int (n,) or None
        Group codes of all rows.

    Examples
    --------
    >>> from repair.stats.folds import too_few_units
    >>> too_few_units(12, None)
    TooFew(present='12 covered rows', needed=50)
    """
    if n_covered < FEWEST_ROWS:
        return TooFew(f"{n_covered} covered rows", FEWEST_ROWS)
    n_groups = number_of_units(n_covered, groups)
    return TooFew(f"{n_groups} groups", FEWEST_GROUPS) if n_groups < FEWEST_GROUPS else None


def group_folds(n_rows: int, groups: IntArray | None, n_folds: int, seed: int) -> IntArray:
    """Return the fold number of each row.  Groups are kept whole, and folds have nearly equal size.

    Groups are assigned from the largest to the smallest, each to the fold with the fewest rows so
    far.  Groups of equal size come in random order.

    Parameters
    ----------
    n_rows : int
    groups : ndarray of int (n_rows,) or None
        Consecutive group codes from 0.  With None, rows are assigned one by one.
    n_folds : int
    seed : int
        Seed for the random order of the groups.

    Returns
    -------
    ndarray of int32 (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.folds import group_folds
    >>> folds = group_folds(6, np.array([0, 0, 0, 1, 2, 2]), 2, seed=0)
    >>> sorted(np.bincount(folds).tolist()), bool(folds[0] == folds[1] == folds[2])
    ([3, 3], True)
    """
    rng = np.random.default_rng(seed)
    if groups is None:
        return (rng.permutation(n_rows) % n_folds).astype(np.int32)
    sizes = np.bincount(groups)
    if len(sizes) < n_folds:
        raise InputError(f"{len(sizes)} groups cannot fill {n_folds} folds; use more groups or fewer folds")
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    fold_of = np.empty(len(sizes), dtype=np.int32)
    filled = np.zeros(n_folds, dtype=np.int64)
    for group in order:
        fold_of[group] = np.argmin(filled)
        filled[fold_of[group]] += sizes[group]
    folds: IntArray = fold_of[groups]
    return folds


def fold_rows(folds: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the training rows and the held-out rows of each fold.  Rows of fold −1 are in neither.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.folds import fold_rows
    >>> [(train.tolist(), test.tolist()) for train, test in fold_rows(np.array([0, 1, -1, 1]))]
    [([1, 3], [0]), ([0], [1, 3])]
    """
    for fold in range(int(folds.max()) + 1):
        held_out = folds == fold
        yield np.flatnonzero(~held_out & (folds >= 0)).astype(np.int32), np.flatnonzero(held_out).astype(np.int32)


def subsample(n_rows: int, groups: IntArray | None, share: float, seed: int) -> IntArray:
    """Return the sorted rows of a random `share` of the groups, or a random `share` of the rows without groups.

    Examples
    --------
    >>> from repair.stats.folds import subsample
    >>> len(subsample(10, None, 0.8, seed=0))
    8
    """
    rng = np.random.default_rng(seed)
    n_units = n_rows if groups is None else int(groups.max()) + 1
    chosen = np.zeros(n_units, dtype=bool)
    chosen[rng.permutation(n_units)[: max(1, round(share * n_units))]] = True
    return np.flatnonzero(chosen if groups is None else chosen[groups]).astype(np.int32)
