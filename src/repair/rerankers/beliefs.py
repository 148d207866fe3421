"""The scores behind the probabilities of a ranking."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.shortlist import Shortlist
from repair.model.adjustments import Adjustments
from repair.model.correction import Correction

__all__ = ["Beliefs"]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Computes the scores behind the probabilities if these differ from the scores that set the order.

    A dial, class costs and a strength below 1 express preferences about the order.  They do not change
    how likely a class is, so the probabilities leave them out.
    """

    correction: Correction
    shortlist: Shortlist
    adjustments: Adjustments
    order: AnyArray

    def __call__(self) -> FloatArray:
        """Return the scores in the order of the ranking."""
        full_strength = replace(self.correction, strength=1.0)
        scores = full_strength.scores(self.shortlist, self.adjustments.probabilities_only())
        return np.take_along_axis(scores, self.order, axis=1)
