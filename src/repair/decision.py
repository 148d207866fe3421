"""Wishes at decision time: the head–tail dial, another class mix, class costs.

All three add a class constant to the corrected score (the paper's weighted variant), so none of
them needs a new fit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import FloatArray
from repair.candidates import CandidateView
from repair.inputs import check_class_vector, check_number
from repair.named import align_to_classes
from repair.priors import LabelShares

__all__ = ["LARGEST_DIAL", "Decision"]

LARGEST_DIAL = 100.0


@dataclass(frozen=True, eq=False)
class Decision:
    """What to add to the corrected scores before ranking.

    Attributes
    ----------
    dial : float
        t in r + t·log w, with w ∝ 1/prior: 0 is plain accuracy, 1 weighs all classes alike.
    log_prior_shift : ndarray (K,) or None
        log(target prior / calibration prior).
    log_costs : ndarray (K,) or None
        Logarithm of the cost of missing each class.
    """

    dial: float = 0.0
    log_prior_shift: FloatArray | None = None
    log_costs: FloatArray | None = None

    @classmethod
    def build(
        cls,
        dial: float,
        target_prior: ArrayLike | None,
        class_costs: ArrayLike | None,
        label_shares: LabelShares,
        class_names: tuple[str, ...] | None = None,
    ) -> "Decision":
        """Check a user's wishes; `target_prior` may be counts, it is normalised."""
        n_classes = len(label_shares.counts)

        def per_class(values: ArrayLike, name: str) -> FloatArray:
            return check_class_vector(
                align_to_classes(values, name, n_classes, class_names), name, n_classes, positive=True
            )

        shift = costs = None
        if target_prior is not None:
            target = per_class(target_prior, "target_prior")
            # In logarithms, because a prior may be given as counts of any size.
            total = np.log(target.max()) + np.log((target / target.max()).sum())
            shift = np.log(target) - total - np.log(label_shares.smoothed)
        if class_costs is not None:
            costs = np.log(per_class(class_costs, "class_costs"))
        return cls(check_number(dial, "dial", -LARGEST_DIAL, LARGEST_DIAL), shift, costs)

    def probabilities_only(self) -> "Decision":
        """Return the part that changes what is likely, without what is wanted (dial and costs)."""
        return Decision(0.0, self.log_prior_shift, None)

    def scaled(self, strength: float) -> "Decision":
        """Return the same wishes with a dial that is `strength` times as large."""
        return Decision(strength * self.dial, self.log_prior_shift, self.log_costs)

    def contributions(self, view: CandidateView) -> list[tuple[str, FloatArray]]:
        """Named (n, k) arrays to add; empty if nothing is wished for."""
        parts = []
        if self.dial != 0.0:
            parts.append(("dial", self.dial * view.per_class(view.table.log_rarity)))
        if self.log_prior_shift is not None:
            parts.append(("target_prior", view.per_class(self.log_prior_shift)))
        if self.log_costs is not None:
            parts.append(("class_costs", view.per_class(self.log_costs)))
        return parts
