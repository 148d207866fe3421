"""Context: what the other scores of a row say about a candidate.

This is a kernel ridge regression on the row's profile, its scores as a short vector
(`repair.terms.score_profiles`).  The targets are the residuals of the base model: 1 for the label,
minus the base model's probabilities.  If class y was the label more often than its score suggests on
rows with similar scores, y gains.  Unlike a difference of two scores, this can put y above a rival
on one row and below it on another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.parallel import even_blocks, map_row_blocks
from repair.data.adjusted_shortlist import list_adjustment
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.kernels import kernels_for
from repair.stats.row_weights import renumbered
from repair.terms.learned.cross_fitted_ridge import ROWS_PER_BLOCK, RidgeRows, mixed
from repair.terms.learned.profile_term import MOST_CLASSES, READS, ProfileTerm, learn_profiles, stored_basis
from repair.terms.options import ExtendedOptions
from repair.terms.registration import register_term
from repair.terms.score_profiles import root_shares
from repair.terms.view import CandidateView
from repair.validation.stored import check_unit_vectors, stored_array

__all__ = ["MOST_CLASSES", "READS", "Context"]

#: Penalties of the ridge regressions, in rows: the evidence that a pattern needs to have an effect.
PENALTIES = (0.1, 1.0, 10.0)
#: Directions in which landmarks vary less than this fraction of the widest direction are noise.
NARROW = 1e-6
#: With more numbers than this, features are computed on demand instead of being stored.
MOST_KEPT = 1 << 26


@register_term
@dataclass(frozen=True, eq=False)
class Context(ProfileTerm):
    """The sum of e^(profile·l − 1)·W[y, l] over landmarks l.

    Attributes
    ----------
    landmarks : ndarray of float32 (m, r)
        Profiles of some calibration rows.
    matrices : ndarray of float32 (number of regressions, K, m)
        W of each regression.  After the fit there is only one, their weighted mean.
    """

    landmarks: AnyArray
    matrices: AnyArray
    name: str = "context"
    learns: ClassVar[bool] = True
    holds_rows: ClassVar[bool] = True

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> tuple[Self, FloatArray]:
        """Learn from the covered rows, and return their columns, each from a fit without the row's fold."""
        calibration, table, known = rows, rows.table, learn_profiles(rows, options)
        covered, shortlist = known.covered, known.shortlist
        landmarks = known.vectors[known.landmarks]
        features = _KernelRows(known.vectors, landmarks, _whitening(landmarks))
        importance = calibration.importance[covered]
        problem = RidgeRows(
            features.stored() if len(covered) * len(landmarks) <= MOST_KEPT else features,
            shortlist.ids,
            _residuals(shortlist, calibration.positions[covered], list_adjustment(table, options.shortlist_tau or 0.0)),
            table.n_classes,
            importance / importance.mean(),
            PENALTIES,
        )
        groups = None if calibration.groups is None else renumbered(calibration.groups[covered])
        matrices, columns = problem.cross_fitted(len(covered), groups, shortlist.ids)
        return cls(known.basis, known.reads, landmarks, matrices @ features.whitening.T), columns

    def collapsed(self, weights: FloatArray) -> tuple[Self, float]:
        """Return a term with the weighted mean of the regressions, and its weight."""
        matrices, total = mixed(self.matrices, weights)
        return replace(self, matrices=matrices), total

    def column(self, view: CandidateView) -> FloatArray:
        """Return the predicted residual of each candidate, learned from rows with similar scores."""
        similarities = _kernel(self.profiles(view), self.landmarks)
        dots = kernels_for(similarities.size).row_dots
        column: FloatArray = dots(similarities, self.matrices[0], view.shortlist.ids, view.lengths)
        return column

    def notes(self) -> tuple[str, ...]:
        """Return a sentence about the rows that the model keeps."""
        rows, width = self.landmarks.shape
        return (f"context: the model keeps the base scores of {rows} rows, as {width} numbers each",)

    def arrays(self) -> dict[str, AnyArray]:
        """Return the basis, the landmarks and the single matrix of the fitted term."""
        return {"basis": self.basis, "landmarks": self.landmarks, "matrix": self.matrices[0]}

    def description(self) -> dict[str, Any]:
        """Return the number, width and type of the calibration rows that the file contains."""
        rows, width = self.landmarks.shape
        return {"reads": self.reads, "rows": rows, "width": width, "dtype": "float32"}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable) -> Self:
        """Build the term from the arrays of a file, or raise an error if they are invalid."""
        basis, reads = stored_basis(arrays, description, table)
        landmarks, matrix = (stored_array(arrays, name, np.float32, 2) for name in ("landmarks", "matrix"))
        if basis.shape[1] != landmarks.shape[1] or not landmarks.size:
            raise InputError(f"basis of shape {basis.shape} must have shape {(table.n_classes, landmarks.shape[1])}")
        if matrix.shape != (table.n_classes, len(landmarks)):
            raise InputError(f"matrix of shape {matrix.shape} must have one row per class and one column per landmark")
        check_unit_vectors(landmarks, "landmarks")
        return cls(basis, reads, landmarks, matrix[np.newaxis])

    def for_classes(self, n_classes: int) -> Self:
        """Return the term for a longer list of classes.  Nothing has been learned about the new ones."""
        wide = np.pad(self.matrices, ((0, 0), (0, n_classes - len(self.basis)), (0, 0)))
        return replace(super().for_classes(n_classes), matrices=wide)


@dataclass(frozen=True, eq=False)
class _KernelRows:
    """Whitened similarities of rows to the landmarks, which make the kernel ridge an ordinary ridge regression."""

    profiles: AnyArray
    landmarks: AnyArray
    whitening: AnyArray

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.profiles), self.whitening.shape[1]

    def __getitem__(self, rows: AnyArray | slice) -> AnyArray:
        features: AnyArray = _kernel(self.profiles[rows], self.landmarks) @ self.whitening
        return features

    def stored(self) -> AnyArray:
        """Return the features of all rows as one array."""
        features = np.empty(self.shape, dtype=np.float32)

        def fill(rows: slice) -> None:
            features[rows] = self[rows]

        map_row_blocks(fill, even_blocks(len(features), ROWS_PER_BLOCK))
        return features


def _kernel(profiles: AnyArray, landmarks: AnyArray) -> AnyArray:
    """Return e^(cosine − 1) of each row and landmark."""
    kernel: AnyArray = profiles @ landmarks.T
    kernel -= np.float32(1.0)
    return np.exp(kernel, out=kernel)


def _whitening(landmarks: AnyArray) -> AnyArray:
    """Return the matrix that gives the landmarks equal variance in all directions that are kept."""
    values, vectors = np.linalg.eigh(_kernel(landmarks, landmarks).astype(np.float64))
    kept = values > NARROW * values[-1]
    whitening: AnyArray = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)
    return whitening


def _residuals(shortlist: Shortlist, positions: IntArray, adjustment: FloatArray | None) -> FloatArray:
    """Return 1 for the label minus the base model's probabilities."""
    residuals = -(root_shares(shortlist, adjustment) ** 2)
    residuals[np.arange(len(residuals)), positions] += 1.0
    return residuals
