"""Rare and frequent classes: the strata for which gains and losses are reported separately."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import BoolArray, IntArray
from repair.validation.checks import as_array, check_class_vector

__all__ = ["Strata", "number_of_rare_classes", "rare_classes", "strata_of"]


class Strata(NamedTuple):
    """Rows of rare and of frequent classes.  Rows whose label is not a known class are in neither."""

    rare: BoolArray
    frequent: BoolArray


def number_of_rare_classes(n_classes: int) -> int:
    """Return how many of K classes are rare: (4K)//5."""
    return 4 * n_classes // 5


def rare_classes(class_counts: ArrayLike) -> BoolArray:
    """Return which classes are rare: the (4K)//5 classes with the lowest training count.

    Parameters
    ----------
    class_counts : array_like, shape (K,)
        Training examples per class.  Among classes with equal counts, those with lower ids count
        as rare first.

    Returns
    -------
    ndarray of bool, shape (K,)
        True for rare classes, False for frequent ones.

    Examples
    --------
    >>> from repair import rare_classes
    >>> rare_classes([50, 3, 3, 8, 1]).tolist()
    [False, True, True, True, True]
    """
    counts = check_class_vector(class_counts, "class_counts", as_array(class_counts, "class_counts").size)
    rare = np.zeros(len(counts), dtype=bool)
    rare[np.argsort(counts, kind="stable")[: number_of_rare_classes(len(counts))]] = True
    return rare


def strata_of(labels: IntArray, class_counts: ArrayLike) -> Strata:
    """Return which rows belong to rare and which to frequent classes.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.strata import strata_of
    >>> [rows.tolist() for rows in strata_of(np.array([0, 1, -1]), [50, 3, 3, 8, 1])]
    [[False, True, False], [True, False, False]]
    """
    rare, known = rare_classes(class_counts)[labels], labels >= 0
    return Strata(known & rare, known & ~rare)
