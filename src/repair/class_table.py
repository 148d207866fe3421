"""What is known about each class: training counts, similarity, names, and the like."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import BoolArray, FloatArray, IntArray
from repair.errors import InputError
from repair.inputs import as_array, check_class_vector
from repair.lazy import lazy
from repair.similarity import Similarity

__all__ = ["ClassTable", "rare_classes"]

#: Smallest prior that the pre-adjustment −τ·log π uses, so that an empty class stays finite.
SMALLEST_PRIOR = 1e-8


@dataclass(frozen=True, eq=False)
class ClassTable:
    """The class-level inputs of a model, checked; `None` where the user gave none."""

    n_classes: int
    class_counts: FloatArray | None = None
    similarity: Similarity | None = None
    class_names: tuple[str, ...] | None = None
    weight_norms: FloatArray | None = None
    class_groups: IntArray | None = None

    def require(self, argument: str, purpose: str) -> None:
        """Refuse unless `argument` was given, naming it and what it is needed for."""
        if getattr(self, argument) is None:
            raise InputError(f"{purpose} needs {argument}; pass {argument}=… to fit")

    def counts(self, purpose: str) -> FloatArray:
        """Return the training counts n, or refuse, saying what they were wanted for."""
        self.require("class_counts", purpose)
        assert self.class_counts is not None
        return self.class_counts

    def name_of(self, class_id: int) -> str:
        """Return the class's name, or its id as text; '' for padding."""
        if class_id < 0:
            return ""
        return self.class_names[class_id] if self.class_names is not None else str(class_id)

    @lazy
    def log_prior(self) -> FloatArray:
        """Logarithm of π = max(n/Σn, 1e-8), as the pre-adjustment uses it."""
        counts = self.counts("tau (the pre-adjustment −τ·log π)")
        shares: FloatArray = counts / counts.sum()
        return np.log(np.maximum(shares, SMALLEST_PRIOR))

    @lazy
    def log_counts(self) -> FloatArray:
        """Logarithm of n + 1, as the log-frequency ratio uses it."""
        return np.log(self.counts("the term 'log_freq_ratio'") + 1.0)

    @lazy
    def log_rarity(self) -> FloatArray:
        """Logarithm of 1/prior with prior = (n+1)/Σ(n+1): the class weights of the dial."""
        counts = self.counts("the dial") + 1.0
        shares: FloatArray = counts / counts.sum()
        return -np.log(shares)


def rare_classes(class_counts: ArrayLike) -> BoolArray:
    """Say which classes are rare: the (4K)//5 with the lowest training count.

    Parameters
    ----------
    class_counts : array_like, shape (K,)
        Training examples per class.  Of classes with equal counts the lower ids are rare first.

    Returns
    -------
    ndarray of bool, shape (K,)

    Examples
    --------
    >>> from repair.metrics import rare_classes
    >>> rare_classes([50, 3, 3, 8, 1]).tolist()
    [False, True, True, True, True]
    """
    counts = check_class_vector(class_counts, "class_counts", as_array(class_counts, "class_counts").size)
    rare = np.zeros(len(counts), dtype=bool)
    rare[np.argsort(counts, kind="stable")[: 4 * len(counts) // 5]] = True
    return rare
