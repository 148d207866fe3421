"""The labelled rows that a rival is fitted on, and the folds in which it chooses its hyperparameters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.lazy import lazy
from repair.data.calibration_set import CalibrationSet
from repair.errors import InputError
from repair.rerankers.rivals.softmax import temperature_scale
from repair.similarity import Similarity
from repair.stats.folds import fold_rows, group_folds
from repair.stats.row_weights import number_of_units, renumbered

__all__ = ["FOLDS", "Rows", "centred", "usable_rows"]

FOLDS = 5


def centred(scores: AnyArray) -> FloatArray:
    """Return the scores minus the mean of each row.  −Inf becomes the smallest score of the row.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.rerankers.rivals.rows import centred
    >>> centred(np.array([[3.0, 1.0, -np.inf]])).round(2).tolist()
    [[1.33, -0.67, -0.67]]
    """
    values = np.array(scores, dtype=np.float64)
    missing = np.isneginf(values)
    if missing.any():
        lowest = np.where(missing, np.inf, values).min(axis=1, keepdims=True)
        values = np.where(missing, np.where(np.isfinite(lowest), lowest, 0.0), values)
    result: FloatArray = values - values.mean(axis=1, keepdims=True)
    return result


def usable_rows(calibration: CalibrationSet) -> AnyArray:
    """Return the positions of the rows that have a known label and a positive weight."""
    return np.flatnonzero((calibration.labels >= 0) & (calibration.importance > 0))


@dataclass(frozen=True, eq=False)
class Rows:
    """Labelled rows.  Rows whose label is not a known class have been dropped.

    Attributes
    ----------
    z : ndarray of float64 (n, K)
        Base scores, centred in each row and multiplied by `scale`.
    y : ndarray of int (n,)
    weights : ndarray (n,)
        Weights of the rows, with mean 1.
    groups : ndarray of int (n,) or None
    scale : float
        Inverse temperature with the best likelihood on these rows.  Every rival starts from the scaled
        scores, so a base whose scores are too flat or too steep is not a handicap.
    x : ndarray of float32 (n, d) or None
        Embeddings of length 1.
    reference_x, reference_y : ndarray (m, d) and (m,), or None
        Further labelled rows without scores, usually the training rows.
    counts : ndarray (K,) or None
        Training rows per class.
    similarity : Similarity or None
    """

    z: FloatArray
    y: IntArray
    weights: FloatArray
    groups: IntArray | None = None
    scale: float = 1.0
    x: AnyArray | None = None
    reference_x: AnyArray | None = None
    reference_y: IntArray | None = None
    counts: FloatArray | None = None
    similarity: Similarity | None = None

    @classmethod
    def of(cls, calibration: CalibrationSet, purpose: str) -> Rows:
        """Return the rows of a calibration set that have a known label and a positive weight."""
        if calibration.all_scores is None:
            raise InputError(f"{purpose} needs the scores of all classes; pass scores as an (n, K) array")
        kept = usable_rows(calibration)
        z, y = centred(calibration.all_scores[kept]), calibration.labels[kept]
        weights = calibration.importance[kept] / calibration.importance[kept].mean()
        vectors, reference = calibration.shortlist.embeddings, calibration.reference
        known = None if reference is None else np.flatnonzero(reference.labels >= 0)
        scale = temperature_scale(z, y, weights)
        return cls(
            z * scale,
            y,
            weights,
            None if calibration.groups is None else renumbered(calibration.groups[kept]),
            scale,
            None if vectors is None else vectors[kept],
            None if reference is None else reference.embeddings[known],
            None if reference is None else reference.labels[known],
            calibration.table.class_counts,
            calibration.table.similarity,
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """The number of classes K."""
        return int(self.z.shape[1])

    @lazy
    def folds(self) -> IntArray | None:
        """Return the fold of each row with groups kept whole, or None if there are too few rows or groups."""
        units = number_of_units(len(self), self.groups)
        return group_folds(len(self), self.groups, min(FOLDS, units), 0) if units >= 4 else None

    def splits(self) -> Iterator[tuple[Rows, Rows]]:
        """Yield the training rows and the held-out rows of each fold."""
        if self.folds is not None:
            for train, test in fold_rows(self.folds):
                yield self.take(train), self.take(test)

    def take(self, which: AnyArray) -> Rows:
        """Return some of the rows, with all reference rows."""
        groups = None if self.groups is None else renumbered(self.groups[which])
        x = None if self.x is None else self.x[which]
        return replace(self, z=self.z[which], y=self.y[which], weights=self.weights[which], groups=groups, x=x)

    def label_counts(self) -> FloatArray:
        """Return the labelled rows per class, reference rows included."""
        counts = np.bincount(self.y, minlength=self.n_classes).astype(np.float64)
        if self.reference_y is not None:
            counts += np.bincount(self.reference_y, minlength=self.n_classes)
        return counts

    def vectors(self) -> AnyArray:
        """Return the embeddings, which must be there."""
        assert self.x is not None
        return self.x

    @lazy
    def digest(self) -> bytes:
        """Return a digest of everything that a fit depends on."""
        digest = hashlib.blake2b()
        for value in (self.z, self.y, self.weights, self.groups, self.x, self.reference_x, self.reference_y):
            digest.update(b"none" if value is None else np.ascontiguousarray(value).view(np.uint8).data)
        digest.update(b"none" if self.counts is None else self.counts.tobytes())
        # A function has no content to digest, but its text contains its address.
        for value in () if self.similarity is None else vars(self.similarity).values():
            digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
        return digest.digest()
