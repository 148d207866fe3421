"""The covered rows of a calibration set as plain arrays: what a fit looks at, cut as one likes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray, IntArray, is_full
from repair.calibration import CalibrationSet, tilted_weights
from repair.candidates import CandidateView
from repair.class_table import ClassTable
from repair.kernels import kernels_for
from repair.lazy import lazy
from repair.parallel import even_blocks, map_row_blocks
from repair.ranking import SLOTS_PER_BLOCK
from repair.terms import Term

__all__ = ["Design"]


@dataclass(frozen=True, eq=False)
class Design:
    """Covered rows with their columns.

    In `base` and `columns` the rows run fastest in memory, as the fit's kernels want them.

    Attributes
    ----------
    rows : ndarray of int (n,)
        Which rows of the calibration set these are.
    ids : ndarray of int (n, k)
        Candidates, −1 on padding.
    base : ndarray (n, k)
        Scores as they enter the model, less the row's best (which no softmax sees, and which
        keeps their differences precise); 0 on padding.
    columns : ndarray (n, k, d)
        One column for each term, 0 on padding.
    copies : tuple of float (d,)
        How many equal columns each stands for; its penalty is divided by this.
    lengths, target, labels : ndarray of int (n,)
        Candidates per row, the label's position among them, and the label.
    importance : ndarray (n,)
        v, before α.
    groups : ndarray of int (n,) or None
        Groups that rows share.
    table : ClassTable
    """

    rows: IntArray
    ids: IntArray
    base: FloatArray
    columns: FloatArray
    copies: tuple[float, ...]
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
                column[:, block] = term.column(view).T

        kernels_for(base.size)  # loads the compiled ones if they pay, all blocks together
        map_row_blocks(fill, even_blocks(n_rows, SLOTS_PER_BLOCK // k))
        return cls(
            rows,
            covered.ids,
            base.T,
            columns.T,
            tuple(term.copies for term in terms),
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
        """Return the design with further columns, arrays (n, k, c), behind its own."""
        columns = np.concatenate([self.columns.T, *(one.T for one in more)]).T
        added = (1.0,) * (columns.shape[2] - self.columns.shape[2])
        return replace(self, columns=columns, copies=(*self.copies, *added))

    def standardised(self) -> "Design":
        """Return the design with penalties that are the same whatever units the columns come in."""
        real = None if is_full(self.lengths, self.ids.shape[1]) else (self.ids != PAD_ID).T
        spread = [_spread(column, real) for column in self.columns.T]
        scaled = (copies / one**2 for copies, one in zip(self.copies, spread, strict=True))
        return replace(self, copies=tuple(float(one) for one in scaled))

    def take(self, which: AnyArray | slice) -> "Design":
        """Return the design of some of the rows."""
        return Design(
            self.rows[which],
            self.ids[which],
            self.base.T[:, which].T,
            self.columns.T[:, :, which].T,
            self.copies,
            self.lengths[which],
            self.target[which],
            self.labels[which],
            self.importance[which],
            None if self.groups is None else self.groups[which],
            self.table,
        )

    @lazy
    def classes(self) -> IntArray:
        """Return the classes that are on any row, rising."""
        present = kernels_for(self.ids.size).classes_present(self.ids, self.table.n_classes)
        return np.flatnonzero(present).astype(np.int32)

    @lazy
    def places(self) -> IntArray:
        """Return each candidate's place among `classes`, 0 on padding; rows run fastest."""
        place = np.zeros(self.table.n_classes, dtype=np.int32)
        place[self.classes] = np.arange(len(self.classes), dtype=np.int32)
        return np.asfortranarray(kernels_for(self.ids.size).per_class(place, self.ids))

    def row_weights(self, alpha: float) -> FloatArray:
        """Return the rows' weights w, adding up to 1."""
        return tilted_weights(self.importance, self.labels, self.table, alpha)

    def scores(self, offsets: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the final scores under these class offsets and term weights; −Inf on padding."""
        total = self.base + offsets[np.maximum(self.ids, 0)]
        for position, weight in enumerate(weights):
            total += weight * self.columns[:, :, position]
        return np.where(self.ids == PAD_ID, PAD_SCORE, total)

    def log_likelihood(self, scores: FloatArray) -> FloatArray:
        """Return each row's log q of its label under the softmax of these scores."""
        best = scores.max(axis=1, keepdims=True)
        mass = np.log(np.exp(scores - best).sum(axis=1)) + best[:, 0]
        likelihood: FloatArray = scores[np.arange(len(self)), self.target] - mass
        return likelihood


def _spread(column: FloatArray, real: AnyArray | None) -> float:
    """Return how far a column's values (k, n) lie from their row's mean, the only thing a softmax sees; 1 for none."""
    if real is None:
        apart = column - column.mean(axis=0)
    else:
        apart = (column - np.where(real, column, 0.0).sum(axis=0) / np.maximum(real.sum(axis=0), 1))[real]
    found = float(np.sqrt(np.square(apart).mean()))
    return found if found > 0 else 1.0


def _best_score(view: CandidateView) -> FloatArray:
    """Return the best score of each row as a column."""
    if view.tau == 0.0:
        return view.scores[:, :1]  # rows are in base order
    best: FloatArray = np.where(view.mask, view.scores, PAD_SCORE).max(axis=1, keepdims=True)
    return best
