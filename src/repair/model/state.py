"""The state of a fitted model, and the summary of its fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray
from repair._utils.lazy import lazy
from repair.data.adjusted_shortlist import list_adjustment
from repair.data.score_scale import AS_THEY_ARE, ScoreScale
from repair.model.adjustments import MACRO, Adjustments
from repair.model.choice import Choice
from repair.model.correction import Correction
from repair.model.fingerprint import Fingerprint
from repair.model.shrinkage import Shrinkage
from repair.stats.label_shares import LabelShares
from repair.validation.checks import ValueNames

if TYPE_CHECKING:  # a model that is loaded has none of these, and should not wait for their import
    from repair.model.tuning_records import AutoChoice, GridSearchResult, HeadLossTest

__all__ = ["FitSummary", "FittedState"]


@dataclass(frozen=True)
class FitSummary:
    """The summary of a fit.  It is saved with the model.

    Attributes
    ----------
    mode : str
        The mode that was fitted.
    n_rows, n_covered, n_unknown : int
        Number of calibration rows, of covered rows, and of rows whose label is −1 or not a known
        class.
    effective_rows : float
        Effective number of covered rows, or of groups if there are any.
    objective, gradient_norm : float or None
        Value and gradient norm at which the solver stopped, None if nothing was optimised.
    iterations : int, default 0
        Iterations of the solver.
    converged : bool, default True
        Whether the solver and the search for the priors converged.
    notes : tuple of str, default ()
        Sentences about this fit that users should know.
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


@dataclass(frozen=True, eq=False)
class FittedState:
    """The complete state of a fitted model.  It is immutable and always replaced as a whole.

    Attributes
    ----------
    correction : Correction
    n_candidates : int
        Number of candidates per row that are returned.
    labels_are_names : bool
        Whether predictions are class names.
    label_counts : ndarray (K,)
        Calibration rows per class.
    label_shares : LabelShares
        Class shares under the weights of the fit.
    summary : FitSummary
    choice : Choice
        The hyperparameters that ``fit`` chose.
    information : ndarray (K,) or None
        J of each class, the information in the rows about its offset.
    shrinkage : Shrinkage or None
    shortlist_tau : float, default 0.0
        Exponent τ used to build the shortlist.  0 gives the classifier's own shortlist.
    n_ranked : int, default 0
        Number of candidates per row that are ranked, if it is more than `n_candidates`.
    fingerprint : Fingerprint or None
        What the scores of the calibration rows looked like.  None in a file of an older version.
    scale : ScoreScale
        How the scores of new rows are converted before anything else.
    columns : dict from str to str
        Names of the columns of the calibration file by role, if the rows came from a file.
    search, auto, head_loss : GridSearchResult, AutoChoice, HeadLossTest, or None
        Records of the tuning, if it ran in this process.  They are not saved.
    """

    correction: Correction
    n_candidates: int
    labels_are_names: bool
    label_counts: FloatArray
    label_shares: LabelShares
    summary: FitSummary
    choice: Choice = field(default_factory=Choice)
    information: FloatArray | None = None
    shrinkage: Shrinkage | None = None
    shortlist_tau: float = 0.0
    n_ranked: int = 0
    fingerprint: Fingerprint | None = None
    scale: ScoreScale = AS_THEY_ARE
    columns: dict[str, str] = field(default_factory=dict)
    search: GridSearchResult | None = None
    auto: AutoChoice | None = None
    head_loss: HeadLossTest | None = None

    @property
    def calibration_prior(self) -> FloatArray:
        """The class shares under the weights of the fit."""
        return self.label_shares.smoothed

    @property
    def class_counts(self) -> FloatArray:
        """Training examples per class if they were given, else calibration rows per class."""
        given = self.correction.table.class_counts
        return self.label_counts if given is None else given

    @property
    def width(self) -> int:
        """The number of candidates per row that are ranked."""
        return max(self.n_candidates, self.n_ranked)

    @property
    def cuts(self) -> bool:
        """Whether fewer candidates are returned than are ranked."""
        return self.n_ranked > self.n_candidates

    @lazy
    def macro_rarity(self) -> FloatArray:
        """Return log(1/share) of each class, for the class shares that the corrected scores follow.

        A fit learns the shares of the calibration rows.  One row is added per class, because a class
        without rows would otherwise win everywhere.  Scores without a fit follow the shares of the
        training rows, except for the part that a τ has already taken out.
        """
        if self.correction.learned_shares:
            rows: FloatArray = self.label_counts.sum() * self.calibration_prior + 1.0
            rarity: FloatArray = np.log(rows.sum()) - np.log(rows)
        else:
            rarity = (1.0 - self.correction.tau) * self.correction.table.log_rarity
        return rarity

    def adjustments(
        self, dial: float | str, target_prior: ArrayLike | None = None, class_costs: ArrayLike | None = None
    ) -> Adjustments:
        """Return the adjustments of a ranking, or raise an error if an argument is invalid."""
        return Adjustments.build(
            dial,
            target_prior,
            class_costs,
            self.label_shares,
            self.correction.table.class_names,
            self.macro_rarity if isinstance(dial, str) and dial == MACRO else None,
        )

    @lazy
    def list_adjustment(self) -> FloatArray | None:
        """Return what is added to the scores while the shortlist is chosen, or None."""
        return list_adjustment(self.correction.table, self.shortlist_tau)

    @lazy
    def names(self) -> AnyArray:
        """Return the class names (or values), with '' (or −1) as the last entry, which id −1 selects."""
        names = self.correction.table.class_names
        if isinstance(names, ValueNames):
            return names.values
        return np.array([*(names or ()), ""])
