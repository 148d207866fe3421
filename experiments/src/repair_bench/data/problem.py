"""The first stage of a benchmark: rows in three parts, with what is known about their classes."""

from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.errors import InputError
from repair_bench.data.parts import CALIBRATION, TEST, TRAINING

__all__ = ["Problem"]

#: Number of rows of each part in a quick run.  In training it is three rows per class if that is more.
QUICK_ROWS = {TRAINING: 600, CALIBRATION: 400, TEST: 400}
QUICK_ROWS_PER_CLASS = 3


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with labels, in training, calibration and test parts.

    Attributes
    ----------
    class_names : tuple of str
    labels : ndarray of int (n,)
    part : ndarray of int (n,)
        0 training, 1 calibration, 2 test.
    texts : tuple of str, or None
        Input of a text base: sentences, or terms separated by blanks.
    features : ndarray (n, d), or None
        Input of the other bases: features, or the scores themselves if they come with the data.
    groups : ndarray of int (n,), or None
    similarity : ndarray (K, K), or None
        Class similarity.  If None, it is computed from the class weights of the base.
    class_counts : ndarray (K,), or None
        Training rows per class.  If None, they are counted in the training part.
    weight_norms : ndarray (K,), or None
        Norms of the class weights of a classifier whose scores come with the data.
    notes : tuple of str
        What was left out, and how many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.data.problem import Problem
    >>> Problem(("a", "b"), np.array([0, 0, 1]), np.array([0, 0, 0])).counts.tolist()
    [2, 1]
    """

    class_names: tuple[str, ...]
    labels: IntArray
    part: IntArray
    texts: tuple[str, ...] | None = None
    features: FloatArray | None = None
    groups: IntArray | None = None
    similarity: FloatArray | None = None
    class_counts: AnyArray | None = None
    weight_norms: AnyArray | None = None
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> AnyArray:
        """Training rows per class, which determine the rare classes."""
        if self.class_counts is not None:
            return self.class_counts
        return np.bincount(self.labels[self.part == TRAINING], minlength=len(self.class_names))

    def take(self, rows: AnyArray) -> "Problem":
        """Return the problem with some of the rows."""
        which = np.flatnonzero(rows) if rows.dtype == bool else rows
        return replace(
            self,
            labels=self.labels[which],
            part=self.part[which],
            texts=None if self.texts is None else tuple(self.texts[row] for row in which),
            features=None if self.features is None else self.features[which],
            groups=None if self.groups is None else self.groups[which],
        )

    def quick(self, seed: int) -> "Problem":
        """Return a small problem of the same kind: some rows of each part, with every class in training."""
        rng = np.random.default_rng(seed)
        kept = []
        for part, most in QUICK_ROWS.items():
            rows = rng.permutation(np.flatnonzero(self.part == part))
            first = np.zeros(0, dtype=int)
            if part == TRAINING:
                most = max(most, QUICK_ROWS_PER_CLASS * len(self.class_names))
                first = np.unique(self.labels[rows], return_index=True)[1]
            kept += [rows[first], np.delete(rows, first)[: max(most - len(first), 0)]]
        return self.take(np.sort(np.concatenate(kept)))

    def without_untrained_classes(self) -> "Problem":
        """Leave out classes without a training row, together with their rows, and add a note."""
        trained = self.counts > 0
        if trained.all():
            return self
        if not trained.any():
            raise InputError("no row is in the training part; check how the benchmark splits its rows")
        kept = self.take(trained[self.labels])
        dropped, n_classes = len(self.labels) - len(kept.labels), int((~trained).sum())
        return replace(
            kept,
            class_names=tuple(name for name, keep in zip(self.class_names, trained, strict=True) if keep),
            labels=(np.cumsum(trained) - 1)[kept.labels].astype(np.int32),
            similarity=None if self.similarity is None else self.similarity[np.ix_(trained, trained)],
            class_counts=None if self.class_counts is None else self.class_counts[trained],
            weight_norms=None if self.weight_norms is None else self.weight_norms[trained],
            notes=(
                *self.notes,
                f"classes without a training row were left out (classes: {n_classes}, rows: {dropped})",
            ),
        )
