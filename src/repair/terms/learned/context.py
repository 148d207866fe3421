"""Context: what the other scores of a row say about a candidate.

This is a kernel ridge regression on the row's profile, its scores as a short vector
(`repair.terms.score_profiles`).  The targets are the residuals of the base model: 1 for the label,
minus the base model's probabilities.  If class y was the label more often than its score suggests on
rows with similar scores, y gains.  Unlike a difference of two scores, this can put y above a rival
on one row and below it on another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

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
from repair.terms.learned.profile_term import MOST_CLASSES, READS, landmark_rows
from repair.terms.options import ExtendedOptions
from repair.terms.registration import register_term
from repair.terms.score_profiles import (
    CANDIDATES_WIDTH,
    SCORES_WIDTH,
    basis_of,
    profiles_of_candidates,
    profiles_of_scores,
    root_shares,
    whole_vectors,
)
from repair.terms.term import Term
from repair.terms.view import CandidateView
from repair.validation.stored import check_unit_vectors, stored_array

__all__ = ["READS", "Context"]

#: Largest number of landmarks, the rows that all others are compared with, also in fast fits.
LANDMARKS, FAST_LANDMARKS = 512, 256
#: Penalties of the ridge regressions, in rows: the evidence that a pattern needs to have an effect.
PENALTIES = (0.1, 1.0, 10.0)
#: Directions in which landmarks vary less than this fraction of the widest direction are noise.
NARROW = 1e-6
#: With more numbers than this, features are computed on demand instead of being stored.
MOST_KEPT = 1 << 26


@register_term
@dataclass(frozen=True, eq=False)
class Context(Term):
    """The sum of e^(profile·l − 1)·W[y, l] over landmarks l.

    Attributes
    ----------
    basis : ndarray of float32 (K, r)
        Matrix that maps scores to profiles.
    landmarks : ndarray of float32 (m, r)
        Profiles of some calibration rows.
    matrices : ndarray of float32 (number of regressions, K, m)
        W of each regression.  After the fit there is only one, their weighted mean.
    reads : {"scores", "candidates"}
        What the profile is computed from: the scores of all classes, or those of the candidates.
    """

    basis: AnyArray
    landmarks: AnyArray
    matrices: AnyArray
    reads: str
    name: str = "context"
    learns: ClassVar[bool] = True
    holds_rows: ClassVar[bool] = True

    @classmethod
    def why_not(cls, rows: CalibrationSet) -> str:
        """Return the reason why the term cannot be learned from these rows, or '' if it can."""
        if rows.table.n_classes > MOST_CLASSES:
            return f"{rows.table.n_classes} classes are more than {MOST_CLASSES}"
        return "" if rows.shortlist.n_candidates > 1 else "it needs at least two candidates per row"

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> "tuple[Context, FloatArray]":
        """Learn from the covered rows, and return their columns, each from a fit without the row's fold."""
        calibration, table = rows, rows.table
        covered = np.flatnonzero(calibration.covered)
        shortlist, scores = calibration.shortlist.take(covered), calibration.all_scores
        chosen = landmark_rows(shortlist, FAST_LANDMARKS if options.fast else LANDMARKS)
        if scores is None:
            basis = basis_of(whole_vectors(shortlist.take(chosen), None), CANDIDATES_WIDTH)
            profiles = profiles_of_candidates(shortlist, basis)
        else:
            basis = basis_of(whole_vectors(shortlist.take(chosen), scores[covered[chosen]]), SCORES_WIDTH, centred=True)
            profiles = profiles_of_scores(scores, basis)[covered]
        landmarks = profiles[chosen]
        features = _KernelRows(profiles, landmarks, _whitening(landmarks))
        importance = calibration.importance[covered]
        problem = RidgeRows(
            features.stored() if len(covered) * len(chosen) <= MOST_KEPT else features,
            shortlist.ids,
            _residuals(shortlist, calibration.positions[covered], list_adjustment(table, options.shortlist_tau or 0.0)),
            table.n_classes,
            importance / importance.mean(),
            PENALTIES,
        )
        groups = None if calibration.groups is None else renumbered(calibration.groups[covered])
        matrices, columns = problem.cross_fitted(len(covered), groups, shortlist.ids)
        term = cls(basis, landmarks, matrices @ features.whitening.T, READS[0] if scores is not None else READS[1])
        return term, columns

    def collapsed(self, weights: FloatArray) -> "tuple[Context, float]":
        """Return a term with the weighted mean of the regressions, and its weight."""
        matrices, total = mixed(self.matrices, weights)
        return replace(self, matrices=matrices), total

    def column(self, view: CandidateView) -> FloatArray:
        """Return the predicted residual of each candidate, learned from rows with similar scores."""
        shortlist = view.shortlist
        if self.row_width is None:
            profiles = profiles_of_candidates(shortlist, self.basis)
        else:
            profiles = shortlist.row_vectors[self.name]
        similarities = _kernel(profiles, self.landmarks)
        dots = kernels_for(similarities.size).row_dots
        column: FloatArray = dots(similarities, self.matrices[0], shortlist.ids, view.lengths)
        return column

    @property
    def row_width(self) -> int | None:
        """Width of a profile if it is computed from all scores, else None."""
        return int(self.basis.shape[1]) if self.reads == READS[0] else None

    def row_vectors(self, scores: AnyArray) -> AnyArray:
        """Return the profiles of rows whose scores are all known."""
        return profiles_of_scores(scores, self.basis)

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
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable
    ) -> "Context":
        """Build the term from the arrays of a file, or raise an error if they are invalid."""
        basis, landmarks, matrix = (
            stored_array(arrays, name, np.float32, 2) for name in ("basis", "landmarks", "matrix")
        )
        if len(basis) != table.n_classes or basis.shape[1] != landmarks.shape[1] or not landmarks.size:
            raise InputError(f"basis of shape {basis.shape} must have shape {(table.n_classes, landmarks.shape[1])}")
        if matrix.shape != (table.n_classes, len(landmarks)):
            raise InputError(f"matrix of shape {matrix.shape} must have one row per class and one column per landmark")
        check_unit_vectors(landmarks, "landmarks")
        term = cls(basis, landmarks, matrix[np.newaxis], str(description.get("reads")))
        if term.reads not in READS:
            raise InputError(f"reads is {description.get('reads')!r}; expected one of {READS}")
        return term

    def for_classes(self, n_classes: int) -> "Context":
        """Return the term for a longer list of classes.  Nothing has been learned about the new ones."""
        added = n_classes - len(self.basis)
        wide = np.pad(self.matrices, ((0, 0), (0, added), (0, 0)))
        return replace(self, basis=np.pad(self.basis, ((0, added), (0, 0))), matrices=wide)


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
