"""Rare and frequent classes: the strata for which gains and losses are reported separately."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import BoolArray, FloatArray, IntArray
from repair.validation.checks import as_array, check_choice, check_class_vector

__all__ = ["STRATA", "ClassStrata", "Strata", "class_strata", "number_of_rare_classes", "rare_classes", "strata_of"]

#: The rules by which classes are divided, and the names of the strata, those with the fewest examples first.
STRATA = {"paper": ("rare", "frequent"), "mass": ("rare", "frequent"), "counts": ("few", "medium", "many")}
#: "mass": the largest share of the training examples that the rare classes have together.
TAIL_MASS = 0.2
#: "counts": few is below the first number of training examples, many is above the second.
FEW, MANY = 20, 100
#: If four fifths of the classes have more than this share of the training examples, they are not called rare.
LARGEST_TAIL = 0.5
#: If no class has this many times the examples of another, no class is called rare.
BALANCED = 2.0


class Strata(NamedTuple):
    """Rows of rare and of frequent classes.  Rows whose label is not a known class are in neither."""

    rare: BoolArray
    frequent: BoolArray


@dataclass(frozen=True, eq=False)
class ClassStrata:
    """Classes divided by their training examples.

    Attributes
    ----------
    rule : {"paper", "mass", "counts"}
        The rule that was used.
    classes : dict of ndarray of bool (K,)
        The classes of each stratum, those with the fewest examples first.
    description : str
        The rule and its result in one sentence, for use under a table.
    """

    rule: str
    classes: dict[str, BoolArray]
    description: str

    def rows(self, labels: IntArray) -> dict[str, BoolArray]:
        """Return the rows of each stratum.  Rows whose label is not a known class are in none."""
        return {name: (labels >= 0) & which[labels] for name, which in self.classes.items()}


def number_of_rare_classes(n_classes: int) -> int:
    """Return how many of K classes are rare by the paper's rule: (4K)//5."""
    return 4 * n_classes // 5


def rare_classes(class_counts: ArrayLike) -> BoolArray:
    """Return which classes are rare by the paper's rule: the (4K)//5 classes with the lowest training count.

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
    counts = _checked(class_counts)
    rare = np.zeros(len(counts), dtype=bool)
    rare[np.argsort(counts, kind="stable")[: number_of_rare_classes(len(counts))]] = True
    return rare


def class_strata(class_counts: ArrayLike, rule: str | None = None) -> ClassStrata:
    """Divide classes into strata by their training examples.

    Parameters
    ----------
    class_counts : array_like, shape (K,)
        Training examples per class.
    rule : {"paper", "mass", "counts"}, optional
        ``"paper"``: the 80 % of the classes with the fewest examples are rare.  ``"mass"``: the classes
        with the fewest examples that together have at most 20 % of all examples are rare.
        ``"counts"``: few (below 20 examples), medium (20 to 100) and many (above 100).  By default,
        the paper's rule, unless its rare classes have more than half of the examples, as they often
        have with few or nearly equally frequent classes.  Then ``"mass"``, and no class is rare if no
        class has twice the examples of another.

    Returns
    -------
    ClassStrata

    Examples
    --------
    >>> from repair import class_strata
    >>> class_strata([900, 50, 40, 8, 2]).rule, class_strata([40, 30, 20, 8, 2]).rule
    ('paper', 'mass')
    >>> class_strata([40, 30, 20, 8, 2]).classes["rare"].tolist()
    [False, False, False, True, True]
    >>> print(class_strata([900, 50, 40, 8, 2], "counts").description)
    Strata by training examples: few (below 20, 2 classes), medium (20 to 100, 2), many (above 100, 1).
    """
    counts = _checked(class_counts)
    if rule is not None:
        check_choice(rule, "strata", tuple(STRATA))
    if rule == "counts":
        return _by_count(counts)
    paper = rare_classes(counts)
    held = _share(counts, paper)
    if rule == "paper" or (rule is None and held <= LARGEST_TAIL):
        text = f"{_rare(paper)} with the fewest training examples (the paper's four fifths of the classes)"
        return _two_way("paper", paper, f"{text}, which have {100 * held:.0f} % of the examples.")
    instead = "" if rule else f" The paper's four fifths of the classes have {100 * held:.0f} % of them."
    if rule is None and counts.max() < BALANCED * counts.min():
        text = f"No class is called rare, because no class has {BALANCED:g} times the training examples of another."
        return _two_way("mass", np.zeros(len(counts), dtype=bool), text)
    rare = _tail(counts)
    text = f"{_rare(rare)} with the fewest training examples, which together have at most {100 * TAIL_MASS:.0f} %"
    return _two_way("mass", rare, f"{text} of the examples (here {100 * _share(counts, rare):.0f} %).{instead}")


def strata_of(labels: IntArray, class_counts: ArrayLike) -> Strata:
    """Return which rows belong to rare and which to frequent classes, by the default rule of `class_strata`.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.stats.strata import strata_of
    >>> [rows.tolist() for rows in strata_of(np.array([0, 1, -1]), [50, 3, 3, 8, 1])]
    [[False, True, False], [True, False, False]]
    """
    return Strata(**class_strata(class_counts).rows(labels))


def _checked(class_counts: ArrayLike) -> FloatArray:
    return check_class_vector(class_counts, "class_counts", as_array(class_counts, "class_counts").size)


def _by_count(counts: FloatArray) -> ClassStrata:
    classes = {"few": counts < FEW, "medium": (counts >= FEW) & (counts <= MANY), "many": counts > MANY}
    few, medium, many = (int(which.sum()) for which in classes.values())
    return ClassStrata(
        "counts",
        classes,
        f"Strata by training examples: few (below {FEW}, {few} classes), medium ({FEW} to {MANY}, {medium}), "
        f"many (above {MANY}, {many}).",
    )


def _tail(counts: FloatArray) -> BoolArray:
    """Return the classes with the fewest examples that together have at most a fifth.  Equal counts stay together."""
    members = np.unique(counts, return_inverse=True)[1]
    mass = np.cumsum(np.bincount(members, counts))
    rare: BoolArray = (mass <= TAIL_MASS * counts.sum())[members]
    return rare


def _share(counts: FloatArray, which: BoolArray) -> float:
    total = float(counts.sum())
    return float(counts[which].sum()) / total if total > 0 else 0.0


def _rare(which: BoolArray) -> str:
    return f"Rare: the {int(which.sum())} of {len(which)} classes"


def _two_way(rule: str, rare: BoolArray, description: str) -> ClassStrata:
    return ClassStrata(rule, {"rare": rare, "frequent": ~rare}, description)
