"""What a fitted model holds, and how its fit went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from repair.arrays import AnyArray, FloatArray
from repair.correction import Correction
from repair.lazy import lazy
from repair.priors import LabelShares
from repair.shrinkage import Shrinkage

if TYPE_CHECKING:
    from repair.auto import AutoChoice
    from repair.selection import GridSearch
    from repair.strength import HeadLossTest

__all__ = ["FitAccount", "FittedState"]


@dataclass(frozen=True)
class FitAccount:
    """How the fit went, in plain numbers: saved with the model and shown by its attributes.

    Attributes
    ----------
    mode : str
        Which model was fitted.
    n_rows, n_covered, n_unknown : int
        Calibration rows, those with their label on the shortlist, and those whose label is −1 or
        a name the class table does not have.
    effective_rows : float
        How many equally weighted covered rows, or groups, would tell as much.
    objective, gradient_norm : float or None
        Where the solver stopped; None if nothing was optimised.
    iterations : int
    converged : bool
    notes : tuple of str
        What there is to say about this fit.
    chosen : dict
        Hyperparameters that ``fit`` chose itself, such as a tuned τ.
    """

    mode: str
    n_rows: int
    n_covered: int
    n_unknown: int
    effective_rows: float
    objective: float | None = None
    gradient_norm: float | None = None
    iterations: int = 0
    converged: bool = True
    notes: tuple[str, ...] = ()
    chosen: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FittedState:
    """Everything a fitted model holds; replaced whole or not at all."""

    correction: Correction
    n_candidates: int
    labels_are_names: bool
    label_counts: FloatArray
    label_shares: LabelShares
    account: FitAccount
    information: FloatArray | None = None
    shrinkage: Shrinkage | None = None
    list_adjustment: FloatArray | None = None
    search: GridSearch | None = None
    auto: AutoChoice | None = None
    head_loss: HeadLossTest | None = None

    @property
    def calibration_prior(self) -> FloatArray:
        """The class shares that the fit's weights stand for."""
        return self.label_shares.smoothed

    @lazy
    def names(self) -> AnyArray:
        """Return the class names, and '' as the last entry, where −1 finds it."""
        return np.array([*(self.correction.table.class_names or ()), ""])
