"""A fit as arrays: the design, the weights, and the classes that have an offset."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair.arrays import FloatArray, IntArray
from repair.calibration import effective_number
from repair.design import Design
from repair.objective import ConditionalLogit, Penalty
from repair.shrinkage import Shrinkage
from repair.solver import Solution, minimize

__all__ = ["Fit", "FitProblem", "FitSettings"]

#: A cold fit looks first at every fourth row (or fewer), if these are so many, until the gradient is so small.
PILOT_SHARE, FEWEST_PILOTS, MOST_PILOTS, PILOT_TOLERANCE = 4, 1024, 1 << 16, 1e-2


@dataclass(frozen=True, eq=False)
class FitSettings:
    """Everything about a fit that is chosen rather than learned (meanings as in `Reranker`).

    `evidence` lets the data set the penalty of the weights too, by marginal likelihood.
    """

    with_offsets: bool
    lambda_a: float
    lambda_theta: float
    alpha: float = 0.0
    tau: float = 0.0
    shrinkage: str | bool = False
    shrinkage_groups: IntArray | None = None
    evidence: bool = False
    tol: float = 1e-8
    max_iterations: int = 100


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted offsets (K,) and weights (d,), with the account of how they were found."""

    offsets: FloatArray
    weights: FloatArray
    information: FloatArray
    solution: Solution
    effective_rows: float
    lambda_theta: float
    shrinkage: Shrinkage | None = None


class FitProblem:
    """A design with row weights, and with offsets only for the classes that occur in it."""

    def __init__(self, design: Design, settings: FitSettings) -> None:
        self.design = design
        self.n_classes = design.table.n_classes
        row_weights = design.row_weights(settings.alpha)
        self.effective_rows = effective_number(row_weights, design.groups)
        self.settings = settings
        self.copies = np.asarray(design.copies, dtype=np.float64)
        self.active = design.classes if settings.with_offsets else np.zeros(0, dtype=np.int32)
        strength = [settings.lambda_theta / copies for copies in design.copies]
        self.ridge = self.penalty(np.full(self.n_classes, settings.lambda_a), np.zeros(self.n_classes), strength)
        self.logit = ConditionalLogit(
            design.base,
            design.places if settings.with_offsets else np.zeros_like(design.ids),
            design.columns,
            design.lengths,
            design.target,
            row_weights,
            len(self.active),
            self.ridge,
        )

    def penalty(self, strength: FloatArray, centre: FloatArray, on_weights: Sequence[float]) -> Penalty:
        """Penalty from class vectors and the strengths on the weights."""
        return Penalty(
            np.concatenate([strength[self.active], np.asarray(on_weights, dtype=np.float64)]),
            np.concatenate([centre[self.active], np.zeros(len(on_weights))]),
        )

    def solve(self, penalty: Penalty, start: Fit | None) -> Fit:
        """Minimise under `penalty`, from `start` if given; classes that do not occur keep the centre's 0."""
        self.logit.penalty = penalty
        first = self._pilot() if start is None else self._from(start.offsets, start.weights)
        solution = minimize(self.logit, first, self.settings.tol, self.settings.max_iterations)
        return self.fit_from(solution.parameters, solution)

    def _from(self, offsets: FloatArray, weights: FloatArray) -> FloatArray:
        return np.concatenate([offsets[self.active], weights])

    def _pilot(self) -> FloatArray:
        """Return where to start: roughly the solution of a few of the rows, or zero if there are few.

        The problem is convex, so this changes what a fit costs and not where it ends: with a quarter
        of the rows (which start from a quarter of theirs) all rows need half as many iterations.
        """
        nowhere = np.zeros(self.logit.size)
        n_rows = len(self.design)
        few = slice(None, None, max(PILOT_SHARE, n_rows // MOST_PILOTS))
        if n_rows < PILOT_SHARE * FEWEST_PILOTS or not self.design.importance[few].any():
            return nowhere
        pilot = FitProblem(self.design.take(few), replace(self.settings, tol=PILOT_TOLERANCE))
        found = minimize(pilot.logit, pilot._pilot(), PILOT_TOLERANCE, self.settings.max_iterations)
        if not found.converged:
            return nowhere
        offsets, n_active = np.zeros(self.n_classes), len(pilot.active)
        offsets[pilot.active] = found.parameters[:n_active]
        return self._from(offsets, found.parameters[n_active:])

    def fit_from(self, parameters: FloatArray, solution: Solution) -> Fit:
        """Spread offsets over all classes; the logit must have been evaluated at `parameters` last."""
        n_active = len(self.active)
        offsets, information = np.zeros(self.n_classes), np.zeros(self.n_classes)
        offsets[self.active] = parameters[:n_active]
        information[self.active] = self.effective_rows * self.logit.offset_curvature()
        weights = parameters[n_active:].copy()
        return Fit(offsets, weights, information, solution, self.effective_rows, self.settings.lambda_theta)

    @property
    def groups(self) -> IntArray:
        """The shrinkage group of every class; all in one if none were given."""
        given = self.settings.shrinkage_groups
        return np.zeros(self.n_classes, dtype=np.int32) if given is None else given
