"""Rivals that are trained with class-balanced weights, for comparisons of macro accuracy.

Each row weighs 1/(weight of its class), so every class has the same total weight in the fit and in the choice
of hyperparameters (as in cRT: Kang et al., "Decoupling representation and classifier for long-tailed
recognition", ICLR 2020).
"""

from dataclasses import replace

import numpy as np

from repair.data.calibration_set import CalibrationSet
from repair.model.state import FittedState
from repair.rerankers.rivals.rival import ScoreRival
from repair.rerankers.rivals.scaling import MatrixScaling, VectorScaling
from repair_bench.rivals.heads import RetrainedHeadMixed

__all__ = ["BalancedHeadMixed", "BalancedMatrixScaling", "BalancedVectorScaling"]


class BalancedRival(ScoreRival):
    """Gives every class the same weight before the rival is fitted.

    The class shares of the fit are then equal, so the dial ``"macro"`` changes nothing.
    """

    def learn(self, calibration: CalibrationSet, *, progress: bool = False) -> FittedState:
        """Fit with equal class weights."""
        return super().learn(_balanced(calibration), progress=progress)


class BalancedVectorScaling(BalancedRival, VectorScaling):
    """Vector scaling with class-balanced weights."""

    mode_name = "vector_scaling_balanced"


class BalancedMatrixScaling(BalancedRival, MatrixScaling):
    """Matrix scaling with class-balanced weights."""

    mode_name = "matrix_scaling_balanced"


class BalancedHeadMixed(BalancedRival, RetrainedHeadMixed):
    """The mixture of the base and two retrained heads, with class-balanced weights of the calibration rows."""

    mode_name = "retrained_head_mixed_balanced"


def _balanced(calibration: CalibrationSet) -> CalibrationSet:
    labels, known = calibration.labels, calibration.labels >= 0
    mass = np.bincount(labels[known], calibration.importance[known], minlength=calibration.table.n_classes)
    weights = np.where(known, calibration.importance / np.where(mass > 0, mass, 1.0)[labels], 0.0)
    return replace(calibration, importance=weights)
