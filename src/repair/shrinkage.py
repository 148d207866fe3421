"""Empirical-Bayes shrinkage of the class offsets towards the mean of their group.

Two forms.  ``"eb"`` puts the group prior inside the objective and finds its mean and variance
from the data; ``"paper"`` applies the paper's formula once, after the fit, to offsets from which the ridge
has been taken back out.  Shrinking a ridge estimate again would shrink it twice.
"""

from dataclasses import dataclass

import numpy as np

from repair.arrays import FloatArray, IntArray
from repair.class_table import ClassTable

__all__ = [
    "GroupPrior",
    "Shrinkage",
    "frequency_groups",
    "next_variances",
    "paper_shrinkage",
    "shrinkage_groups",
]

#: Variances below this are zero for every purpose; keeps 1/ν² finite.
SMALLEST_VARIANCE = 1e-8
#: An offset that varies by more than this (in logarithms of odds) is not an offset any more.
LARGEST_VARIANCE = 1e6


@dataclass(frozen=True, eq=False)
class GroupPrior:
    """A normal prior for the offsets of each group: mean μ and variance ν²."""

    groups: IntArray
    means: FloatArray
    variances: FloatArray

    @property
    def class_means(self) -> FloatArray:
        """Each class's prior mean."""
        return self.means[self.groups]

    @property
    def class_variances(self) -> FloatArray:
        """Each class's prior variance."""
        return self.variances[self.groups]

    def factors(self, information: FloatArray) -> FloatArray:
        """Shrinkage factor λ_y = σ²/(σ²+ν²) with σ² = 1/J: 0 trusts the class, 1 its group."""
        return 1.0 / (1.0 + information * self.class_variances)


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """What shrinkage did: the prior, each class's factor, and how the search for the prior ended."""

    kind: str
    prior: GroupPrior
    factors: FloatArray
    iterations: int
    converged: bool


def shrinkage_groups(table: ClassTable, n_groups: int) -> IntArray:
    """Return the groups offsets are shrunk in: the user's, or bins of equal size by training count."""
    if table.class_groups is not None:
        return table.class_groups
    if n_groups > 1:
        table.require("class_counts", f"shrinkage_groups={n_groups}")
    return frequency_groups(table.class_counts, n_groups, table.n_classes)


def frequency_groups(class_counts: FloatArray | None, n_groups: int, n_classes: int) -> IntArray:
    """Cut the classes, sorted by training count, into `n_groups` bins of equal size."""
    groups = np.zeros(n_classes, dtype=np.int32)
    n_groups = min(n_groups, n_classes)
    if n_groups > 1 and class_counts is not None:
        for group, members in enumerate(np.array_split(np.argsort(class_counts, kind="stable"), n_groups)):
            groups[members] = group
    return groups


def next_variances(
    variances: FloatArray, deviations: FloatArray, information: FloatArray, groups: IntArray
) -> FloatArray:
    """Return the next ν² of each group: Σz² / Σ(1−λ), over its classes that have data.

    EM would set ν² to the mean of z² + 1/(J+1/ν²).  Both stand still at the same ν², but EM
    creeps towards a variance of zero while this form (MacKay's evidence update) gets there
    geometrically.  A group without data keeps its variance.
    """
    ratio = information * variances[groups]
    trust = np.bincount(groups, ratio / (1.0 + ratio), minlength=len(variances))
    spread = np.bincount(groups, np.where(information > 0, deviations**2, 0.0), minlength=len(variances))
    known = np.bincount(groups, information > 0, minlength=len(variances)) > 0
    updated = np.where(trust > 0, spread / np.where(trust > 0, trust, 1.0), 0.0)
    return np.where(known, np.clip(updated, SMALLEST_VARIANCE, LARGEST_VARIANCE), variances)


def paper_shrinkage(
    offsets: FloatArray, information: FloatArray, ridge_precision: float, groups: IntArray
) -> tuple[FloatArray, Shrinkage]:
    """Shrink ridge offsets by the paper's formula, after taking the ridge out by one Newton step.

    ã = â·(1 + 2·n·λ_a/J) with variance σ² = 1/J.  The group's mean and variance are those at which
    the standardised squares Σ(ã−μ)²/(σ²+ν²) equal their degrees of freedom (Paule and Mandel's
    estimator): with very unequal σ² a plain variance would be that of the noisiest class.
    """
    known = information > 0
    raw = np.zeros_like(offsets)
    raw[known] = offsets[known] * (1.0 + ridge_precision / information[known])
    n_groups = int(groups.max()) + 1
    means, variances = np.zeros(n_groups), np.full(n_groups, SMALLEST_VARIANCE)
    for group in range(n_groups):
        members = (groups == group) & known
        if members.any():
            means[group], variances[group] = _paule_mandel(raw[members], 1.0 / information[members])
    prior = GroupPrior(groups, means, variances)
    factors = prior.factors(information)
    shrunk = (1.0 - factors) * raw + factors * prior.class_means
    return shrunk, Shrinkage("paper", prior, factors, 1, True)


def _paule_mandel(values: FloatArray, noise: FloatArray) -> tuple[float, float]:
    from scipy.optimize import brentq

    def weighted_mean(variance: float) -> float:
        weights = 1.0 / (noise + variance)
        return float(weights @ values / weights.sum())

    def surplus(variance: float) -> float:
        return float(((values - weighted_mean(variance)) ** 2 / (noise + variance)).sum()) - (len(values) - 1)

    low = SMALLEST_VARIANCE
    if len(values) < 2 or surplus(low) <= 0:
        return weighted_mean(low), low
    high = max(1.0, float(values.var()) * len(values))
    while surplus(high) > 0:
        high *= 2.0
    variance = float(brentq(surplus, low, high))
    return weighted_mean(variance), variance
