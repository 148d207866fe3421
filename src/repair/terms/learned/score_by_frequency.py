"""Score by frequency: a temperature that changes with the frequency of the class.

A classifier is often too sure of frequent classes and too unsure of rare ones, or the reverse.  One temperature for
all classes cannot correct that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.terms.options import ExtendedOptions
from repair.terms.registration import register_term
from repair.terms.term import Term
from repair.terms.view import CandidateView

__all__ = ["ScoreByFrequency"]


@register_term
@dataclass(frozen=True)
class ScoreByFrequency(Term):
    """The lead (g_y − mean g) of a candidate, times its log-frequency log(n_y+1) minus that of a usual class.

    Attributes
    ----------
    centre : float
        Mean of log(n+1) over the classes of the fit.  It is kept, so new classes do not change the
        scores of known ones.
    """

    centre: float = 0.0
    name: str = "score_by_frequency"
    requires: tuple[str, ...] = ("class_counts",)
    learns: ClassVar[bool] = True

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> tuple[Self, FloatArray]:
        """Return the term and its column for the covered rows, which does not depend on labels."""
        term = cls(float(rows.table.log_counts.mean()))
        view = CandidateView(rows.shortlist.take(np.flatnonzero(rows.covered)), rows.table)
        return term, term.column(view)[:, :, np.newaxis]

    def column(self, view: CandidateView) -> FloatArray:
        """Return each candidate's lead times its relative log-frequency."""
        column: FloatArray = view.centred(view.scores) * view.per_class(view.table.log_counts - self.centre)
        return column

    def collapsed(self, weights: FloatArray) -> tuple[Self, float]:
        """Return the term, which has a single column, and the weight of that column."""
        return self, float(weights[0])

    def for_classes(self, n_classes: int) -> Self:
        """Return the term itself: what it reads about new classes is in the class table."""
        return self

    def arrays(self) -> dict[str, AnyArray]:
        """Return nothing: the only number that the term keeps is in its description."""
        return {}

    def description(self) -> dict[str, Any]:
        """Return the mean log-frequency."""
        return {"centre": self.centre}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable) -> Self:
        """Build the term from its description, or raise an error if that is invalid."""
        centre = description.get("centre")
        if isinstance(centre, bool) or not isinstance(centre, int | float) or not math.isfinite(centre):
            raise InputError(f"centre is {centre!r}, not a finite number")
        return cls(float(centre))
