"""The class-level inputs: training counts, similarity, names, groups and weights of the classes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair._utils.lazy import lazy
from repair.errors import InputError, Remedy, pass_to_fit
from repair.similarity import Similarity

__all__ = ["ClassTable"]

#: Smallest prior in the pre-adjustment −τ·log π.  It keeps the adjustment of an empty class finite.
SMALLEST_PRIOR = 1e-8


@dataclass(frozen=True, eq=False)
class ClassTable:
    """The validated class-level inputs of a model.  Fields that were not given are None.

    Attributes
    ----------
    n_classes : int
        K.
    class_counts : ndarray (K,) or None
        Training examples per class, n.
    similarity : Similarity or None
        How easily classes are confused.
    class_names : tuple of str or None
        One distinct name per class.
    weight_norms : ndarray (K,) or None
        Norms of the classifier's weight rows.
    class_groups : ndarray of int32 (K,) or None
        Group codes of the classes.
    class_weights : ndarray (K,) or None
        Weight of each class's rows in the fit.
    """

    n_classes: int
    class_counts: FloatArray | None = None
    similarity: Similarity | None = None
    class_names: tuple[str, ...] | None = None
    weight_norms: FloatArray | None = None
    class_groups: IntArray | None = None
    class_weights: FloatArray | None = None

    def require(self, argument: str, purpose: str) -> None:
        """Raise an error, which says what the argument is needed for, unless `argument` was given."""
        if getattr(self, argument) is None:
            raise InputError(f"{purpose} needs {argument}", pass_to_fit(argument))

    def counts(self, purpose: str) -> FloatArray:
        """Return the training counts n, or raise an error that says what they are needed for."""
        self.require("class_counts", purpose)
        assert self.class_counts is not None
        return self.class_counts

    def name_of(self, class_id: int) -> str:
        """Return the name of a class, its id as text if there are no names, or '' for padding."""
        if class_id < 0:
            return ""
        return self.class_names[class_id] if self.class_names is not None else str(class_id)

    def ids_of(self, classes: Iterable[Any]) -> list[int]:
        """Return the ids of classes given by name or by id, or raise an error for a name that is not a class."""
        known = self._id_of_name
        try:
            return [known[item] if isinstance(item, str) else item for item in classes]
        except KeyError as error:
            if self.class_names is None:
                raise InputError(
                    f"{error.args[0]!r} is a class name, but the model has no names; pass class ids"
                ) from None
            raise InputError(f"{error.args[0]!r} is not one of the {self.n_classes} classes; check its name") from None

    @lazy
    def _id_of_name(self) -> dict[str, int]:
        """Return the id of each class by its name.  Empty if there are no names."""
        return {name: position for position, name in enumerate(self.class_names or ())}

    @lazy
    def log_prior(self) -> FloatArray:
        """Logarithm of π = max(n/Σn, 1e-8), used by the pre-adjustment."""
        counts = self.counts("tau (the pre-adjustment −τ·log π)")
        shares: FloatArray = counts / counts.sum()
        return np.log(np.maximum(shares, SMALLEST_PRIOR))

    @lazy
    def log_counts(self) -> FloatArray:
        """Logarithm of n + 1, used by the log-frequency ratio."""
        return np.log(self.counts("the term 'log_freq_ratio'") + 1.0)

    @lazy
    def log_rarity(self) -> FloatArray:
        """Logarithm of 1/prior with prior = (n+1)/Σ(n+1), the log class weights of the dial."""
        if self.class_counts is None:  # a fit with a dial has checked this, so it is asked for a fitted model
            remedy = Remedy("fit-again", "fit the model again with class_counts=…", "class_counts")
            raise InputError("the dial needs class_counts, and this model was fitted without", remedy)
        counts = self.class_counts + 1.0
        shares: FloatArray = counts / counts.sum()
        return -np.log(shares)
