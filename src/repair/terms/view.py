"""The input of the terms: a shortlist with its scores after the pre-adjustment τ."""

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray, IntArray, row_sums
from repair._utils.lazy import lazy
from repair.data.class_table import ClassTable
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.kernels import kernels_for

__all__ = ["CandidateView"]


class CandidateView:
    """Candidates with their class table and their scores g − τ·log π.  Values are computed on first use.

    Parameters
    ----------
    shortlist : Shortlist
    table : ClassTable
    tau : float, default 0.0
        Exponent τ of the pre-adjustment.
    """

    def __init__(self, shortlist: Shortlist, table: ClassTable, tau: float = 0.0) -> None:
        self.shortlist = shortlist
        self.table = table
        self.tau = tau

    @property
    def is_full(self) -> bool:
        """Whether there is no padding, which is the usual and faster case."""
        return self.shortlist.is_full

    @property
    def lengths(self) -> IntArray:
        """Number of candidates per row without padding, m."""
        return self.shortlist.lengths

    @property
    def mask(self) -> BoolArray:
        """True where there is a candidate."""
        return self.shortlist.mask

    @lazy
    def safe_ids(self) -> IntArray:
        """Class ids with padding replaced by 0, for indexing a class vector."""
        return np.maximum(self.shortlist.ids, 0)

    def per_class(self, vector: FloatArray) -> FloatArray:
        """Return each candidate's entry of a class vector, 0 on padding."""
        self._check_length(vector)
        entries: FloatArray = kernels_for(self.shortlist.ids.size).per_class(vector, self.shortlist.ids)
        return entries

    def add_per_class(self, total: FloatArray, factor: float, vector: FloatArray) -> None:
        """Add `factor` times each candidate's entry of a class vector to its total."""
        self._check_length(vector)
        kernels_for(total.size).add_per_class(total, factor, vector, self.shortlist.ids)

    @lazy
    def pre_adjustment(self) -> FloatArray:
        """−τ·log π of each candidate, 0 on padding."""
        if self.tau == 0.0:
            return np.zeros(self.shortlist.ids.shape)
        return -self.tau * self.per_class(self.table.log_prior)

    @lazy
    def scores(self) -> FloatArray:
        """Return the base scores as they enter the model, 0 on padding."""
        scores = self.shortlist.scores if self.is_full else np.where(self.mask, self.shortlist.scores, 0.0)
        return scores if self.tau == 0.0 else scores + self.pre_adjustment

    @lazy
    def ranks(self) -> IntArray:
        """Rank 0…m−1 of each candidate by `scores`, with equal scores in base order."""
        if self.tau == 0.0:
            return np.broadcast_to(np.arange(self.shortlist.n_candidates, dtype=np.int32), self.shortlist.ids.shape)
        order = kernels_for(self.scores.size, self.scores.shape[1]).order_rows(self.scores, self.lengths)
        ranks: IntArray = np.empty_like(order)
        np.put_along_axis(
            ranks, order, np.broadcast_to(np.arange(order.shape[1]), order.shape).astype(np.int32), axis=1
        )
        return ranks

    def centred(self, values: FloatArray) -> FloatArray:
        """Return each candidate's value minus the mean of its row, 0 on padding."""
        if self.is_full:
            centred: FloatArray = values - row_sums(values)[:, None] / values.shape[1]
            return centred
        kept = np.where(self.mask, values, 0.0)
        mean = row_sums(kept) / np.maximum(self.lengths, 1)
        return np.where(self.mask, kept - mean[:, None], 0.0)

    def mean_difference(self, values: FloatArray) -> FloatArray:
        """Return the mean of f_y − f_j over the rivals j, computed without pairs.

        The mean over the other m−1 candidates is m/(m−1)·(f_y − mean f), and 0 if there are none.
        """
        difference: FloatArray = kernels_for(values.size).mean_difference(values, self.lengths)
        return difference

    def add_mean_difference(self, total: FloatArray, factor: float, values: FloatArray) -> None:
        """Add `factor` times the mean difference of `values` to each candidate's total, in one pass."""
        kernels_for(total.size).add_mean_difference(total, factor, values, self.lengths)

    def add_class_difference(self, total: FloatArray, factor: float, vector: FloatArray) -> None:
        """Add `factor` times the mean difference of the candidates' entries of a class vector to each total."""
        self._check_length(vector)
        kernels_for(total.size).add_class_difference(total, factor, vector, self.shortlist.ids, self.lengths)

    def _check_length(self, vector: FloatArray) -> None:
        """Raise an error if a class vector is too short or too long: the kernels do not check bounds."""
        if len(vector) != self.table.n_classes:
            raise InputError(
                f"a class vector has {len(vector)} entries, but there are {self.table.n_classes} classes; "
                "for_classes of a learned term must give new classes an entry"
            )
