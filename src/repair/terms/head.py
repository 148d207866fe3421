"""Head: a linear classifier on the embeddings, trained on all labelled rows.

Ridge regressions of the labels on the embeddings, with rare classes upweighted, at several
penalties; the fit mixes them.  They know what the base could not: the calibration rows.
"""

from dataclasses import dataclass

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.calibration import CalibrationSet
from repair.candidates import CandidateView
from repair.class_table import ClassTable
from repair.kernels import kernels_for
from repair.terms.cross_fit import RidgeRows, dense_codes, mixed

__all__ = ["Head"]

PENALTIES = (0.03, 0.3, 3.0, 30.0)
#: The constant feature beside the embedding, whose length is 1.
CONSTANT = 0.3


@dataclass(frozen=True, eq=False)
class Head:
    """The candidate's value in a linear classifier of the row's embedding.

    Attributes
    ----------
    matrices : ndarray of float32 (number of mixed classifiers, K, d + 1)
        After the fit a single one.
    """

    matrices: AnyArray
    name: str = "head"
    requires: tuple[str, ...] = ()
    copies: float = 1.0

    @classmethod
    def learn(cls, calibration: CalibrationSet) -> "tuple[Head, FloatArray]":
        """Train on all labelled rows; return also the covered rows' columns, from other folds."""
        own = calibration.shortlist.embeddings
        assert own is not None
        # Uncovered rows teach as well as covered ones, as long as their label is a class.
        rows = np.flatnonzero(calibration.labels >= 0)
        vectors, labels = [own[rows]], [calibration.labels[rows]]
        if calibration.reference is not None:
            known = calibration.reference.labels >= 0
            vectors.append(calibration.reference.embeddings[known])
            labels.append(calibration.reference.labels[known])
        every = np.concatenate(labels)
        weights = _class_weights(every, calibration.table)[every]
        weights[: len(rows)] *= calibration.importance[rows] > 0  # such a row teaches nothing
        problem = RidgeRows(
            _with_constant(np.concatenate(vectors)),
            every[:, None].astype(np.int32),
            np.ones((len(every), 1)),
            calibration.table.n_classes,
            weights,
            PENALTIES,
        )
        groups = None if calibration.groups is None else dense_codes(calibration.groups[rows])
        matrices, columns = problem.cross_fitted(len(rows), groups, calibration.shortlist.ids[rows])
        return cls(matrices), columns[calibration.covered[rows]]

    @property
    def embedding_width(self) -> int:
        """How many numbers an embedding has."""
        return int(self.matrices.shape[2]) - 1

    def folded(self, weights: FloatArray) -> "tuple[Head, float]":
        """Return one classifier for the fitted mixture, and its weight."""
        matrices, total = mixed(self.matrices, weights)
        return Head(matrices), total

    def column(self, view: CandidateView) -> FloatArray:
        """Return each candidate's value."""
        embeddings = view.shortlist.embeddings
        assert embeddings is not None
        dots = kernels_for(embeddings.size).row_dots
        found: FloatArray = dots(_with_constant(embeddings), self.matrices[0], view.shortlist.ids, view.lengths)
        return found

    def for_classes(self, n_classes: int) -> "Head":
        """Return the term for a longer list of classes; nothing is known of the new ones."""
        kept = self.matrices
        wide = np.zeros((len(kept), n_classes, kept.shape[2]), dtype=np.float32)
        wide[:, : kept.shape[1]] = kept
        return Head(wide)


def _class_weights(labels: IntArray, table: ClassTable) -> FloatArray:
    """Return 1/√count of each class, 1 on average over rows.

    Training counts, where they are known: counts of the very labels would let a row's own label
    into its column.
    """
    given = table.class_counts
    counts = np.bincount(labels, minlength=table.n_classes) if given is None else given
    weights = 1.0 / np.sqrt(counts + 1.0)
    mean = float((counts * weights).sum() / max(counts.sum(), 1.0))
    found: FloatArray = weights / (mean if mean > 0 else 1.0)
    return found


def _with_constant(embeddings: AnyArray) -> AnyArray:
    return np.concatenate([embeddings, np.full((len(embeddings), 1), CONSTANT, dtype=np.float32)], axis=1)
