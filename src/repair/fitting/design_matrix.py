"""The design matrix: the covered rows of a calibration set as plain arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray, IntArray, is_full, log_sum_exp
from repair._utils.lazy import lazy
from repair._utils.parallel import even_blocks, map_row_blocks
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.data.ranking import SLOTS_PER_BLOCK
from repair.kernels import kernels_for
from repair.stats.folds import fold_rows
from repair.stats.row_weights import tilted_weights
from repair.terms.term import Term
from repair.terms.term_checks import check_column
from repair.terms.view import CandidateView

__all__ = ["Design"]

#: A column that varies less than this within rows, as a share of its largest entry, is constant up to rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Design:
    """Covered rows with their columns.

    `base` and `columns` are in Fortran order, as the kernels of the fit need them.

    Attributes
    ----------
    rows : ndarray of int (n,)
        Indices of these rows in the calibration set.
    ids : ndarray of int (n, k)
        Class ids of the candidates, −1 on padding.
    base : ndarray (n, k)
        Scores as they enter the model, minus the best score of the row, 0 on padding.  Subtracting
        the best score does not change the softmax and keeps differences precise.
    columns : ndarray (n, k, d)
        One column per term, 0 on padding.
    multiplicity : tuple of float (d,)
        Number of equal columns that each column replaces.  Its penalty is divided by this number.
    priors : tuple of int (d,)
        Prior of each column's weight, numbered from 0.  Weights with the same prior share one variance.
    lengths, target, labels : ndarray of int (n,)
        Candidates per row, the label's position among them, and the label.
    importance : ndarray (n,)
        Row weights v, before α.
    groups : ndarray of int (n,) or None
        Group codes of the rows.
    table : ClassTable
    """

    rows: IntArray
    ids: IntArray
    base: FloatArray
    columns: FloatArray
    multiplicity: tuple[float, ...]
    priors: tuple[int, ...]
    lengths: IntArray
    target: IntArray
    labels: IntArray
    importance: FloatArray
    groups: IntArray | None
    table: ClassTable

    @classmethod
    def of(cls, calibration: CalibrationSet, terms: Sequence[Term], tau: float) -> "Design":
        """Compute the columns of `terms` on the covered rows, after the pre-adjustment `tau`."""
        rows = np.flatnonzero(calibration.covered).astype(np.int32)
        shortlist, table = calibration.shortlist, calibration.table
        covered = shortlist if len(rows) == len(shortlist) else shortlist.take(rows)
        n_rows, k = covered.ids.shape
        base, columns = np.empty((k, n_rows)), np.empty((len(terms), k, n_rows))

        def fill(block: slice) -> None:
            view = CandidateView(covered.take(block), table, tau)
            lead = view.scores - _best_score(view)
            base[:, block] = (lead if view.is_full else np.where(view.mask, lead, 0.0)).T
            for column, term in zip(columns, terms, strict=True):
                column[:, block] = check_column(term, term.column(view), view.shortlist.ids.shape).T

        kernels_for(base.size)  # loads the compiled kernels if all blocks together are large enough
        map_row_blocks(fill, even_blocks(n_rows, SLOTS_PER_BLOCK // k))
        return cls(
            rows,
            covered.ids,
            base.T,
            columns.T,
            tuple(term.multiplicity for term in terms),
            (0,) * len(terms),
            covered.lengths,
            calibration.positions[rows],
            calibration.labels[rows],
            calibration.importance[rows],
            None if calibration.groups is None else calibration.groups[rows],
            table,
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def with_columns(self, more: Sequence[FloatArray]) -> "Design":
        """Return the design with further columns, arrays of shape (n, k, c).  Each array gets its own prior."""
        columns = np.concatenate([self.columns.T, *(added_columns.T for added_columns in more)]).T
        added = (1.0,) * (columns.shape[2] - self.columns.shape[2])
        priors = (number for number, array in enumerate(more, start=1) for _ in range(array.shape[2]))
        return replace(self, columns=columns, multiplicity=(*self.multiplicity, *added), priors=(*self.priors, *priors))

    def standardised(self) -> "Design":
        """Return the design with penalties that do not depend on the units of the columns."""
        real = None if is_full(self.lengths, self.ids.shape[1]) else (self.ids != PAD_ID).T
        spread = [_spread(column, real) for column in self.columns.T]
        scaled = (count / size**2 for count, size in zip(self.multiplicity, spread, strict=True))
        return replace(self, multiplicity=tuple(float(multiplicity) for multiplicity in scaled))

    def take(self, which: AnyArray | slice) -> "Design":
        """Return the design of some of the rows."""
        return Design(
            self.rows[which],
            self.ids[which],
            self.base.T[:, which].T,
            self.columns.T[:, :, which].T,
            self.multiplicity,
            self.priors,
            self.lengths[which],
            self.target[which],
            self.labels[which],
            self.importance[which],
            None if self.groups is None else self.groups[which],
            self.table,
        )

    def in_folds(self, folds: IntArray) -> Iterator[tuple["Design", "Design", IntArray]]:
        """Yield for each fold the design of the training rows, that of the held-out rows, and their indices.

        Parameters
        ----------
        folds : ndarray of int (rows of the calibration set,)
            Fold of each row.  Rows of fold −1 are in neither part.
        """
        for train, test in fold_rows(folds[self.rows]):
            yield self.take(train), self.take(test), test

    @lazy
    def classes(self) -> IntArray:
        """Return the ids of the classes that are a candidate on at least one row, in ascending order."""
        present = kernels_for(self.ids.size).classes_present(self.ids, self.table.n_classes)
        return np.flatnonzero(present).astype(np.int32)

    @lazy
    def class_positions(self) -> IntArray:
        """Return each candidate's position in `classes`, 0 on padding, in Fortran order."""
        position = np.zeros(self.table.n_classes, dtype=np.int32)
        position[self.classes] = np.arange(len(self.classes), dtype=np.int32)
        return np.asfortranarray(kernels_for(self.ids.size).per_class(position, self.ids))

    def row_weights(self, alpha: float) -> FloatArray:
        """Return the row weights w, which sum to 1."""
        return tilted_weights(self.importance, self.labels, self.table.class_counts, alpha)

    def scores(self, offsets: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the final scores with these class offsets and term weights, −Inf on padding."""
        total = self.base + offsets[np.maximum(self.ids, 0)]
        for position, weight in enumerate(weights):
            total += weight * self.columns[:, :, position]
        return np.where(self.ids == PAD_ID, PAD_SCORE, total)

    def log_likelihood(self, scores: FloatArray) -> FloatArray:
        """Return the log-probability of each row's label under the softmax of these scores."""
        likelihood: FloatArray = scores[np.arange(len(self)), self.target] - log_sum_exp(scores)
        return likelihood


def _spread(column: FloatArray, real: AnyArray | None) -> float:
    """Return the standard deviation of a column (k, n) around the means of its rows, or 1 if it is 0 up to rounding.

    A softmax depends only on these deviations.
    """
    if real is None:
        deviation = column - column.mean(axis=0)
    else:
        deviation = (column - np.where(real, column, 0.0).sum(axis=0) / np.maximum(real.sum(axis=0), 1))[real]
    spread = float(np.sqrt(np.square(deviation).mean()))
    largest = float(np.abs(column).max(initial=0.0))
    return spread if spread > ROUNDING * largest else 1.0


def _best_score(view: CandidateView) -> FloatArray:
    """Return the best score of each row as a column."""
    if view.tau == 0.0:
        return view.scores[:, :1]  # rows are in base order
    best: FloatArray = np.where(view.mask, view.scores, PAD_SCORE).max(axis=1, keepdims=True)
    return best
