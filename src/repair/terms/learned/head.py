"""Head: a linear classifier on the embeddings, trained on all labelled rows.

The classifier consists of ridge regressions of the labels on the embeddings at several penalties,
with rare classes upweighted.  The fit mixes them.  Unlike the base model, they have seen the
calibration rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.kernels import kernels_for
from repair.stats.row_weights import renumbered
from repair.terms.learned.cross_fitted_ridge import RidgeRows, mixed
from repair.terms.options import ExtendedOptions
from repair.terms.registration import register_term
from repair.terms.term import Term
from repair.terms.view import CandidateView
from repair.validation.stored import stored_array

__all__ = ["Head", "LabelledRows"]

PENALTIES = (0.03, 0.3, 3.0, 30.0)
#: Value of the constant feature that is appended to the embedding, whose length is 1.
CONSTANT = 0.3


@register_term
@dataclass(frozen=True, eq=False)
class Head(Term):
    """The candidate's score in a linear classifier on the row's embedding.

    Attributes
    ----------
    matrices : ndarray of float32 (number of classifiers, K, d + 1)
        Weights of each classifier.  After the fit there is only one, their weighted mean.
    """

    matrices: AnyArray
    name: str = "head"
    requires: tuple[str, ...] = ("embeddings",)
    learns: ClassVar[bool] = True

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> tuple[Self, FloatArray]:
        """Train on all labelled rows, and return the covered rows' columns, each from a fit without the row's fold."""
        labelled, table = LabelledRows.of(rows), rows.table
        problem = RidgeRows(
            labelled.features,
            labelled.labels[:, None].astype(np.int32),
            np.ones((len(labelled.labels), 1)),
            table.n_classes,
            labelled.class_weights,
            PENALTIES,
        )
        groups = None if rows.groups is None else renumbered(rows.groups[labelled.own])
        matrices, columns = problem.cross_fitted(len(labelled.own), groups, rows.shortlist.ids[labelled.own])
        return cls(matrices), columns[rows.covered[labelled.own]]

    @property
    def embedding_width(self) -> int:
        """Width of the embeddings."""
        return int(self.matrices.shape[2]) - 1

    def collapsed(self, weights: FloatArray) -> tuple[Self, float]:
        """Return a term with the weighted mean of the classifiers, and its weight."""
        matrices, total = mixed(self.matrices, weights)
        return type(self)(matrices), total

    def column(self, view: CandidateView) -> FloatArray:
        """Return each candidate's score."""
        embeddings = view.shortlist.embeddings
        assert embeddings is not None
        dots = kernels_for(embeddings.size).row_dots
        column: FloatArray = dots(_with_constant(embeddings), self.matrices[0], view.shortlist.ids, view.lengths)
        return column

    def arrays(self) -> dict[str, AnyArray]:
        """Return the single matrix of the fitted term."""
        return {"matrix": self.matrices[0]}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable) -> Self:
        """Build the term from the arrays of a file, or raise an error if they are invalid."""
        matrix = stored_array(arrays, "matrix", np.float32, 2)
        if len(matrix) != table.n_classes or matrix.shape[1] < 2:
            raise InputError(f"matrix of shape {matrix.shape} must have one row for each of {table.n_classes} classes")
        return cls(matrix[np.newaxis])

    def for_classes(self, n_classes: int) -> Self:
        """Return the term for a longer list of classes.  Nothing has been learned about the new ones."""
        matrices = self.matrices
        wide = np.zeros((len(matrices), n_classes, matrices.shape[2]), dtype=np.float32)
        wide[:, : matrices.shape[1]] = matrices
        return type(self)(wide)


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """All rows that a classifier on embeddings can be trained on: calibration rows, then reference rows.

    Attributes
    ----------
    own : ndarray of int
        Indices of the calibration rows.  Uncovered rows are included if their label is a known class.
    features : ndarray of float32 (n, d + 1)
        Embeddings with a constant.
    labels : ndarray of int (n,)
    kept : ndarray of bool (n,)
        False for calibration rows with weight 0, which are ignored.
    class_weights : ndarray (n,)
        Weights of the rows, larger for rare classes.
    """

    own: AnyArray
    features: AnyArray
    labels: IntArray
    kept: BoolArray
    class_weights: FloatArray

    @classmethod
    def of(cls, rows: CalibrationSet) -> Self:
        """Collect the labelled rows of a calibration set, which must have embeddings."""
        embeddings = rows.shortlist.embeddings
        assert embeddings is not None
        own = np.flatnonzero(rows.labels >= 0)
        vectors, labels = [embeddings[own]], [rows.labels[own]]
        if rows.reference is not None:
            has_label = rows.reference.labels >= 0
            vectors.append(rows.reference.embeddings[has_label])
            labels.append(rows.reference.labels[has_label])
        all_labels = np.concatenate(labels)
        kept = np.ones(len(all_labels), dtype=bool)
        kept[: len(own)] = rows.importance[own] > 0
        class_weights = _class_weights(all_labels, rows.table)[all_labels] * kept
        return cls(own, _with_constant(np.concatenate(vectors)), all_labels, kept, class_weights)


def _class_weights(labels: IntArray, table: ClassTable) -> FloatArray:
    """Return 1/√(count + 1) of each class, scaled to a mean of 1 over rows.

    Training counts are used if they were given, because with counts of the labels themselves a
    row's own label would affect its column.
    """
    training_counts = table.class_counts
    counts = np.bincount(labels, minlength=table.n_classes) if training_counts is None else training_counts
    weights = 1.0 / np.sqrt(counts + 1.0)
    mean = float((counts * weights).sum() / max(counts.sum(), 1.0))
    scaled: FloatArray = weights / (mean if mean > 0 else 1.0)
    return scaled


def _with_constant(embeddings: AnyArray) -> AnyArray:
    return np.concatenate([embeddings, np.full((len(embeddings), 1), CONSTANT, dtype=np.float32)], axis=1)
