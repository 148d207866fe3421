"""The settings of a fit."""

from dataclasses import dataclass

from repair._utils.arrays import IntArray
from repair.validation.checks import check_choice, check_count

__all__ = ["FitSettings", "ShrinkageOptions"]

#: Default penalty, used for the other one if the user sets only one.
USUAL_PENALTY = 1e-3


@dataclass(frozen=True)
class ShrinkageOptions:
    """How class offsets are shrunk towards the mean of their group.

    Parameters
    ----------
    kind : {"eb", "paper"}, default "eb"
        With ``"eb"``, shrinkage is part of the fit, and the mean and variance of the prior are
        estimated from the data (empirical Bayes).  With ``"paper"``, the paper's formula is applied
        after the fit.  Use it to reproduce the paper.
    frequency_bins : int, default 1
        Number of groups of equal size into which classes are divided by training count.  It is
        ignored if ``class_groups`` are given.  Use more than one if offsets of rare and frequent
        classes differ systematically and there are enough rows of each.

    Examples
    --------
    >>> from repair import Reranker, ShrinkageOptions
    >>> Reranker("classwise", shrinkage=ShrinkageOptions("eb", frequency_bins=3)).shrinkage.frequency_bins
    3
    """

    kind: str = "eb"
    frequency_bins: int = 1

    def __post_init__(self) -> None:
        check_choice(self.kind, "kind of shrinkage", ("eb", "paper"))
        check_count(self.frequency_bins, "frequency_bins")


@dataclass(frozen=True, eq=False)
class FitSettings:
    """The validated settings of one convex fit.  Most have the same meaning as in `Reranker`.

    Attributes
    ----------
    with_offsets : bool, default True
        Whether the model has class offsets.
    lambda_a, lambda_theta : float, default 1e-3
        Penalties of the offsets and of the weights.
    alpha : float, default 0.0
        Upweighting of rare classes.
    tau : float, default 0.0
        Exponent τ of the pre-adjustment.
    shrinkage : {"eb", "paper", False}, default False
        How offsets are shrunk.
    shrinkage_groups : ndarray of int (K,) or None
        Shrinkage group of each class.  By default all classes are in one group.
    evidence : bool, default False
        Whether the penalty of the weights is also set from the data, by marginal likelihood.
    tol : float, default 1e-8
        Gradient norm at which the solver stops.
    max_iter : int, default 100
        Largest number of iterations of the solver.
    """

    with_offsets: bool = True
    lambda_a: float = USUAL_PENALTY
    lambda_theta: float = USUAL_PENALTY
    alpha: float = 0.0
    tau: float = 0.0
    shrinkage: str | bool = False
    shrinkage_groups: IntArray | None = None
    evidence: bool = False
    tol: float = 1e-8
    max_iter: int = 100
