"""Score head: a linear function of all scores of a row per class, fitted on the shortlists.

This is matrix scaling (Guo et al., 2017; Kull et al., 2019) restricted to the candidates: a
conditional logit with the score g_y + w_y·profile, at several penalties that pull w towards 0.  A
class can gain where a certain other class has a high score.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.adjusted_shortlist import list_adjustment
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.kernels import kernels_for
from repair.stats.row_weights import renumbered
from repair.terms.learned.cross_fitted_logit import ListRows, cross_fitted
from repair.terms.learned.cross_fitted_ridge import mixed
from repair.terms.learned.profile_term import ProfileTerm, learn_profiles, stored_basis
from repair.terms.options import ExtendedOptions
from repair.terms.registration import register_term
from repair.terms.view import CandidateView
from repair.validation.stored import stored_array

__all__ = ["ScoreHead"]

#: Penalties, in rows, from the strongest.
PENALTIES = (10.0, 1.0, 0.1)
#: Value of the constant feature that is appended to the profile, whose length is 1.
CONSTANT = 0.3


@register_term
@dataclass(frozen=True, eq=False)
class ScoreHead(ProfileTerm):
    """The candidate's weights times the profile of the row.

    Attributes
    ----------
    matrices : ndarray of float32 (number of regressions, K, r + 1)
        Weights of each regression.  After the fit there is only one, their weighted mean.
    """

    matrices: AnyArray
    name: str = "score_head"
    learns: ClassVar[bool] = True

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> tuple[Self, FloatArray]:
        """Learn from the covered rows, and return their columns, each from a fit without the row's fold."""
        known = learn_profiles(rows, options)
        covered, shortlist, importance = known.covered, known.shortlist, rows.importance[known.covered]
        base = np.where(shortlist.mask, shortlist.scores, 0.0)
        adjustment = list_adjustment(rows.table, options.shortlist_tau or 0.0)
        if adjustment is not None:
            base = base + adjustment[np.maximum(shortlist.ids, 0)]
        problem = ListRows(
            _with_constant(known.vectors),
            shortlist.ids,
            base,
            rows.positions[covered],
            importance / importance.mean(),
            rows.table.n_classes,
            PENALTIES,
        )
        groups = None if rows.groups is None else renumbered(rows.groups[covered])
        matrices, columns = cross_fitted(problem.fit, problem.features, shortlist.ids, groups)
        return cls(known.basis, known.reads, matrices), columns

    def collapsed(self, weights: FloatArray) -> tuple[Self, float]:
        """Return a term with the weighted mean of the regressions, and its weight."""
        matrices, total = mixed(self.matrices, weights)
        return replace(self, matrices=matrices), total

    def column(self, view: CandidateView) -> FloatArray:
        """Return each candidate's weights times the profile."""
        features = _with_constant(self.profiles(view))
        dots = kernels_for(features.size).row_dots
        column: FloatArray = dots(features, self.matrices[0], view.shortlist.ids, view.lengths)
        return column

    def for_classes(self, n_classes: int) -> Self:
        """Return the term for a longer list of classes.  Nothing has been learned about the new ones."""
        wide = np.pad(self.matrices, ((0, 0), (0, n_classes - len(self.basis)), (0, 0)))
        return replace(super().for_classes(n_classes), matrices=wide)

    def arrays(self) -> dict[str, AnyArray]:
        """Return the basis and the single matrix of the fitted term."""
        return {"basis": self.basis, "matrix": self.matrices[0]}

    def description(self) -> dict[str, Any]:
        """Return what the profile is computed from."""
        return {"reads": self.reads}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable) -> Self:
        """Build the term from the arrays of a file, or raise an error if they are invalid."""
        basis, reads = stored_basis(arrays, description, table)
        matrix = stored_array(arrays, "matrix", np.float32, 2)
        if matrix.shape != (table.n_classes, basis.shape[1] + 1):
            raise InputError(f"matrix of shape {matrix.shape} must have shape {(table.n_classes, basis.shape[1] + 1)}")
        return cls(basis, reads, matrix[np.newaxis])


def _with_constant(profiles: AnyArray) -> AnyArray:
    return np.concatenate([profiles, np.full((len(profiles), 1), CONSTANT, dtype=np.float32)], axis=1)
