"""The attributes of a fitted reranker, whose names end in an underscore."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray, read_only
from repair.model.choice import Choice
from repair.model.fingerprint import Fingerprint
from repair.model.shrinkage import Shrinkage
from repair.model.state import FitSummary, FittedState
from repair.validation.checks import check_number

if TYPE_CHECKING:
    from repair.model.tuning_records import AutoChoice, GridSearchResult, HeadLossTest

__all__ = ["FittedAttributes"]


class FittedAttributes:
    """Read-only views of a fitted model's state."""

    dial: float | str | None
    strength: float | None

    @property
    def state(self) -> FittedState:
        """The complete fitted state."""
        raise TypeError(f"{type(self).__name__} does not implement state")

    @property
    def classes_(self) -> AnyArray:
        """The classes in the order of the score columns, as names if the labels were names, else as ids."""
        if self.state.labels_are_names:
            names = self.state.names[:-1]
            return names.astype(bool) if names.dtype == object else names
        return np.arange(self.state.correction.table.n_classes)

    @property
    def offsets_(self) -> FloatArray:
        """Fitted class offsets a, after shrinkage."""
        return read_only(self.state.correction.offsets)

    @property
    def weights_(self) -> dict[str, float]:
        """Fitted weight θ of each term.

        If both ``score_gap`` and ``log_prob_ratio`` are used, which are the same column, the weight of
        ``score_gap`` is the sum of both.
        """
        correction = self.state.correction
        return {term.name: float(weight) for term, weight in zip(correction.terms, correction.weights, strict=True)}

    @property
    def tau_(self) -> float:
        """The exponent τ of the pre-adjustment in use."""
        return self.state.correction.tau

    @property
    def temperature_(self) -> float:
        """The temperature in use, which is 1 unless a temperature was fitted."""
        scale = self.state.correction.scale
        return 1.0 / float(scale[0]) if len(scale) == 1 else 1.0

    @property
    def mode_(self) -> str:
        """The mode of the fitted model."""
        return self.state.summary.mode

    @property
    def fit_summary_(self) -> FitSummary:
        """The summary of the fit: numbers of rows, coverage, iterations and notes."""
        return self.state.summary

    @property
    def fingerprint_(self) -> Fingerprint | None:
        """What the scores of the calibration rows looked like.  ``rerank`` compares new scores with it."""
        return self.state.fingerprint

    @property
    def objective_(self) -> float | None:
        """Penalised weighted mean loss at the optimum, or None if nothing was optimised."""
        return self.fit_summary_.objective

    @property
    def gradient_norm_(self) -> float | None:
        """Largest gradient entry where the solver stopped, or None if nothing was optimised."""
        return self.fit_summary_.gradient_norm

    @property
    def converged_(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.fit_summary_.converged

    @property
    def coverage_(self) -> float:
        """Share of calibration rows whose label was on the shortlist."""
        return self.fit_summary_.n_covered / self.fit_summary_.n_rows

    @property
    def class_counts_(self) -> FloatArray:
        """Training examples per class if they were given, else calibration rows per class."""
        return read_only(self.state.class_counts)

    @property
    def unseen_classes_(self) -> IntArray:
        """Ids of the classes about which the calibration rows have no information.  Their offset is neutral."""
        information = self.state.information
        evidence = self.state.label_counts if information is None else information
        return np.flatnonzero(evidence == 0).astype(np.int32)

    @property
    def search_(self) -> GridSearchResult | None:
        """The result of the grid search, if one ran in this process.  It is not saved."""
        return self.state.search

    @property
    def auto_(self) -> AutoChoice | None:
        """What ``mode="auto"`` tried, if it ran in this process.  Only the reason is saved, as a note."""
        return self.state.auto

    @property
    def strength_(self) -> float:
        """Share of the correction that is applied: the parameter ``strength``, or what `head_loss` chose, or 1."""
        if self.strength is None:
            return self.state.correction.strength
        return check_number(self.strength, "strength", 0.0, 1.0)

    @property
    def dial_(self) -> float | str:
        """The dial in effect: the parameter ``dial``, or what ``auto`` chose, or 0."""
        if self.dial is not None:
            return self.dial
        return self.state.choice.dial or 0.0

    @property
    def chosen_(self) -> Choice:
        """The hyperparameters that ``fit`` chose, by the names of the parameters."""
        return self.state.choice

    @property
    def head_loss_(self) -> HeadLossTest | None:
        """The tests of the head-loss limit, if they ran in this process.  Only the outcome is saved, as a note."""
        return self.state.head_loss

    @property
    def shrinkage_(self) -> Shrinkage | None:
        """Group prior and shrinkage factors, or None if offsets were not shrunk."""
        return self.state.shrinkage
