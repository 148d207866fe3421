"""The results of shrinkage: the group priors of the class offsets, and how far each class was shrunk."""

from dataclasses import dataclass

from repair._utils.arrays import FloatArray, IntArray

__all__ = ["GroupPrior", "Shrinkage"]


@dataclass(frozen=True, eq=False)
class GroupPrior:
    """A normal prior for the class offsets of each group, with mean μ and variance ν².

    Attributes
    ----------
    groups : ndarray of int (K,)
        Group code of each class.
    means, variances : ndarray
        μ and ν² of each group.
    """

    groups: IntArray
    means: FloatArray
    variances: FloatArray

    @property
    def class_means(self) -> FloatArray:
        """The prior mean of each class."""
        return self.means[self.groups]

    @property
    def class_variances(self) -> FloatArray:
        """The prior variance of each class."""
        return self.variances[self.groups]

    def factors(self, information: FloatArray) -> FloatArray:
        """Return the shrinkage factors λ_y = σ²/(σ²+ν²) with σ² = 1/J.

        0 keeps the estimate of the class, and 1 replaces it by the mean of its group.
        """
        return 1.0 / (1.0 + information * self.class_variances)


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """The prior, the shrinkage factor of each class, and how the search for the prior ended.

    Attributes
    ----------
    kind : {"eb", "paper"}
    prior : GroupPrior
    factors : ndarray (K,)
        Shrinkage factor of each class, see `GroupPrior.factors`.
    iterations : int
        Rounds of the search for the prior.
    converged : bool
    """

    kind: str
    prior: GroupPrior
    factors: FloatArray
    iterations: int
    converged: bool
