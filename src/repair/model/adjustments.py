"""Decision-time adjustments: the dial, a target prior and class costs.

All three add a constant per class to the corrected score (the paper's weighted variant), so none of
them needs a new fit.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import FloatArray
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.stats.label_shares import LabelShares
from repair.terms.view import CandidateView
from repair.validation.checks import check_number
from repair.validation.names import class_vector

__all__ = ["DIALS", "LARGEST_DIAL", "MACRO", "Adjustments", "check_dial", "dial_text"]

LARGEST_DIAL = 100.0
#: The dial that aims at accuracy averaged over classes.
MACRO = "macro"
#: The dials that ``auto`` chooses from, and that a frontier shows by default: 0, 0.1, …, 1.
DIALS = tuple(round(0.1 * step, 1) for step in range(11))


@dataclass(frozen=True, eq=False)
class Adjustments:
    """Adjustments that are added to the corrected scores before ranking.

    Attributes
    ----------
    dial : float, default 0.0
        t in r + t·log w, with w ∝ 1/prior.  0 aims at plain accuracy, and 1 gives all classes the
        same weight.
    log_prior_shift : ndarray (K,) or None
        log(target prior / calibration prior).
    log_costs : ndarray (K,) or None
        Logarithm of the cost of missing each class.
    log_rarity : ndarray (K,) or None
        log w of the dial.  None means that of the training counts.
    """

    dial: float = 0.0
    log_prior_shift: FloatArray | None = None
    log_costs: FloatArray | None = None
    log_rarity: FloatArray | None = None

    @classmethod
    def build(
        cls,
        dial: float | str,
        target_prior: ArrayLike | None,
        class_costs: ArrayLike | None,
        label_shares: LabelShares,
        class_names: tuple[str, ...] | None = None,
        macro_rarity: FloatArray | None = None,
    ) -> "Adjustments":
        """Validate the arguments of a user and build the adjustments.

        Parameters
        ----------
        dial : float or "macro"
        target_prior : array_like (K,), mapping or None
            Class shares, or counts of any size, which are normalised.
        class_costs : array_like (K,), mapping or None
            Cost of missing each class.
        label_shares : LabelShares
            Class shares under the weights of the fit.
        class_names : tuple of str, optional
            Names to match mappings with.
        macro_rarity : ndarray (K,), optional
            log(1/share) of each class, for the class shares that the corrected scores follow.  Needed
            for the dial ``"macro"``.

        Returns
        -------
        Adjustments
        """
        n_classes = len(label_shares.counts)

        shift = costs = None
        if target_prior is not None:
            target = class_vector(target_prior, "target_prior", n_classes, class_names, positive=True)
            # Use logarithms, because a prior may be given as counts of any size.
            total = np.log(target.max()) + np.log((target / target.max()).sum())
            shift = np.log(target) - total - np.log(label_shares.smoothed)
        if class_costs is not None:
            costs = np.log(class_vector(class_costs, "class_costs", n_classes, class_names, positive=True))
        checked = check_dial(dial)
        if isinstance(checked, float):
            return cls(checked, shift, costs)
        assert macro_rarity is not None
        return cls(1.0, shift, costs, macro_rarity if shift is None else macro_rarity - shift)

    @property
    def beliefs_only(self) -> bool:
        """Whether the adjustments change probabilities only, without a dial or class costs."""
        return self.dial == 0.0 and self.log_costs is None

    def probabilities_only(self) -> "Adjustments":
        """Return the part that changes probabilities, which is the target prior without dial and costs."""
        return Adjustments(0.0, self.log_prior_shift, None)

    def scaled(self, strength: float) -> "Adjustments":
        """Return the same adjustments with the dial multiplied by `strength`."""
        return replace(self, dial=strength * self.dial)

    def contributions(self, view: CandidateView) -> list[tuple[str, FloatArray]]:
        """Return the (n, k) arrays to add, by name.  The list is empty if there is nothing to add."""
        return [(name, view.per_class(values)) for name, values in self.by_name(view.table)]

    def per_class(self, table: ClassTable) -> FloatArray:
        """Return the (K,) numbers to add to the scores of the classes."""
        return sum((values for _, values in self.by_name(table)), np.zeros(table.n_classes))

    def by_name(self, table: ClassTable) -> list[tuple[str, FloatArray]]:
        """Return the (K,) numbers of each adjustment by its name, in the order in which they are added."""
        parts = []
        if self.dial != 0.0:
            parts.append(("dial", self.dial * (table.log_rarity if self.log_rarity is None else self.log_rarity)))
        if self.log_prior_shift is not None:
            parts.append(("target_prior", self.log_prior_shift))
        if self.log_costs is not None:
            parts.append(("class_costs", self.log_costs))
        return parts


def check_dial(dial: object) -> float | str:
    """Return the dial as a number or ``"macro"``, or raise an error.

    Examples
    --------
    >>> from repair.model.adjustments import check_dial
    >>> check_dial(1), check_dial("macro")
    (1.0, 'macro')
    """
    if not isinstance(dial, str):
        return check_number(dial, "dial", -LARGEST_DIAL, LARGEST_DIAL)
    if dial != MACRO:
        raise InputError(f"dial is {dial!r}; pass a number, or {MACRO!r} to aim at accuracy averaged over classes")
    return dial


def dial_text(dial: float | str) -> str:
    """Return a dial as text."""
    return dial if isinstance(dial, str) else f"{dial:g}"
