"""A design with its row weights and penalties, ready for the solver."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair.fitting.conditional_logit import ConditionalLogit, Penalty
from repair.fitting.design_matrix import Design
from repair.fitting.newton import Solution, minimize
from repair.fitting.settings import FitSettings
from repair.model.shrinkage import Shrinkage
from repair.stats.row_weights import effective_number

__all__ = ["Fit", "PenalisedLogit"]

#: A fit without a start first runs on a pilot, every fourth row or fewer, to a rough tolerance.  The numbers are the
#: share of the rows, the smallest and the largest number of pilot rows, and the tolerance.
PILOT_SHARE, FEWEST_PILOTS, MOST_PILOTS, PILOT_TOLERANCE = 4, 1024, 1 << 16, 1e-2


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a fit.

    Attributes
    ----------
    offsets : ndarray (K,)
        Class offsets.
    weights : ndarray (d,)
        Weights of the columns.
    information : ndarray (K,)
        J of each class, the information in the rows about its offset.
    solution : Solution
        Where the solver stopped.
    effective_rows : float
    lambda_theta : float
        Penalty of the weights.
    shrinkage : Shrinkage or None
    """

    offsets: FloatArray
    weights: FloatArray
    information: FloatArray
    solution: Solution
    effective_rows: float
    lambda_theta: float
    shrinkage: Shrinkage | None = None


class PenalisedLogit:
    """A design with row weights and penalties, and with offsets only for the classes that occur in it."""

    def __init__(self, design: Design, settings: FitSettings) -> None:
        self.design = design
        self.n_classes = design.table.n_classes
        row_weights = design.row_weights(settings.alpha)
        self.effective_rows = effective_number(row_weights, design.groups)
        self.settings = settings
        self.multiplicity = np.asarray(design.multiplicity, dtype=np.float64)
        self.priors = np.asarray(design.priors, dtype=np.int32)
        self.active = design.classes if settings.with_offsets else np.zeros(0, dtype=np.int32)
        strength = [settings.lambda_theta / count for count in design.multiplicity]
        self.ridge = self.penalty(np.full(self.n_classes, settings.lambda_a), np.zeros(self.n_classes), strength)
        self.logit = ConditionalLogit(
            design.base,
            design.class_positions if settings.with_offsets else np.zeros_like(design.ids),
            design.columns,
            design.lengths,
            design.target,
            row_weights,
            len(self.active),
            self.ridge,
        )

    def penalty(self, strength: FloatArray, centre: FloatArray, on_weights: Sequence[float]) -> Penalty:
        """Return the penalty with this strength and centre per class, and these strengths on the weights."""
        return Penalty(
            np.concatenate([strength[self.active], np.asarray(on_weights, dtype=np.float64)]),
            np.concatenate([centre[self.active], np.zeros(len(on_weights))]),
        )

    def solve(self, penalty: Penalty, start: Fit | None) -> Fit:
        """Return the fit under `penalty`, from `start` if given.  Classes that do not occur have offset 0."""
        self.logit.penalty = penalty
        first = self._pilot() if start is None else self._from(start.offsets, start.weights)
        solution = minimize(self.logit, first, self.settings.tol, self.settings.max_iter)
        return self.fit_from(solution.parameters, solution)

    def _from(self, offsets: FloatArray, weights: FloatArray) -> FloatArray:
        return np.concatenate([offsets[self.active], weights])

    def _pilot(self) -> FloatArray:
        """Return where to start: a rough solution for some of the rows, or zero if there are few rows.

        The problem is convex, so the start affects only the cost of a fit and not its solution.  With
        a pilot on a quarter of the rows, which itself starts from a quarter of those, the fit on all
        rows needs half as many iterations.
        """
        zeros = np.zeros(self.logit.size)
        n_rows = len(self.design)
        pilot_rows = slice(None, None, max(PILOT_SHARE, n_rows // MOST_PILOTS))
        if n_rows < PILOT_SHARE * FEWEST_PILOTS or not self.design.importance[pilot_rows].any():
            return zeros
        pilot = PenalisedLogit(self.design.take(pilot_rows), replace(self.settings, tol=PILOT_TOLERANCE))
        solution = minimize(pilot.logit, pilot._pilot(), PILOT_TOLERANCE, self.settings.max_iter)
        if not solution.converged:
            return zeros
        offsets, n_active = np.zeros(self.n_classes), len(pilot.active)
        offsets[pilot.active] = solution.parameters[:n_active]
        return self._from(offsets, solution.parameters[n_active:])

    def fit_from(self, parameters: FloatArray, solution: Solution) -> Fit:
        """Return the fit with offsets for all classes.  The logit must have been evaluated at `parameters` last."""
        n_active = len(self.active)
        offsets, information = np.zeros(self.n_classes), np.zeros(self.n_classes)
        offsets[self.active] = parameters[:n_active]
        information[self.active] = self.effective_rows * self.logit.offset_curvature()
        weights = parameters[n_active:].copy()
        return Fit(offsets, weights, information, solution, self.effective_rows, self.settings.lambda_theta)

    @property
    def groups(self) -> IntArray:
        """The shrinkage group of every class.  By default all classes are in one group."""
        groups = self.settings.shrinkage_groups
        return np.zeros(self.n_classes, dtype=np.int32) if groups is None else groups
