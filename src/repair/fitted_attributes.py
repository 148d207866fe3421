"""What a fitted reranker tells about itself: the attributes that end in an underscore."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from repair.arrays import FloatArray, IntArray, read_only
from repair.fitted_state import FitAccount, FittedState
from repair.shrinkage import Shrinkage

if TYPE_CHECKING:
    from repair.auto import AutoChoice
    from repair.selection import GridSearch
    from repair.strength import HeadLossTest

__all__ = ["FittedAttributes"]


class FittedAttributes:
    """Read-only views of a fitted model's state."""

    def _fitted(self) -> FittedState:
        raise TypeError(f"{type(self).__name__} does not say where its state is")

    @property
    def offsets_(self) -> FloatArray:
        """Fitted class offsets a, after shrinkage."""
        return read_only(self._fitted().correction.offsets)

    @property
    def weights_(self) -> dict[str, float]:
        """Fitted weight θ of each term.

        With both ``score_gap`` and ``log_prob_ratio`` chosen, which are the same column,
        ``score_gap`` is the sum of their weights.
        """
        correction = self._fitted().correction
        return {term.name: float(weight) for term, weight in zip(correction.terms, correction.weights, strict=True)}

    @property
    def tau_(self) -> float:
        """The pre-adjustment τ in use."""
        return self._fitted().correction.tau

    @property
    def temperature_(self) -> float:
        """The temperature in use; 1 unless a temperature was fitted."""
        scale = self._fitted().correction.scale
        return 1.0 / float(scale[0]) if len(scale) == 1 else 1.0

    @property
    def mode_(self) -> str:
        """Which model was fitted."""
        return self._fitted().account.mode

    @property
    def account_(self) -> FitAccount:
        """How the fit went: rows, coverage, iterations, notes."""
        return self._fitted().account

    @property
    def objective_(self) -> float | None:
        """Penalised weighted mean loss at the optimum; None if nothing was optimised."""
        return self.account_.objective

    @property
    def gradient_norm_(self) -> float | None:
        """Largest gradient entry where the solver stopped; None if nothing was optimised."""
        return self.account_.gradient_norm

    @property
    def converged_(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.account_.converged

    @property
    def coverage_(self) -> float:
        """Share of calibration rows whose label was on the shortlist."""
        return self.account_.n_covered / self.account_.n_rows

    @property
    def class_counts_(self) -> FloatArray:
        """Training counts if they were given, else the calibration labels' counts."""
        given = self._fitted().correction.table.class_counts
        return read_only(self._fitted().label_counts if given is None else given)

    @property
    def unseen_classes_(self) -> IntArray:
        """Classes the calibration rows say nothing about; their offset is neutral."""
        information = self._fitted().information
        known = self._fitted().label_counts if information is None else information
        return np.flatnonzero(known == 0).astype(np.int32)

    @property
    def search_(self) -> GridSearch | None:
        """The grid search, if one chose the hyperparameters in this process (it is not saved)."""
        return self._fitted().search

    @property
    def auto_(self) -> AutoChoice | None:
        """What ``mode="auto"`` looked at, if it chose in this process (the reason is in the notes)."""
        return self._fitted().auto

    @property
    def strength_(self) -> float:
        """Share of the correction that is applied; below 1 where `max_head_loss` asked for it."""
        return self._fitted().correction.strength

    @property
    def head_loss_(self) -> HeadLossTest | None:
        """The tests of ``max_head_loss``, if they were made in this process (the outcome is in the notes)."""
        return self._fitted().head_loss

    @property
    def shrinkage_(self) -> Shrinkage | None:
        """Group prior and shrinkage factors, if shrinkage was asked for."""
        return self._fitted().shrinkage
