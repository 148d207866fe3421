"""The scores of a scikit-learn classifier as reranking needs them: finite numbers, one column per class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.errors import InputError

__all__ = ["RESPONSE_METHODS", "FittedBase", "class_codes", "floor_of"]

#: What a base can be asked for.  "auto" takes the first that it has.
RESPONSE_METHODS = ("auto", "decision_function", "predict_proba")
#: Probabilities are never raised to less than this, so that their logarithm is finite.
SMALLEST_FLOOR = 1e-12


@dataclass(frozen=True, eq=False)
class FittedBase:
    """A fitted classifier, and which classes its columns are.

    Attributes
    ----------
    estimator : object
        The classifier, with ``decision_function`` or ``predict_proba``.
    columns : ndarray of int (m,)
        Class id of each of its classes.  It may know fewer than there are.
    n_classes : int
        Number of classes K.
    method : {"decision_function", "predict_proba"}
    floor : float, default 0.0
        Smaller probabilities are replaced by this one.  0 leaves them unchanged.
    """

    estimator: Any
    columns: IntArray
    n_classes: int
    method: str
    floor: float = 0.0

    @classmethod
    def of(cls, estimator: Any, columns: AnyArray, n_classes: int, method: str) -> FittedBase:
        """Choose the method of a fitted classifier, or raise an error if it has none."""
        wanted = RESPONSE_METHODS[1:] if method == "auto" else (method,)
        found = next((name for name in wanted if hasattr(estimator, name)), None)
        if found is None:
            raise InputError(f"{type(estimator).__name__} has no {' or '.join(wanted)}; reranking needs scores")
        return cls(estimator, columns.astype(np.int32), n_classes, found)

    def response(self, rows: Any) -> FloatArray:
        """Return what the classifier says about some rows, one column per class that it knows."""
        given = np.asarray(getattr(self.estimator, self.method)(rows), dtype=np.float64)
        if given.ndim == 1 and len(self.columns) == 2:  # the score of the second class, against the first one
            given = np.column_stack([-0.5 * given, 0.5 * given])
        if given.ndim != 2 or given.shape[1] != len(self.columns):
            other = hasattr(self.estimator, "predict_proba") and self.method != "predict_proba"
            raise InputError(
                f"{self.method} of {type(self.estimator).__name__} has shape {given.shape}, but there are "
                f"{len(self.columns)} classes" + ("; pass response_method='predict_proba'" if other else "")
            )
        return given

    def scores(self, rows: Any) -> FloatArray:
        """Return the scores of all classes, −Inf for classes that the base does not know."""
        return self.as_scores(self.response(rows))

    def as_scores(self, response: FloatArray) -> FloatArray:
        """Return a response as scores of all classes: decisions as they are, probabilities as their logarithms."""
        if self.method == "predict_proba":
            response = np.log(np.maximum(response, max(self.floor, SMALLEST_FLOOR)))
        if len(self.columns) == self.n_classes and (self.columns == np.arange(self.n_classes)).all():
            return response
        scores = np.full((len(response), self.n_classes), -np.inf)
        scores[:, self.columns] = response
        return scores

    def with_floor(self, floor: float) -> FittedBase:
        """Return the same base with another floor."""
        return replace(self, floor=floor)


def floor_of(responses: Sequence[FloatArray]) -> float:
    """Return half of the smallest probability above 0, the floor for the probabilities that are 0.

    A forest says 0 for what none of its trees has seen.  That is less than its smallest other answer, but
    how much less nobody knows, and −Inf would take the class off every shortlist.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.integrations.base_scores import floor_of
    >>> floor_of([np.array([[0.0, 0.25, 0.75]]), np.array([[0.1, 0.9, 0.0]])])
    0.05
    """
    smallest = min(float(response[response > 0].min(initial=1.0)) for response in responses)
    return max(0.5 * smallest, SMALLEST_FLOOR)


def class_codes(labels: AnyArray, classes: AnyArray) -> IntArray:
    """Return the place of each label among the sorted classes, −1 for labels that are not among them.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.integrations.base_scores import class_codes
    >>> class_codes(np.array(["lynx", "emu", "cat"]), np.array(["cat", "lynx"])).tolist()
    [1, -1, 0]
    """
    place_of = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([place_of.get(label, -1) for label in labels.tolist()], dtype=np.int32)
