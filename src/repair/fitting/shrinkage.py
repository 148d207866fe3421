"""Empirical-Bayes shrinkage of the class offsets towards the mean of their group.

There are two forms.  ``"eb"`` makes the group prior part of the objective and estimates its mean and
variance from the data.  ``"paper"`` applies the paper's formula once after the fit, to offsets from
which the effect of the ridge penalty has been removed.  Otherwise they would be shrunk twice.
"""

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair.data.class_table import ClassTable
from repair.model.shrinkage import GroupPrior, Shrinkage

__all__ = ["frequency_groups", "next_variances", "paper_shrinkage", "shrinkage_groups"]

#: Smallest variance.  It is practically zero and keeps 1/ν² finite.
SMALLEST_VARIANCE = 1e-8
#: Largest variance.  Offsets, which are log-odds, do not vary that much.
LARGEST_VARIANCE = 1e6


def shrinkage_groups(table: ClassTable, n_groups: int) -> IntArray:
    """Return the shrinkage group of each class: the user's groups, or bins of equal size by training count."""
    if table.class_groups is not None:
        return table.class_groups
    if n_groups > 1:
        table.require("class_counts", f"frequency_bins={n_groups}")
    return frequency_groups(table.class_counts, n_groups, table.n_classes)


def frequency_groups(class_counts: FloatArray | None, n_groups: int, n_classes: int) -> IntArray:
    """Divide the classes, sorted by training count, into `n_groups` bins of equal size."""
    groups = np.zeros(n_classes, dtype=np.int32)
    n_groups = min(n_groups, n_classes)
    if n_groups > 1 and class_counts is not None:
        for group, members in enumerate(np.array_split(np.argsort(class_counts, kind="stable"), n_groups)):
            groups[members] = group
    return groups


def next_variances(
    variances: FloatArray, deviations: FloatArray, information: FloatArray, groups: IntArray
) -> FloatArray:
    """Return the updated ν² of each group, Σz² / Σ(1−λ) over its classes with data.

    EM would set ν² to the mean of z² + 1/(J+1/ν²).  Both updates have the same fixed point, but EM
    converges very slowly to a variance of zero, while this one (MacKay's evidence update) converges
    geometrically.  A group without data keeps its variance.

    Parameters
    ----------
    variances : ndarray (number of groups,)
        Current ν².
    deviations, information : ndarray (n,)
        Deviation z and information J of each class.
    groups : ndarray of int (n,)
        Group of each class.

    Returns
    -------
    ndarray (number of groups,)
    """
    ratio = information * variances[groups]
    trust = np.bincount(groups, ratio / (1.0 + ratio), minlength=len(variances))
    spread = np.bincount(groups, np.where(information > 0, deviations**2, 0.0), minlength=len(variances))
    has_data = np.bincount(groups, information > 0, minlength=len(variances)) > 0
    updated = np.where(trust > 0, spread / np.where(trust > 0, trust, 1.0), 0.0)
    return np.where(has_data, np.clip(updated, SMALLEST_VARIANCE, LARGEST_VARIANCE), variances)


def paper_shrinkage(
    offsets: FloatArray, information: FloatArray, ridge_precision: float, groups: IntArray
) -> tuple[FloatArray, Shrinkage]:
    """Shrink ridge offsets by the paper's formula, after removing the effect of the ridge by one Newton step.

    The offsets without ridge are ã = â·(1 + 2·n·λ_a/J), with variance σ² = 1/J.  Mean and variance
    of a group are those at which the sum of standardised squares, Σ(ã−μ)²/(σ²+ν²), equals its
    degrees of freedom (the Paule–Mandel estimator).  With very unequal σ², a plain variance would be
    dominated by the noisiest class.

    Parameters
    ----------
    offsets, information : ndarray (K,)
        Ridge offset â and information J of each class.
    ridge_precision : float
        2·n·λ_a.
    groups : ndarray of int (K,)
        Group of each class.

    Returns
    -------
    offsets : ndarray (K,)
        The shrunk offsets.
    shrinkage : Shrinkage
    """
    has_data = information > 0
    raw = np.zeros_like(offsets)
    raw[has_data] = offsets[has_data] * (1.0 + ridge_precision / information[has_data])
    n_groups = int(groups.max()) + 1
    means, variances = np.zeros(n_groups), np.full(n_groups, SMALLEST_VARIANCE)
    for group in range(n_groups):
        members = (groups == group) & has_data
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
