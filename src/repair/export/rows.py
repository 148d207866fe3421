"""What the formulas of the terms read: candidates with their pre-adjusted scores.  The twin of `CandidateView`."""

from __future__ import annotations

from repair.export.candidates import Candidates
from repair.export.ops import LARGEST_SCORE, Array, Ops
from repair.export.plan import Plan

__all__ = ["Rows", "masked_softmax"]


class Rows:
    """Rows of candidates.

    Parameters
    ----------
    ops : Ops
    plan : Plan
    candidates : Candidates

    Attributes
    ----------
    safe_ids : array (n, k)
        Class ids with padding replaced by 0.
    lengths : array (n, 1)
        Number of candidates per row, in the type of the corrections.
    scores : array (n, k)
        Base scores as they enter the model, 0 on padding.
    embeddings : array (n, d) or None
        Embeddings of length 1, in float32.
    """

    def __init__(self, ops: Ops, plan: Plan, candidates: Candidates) -> None:
        self.ops = ops
        self.plan = plan
        self.candidates = candidates
        self.safe_ids = ops.where(candidates.mask, candidates.ids, 0)
        self.lengths = ops.row_sum(ops.cast(candidates.mask, "work"))
        self.scores = candidates.scores
        if "pre_adjustment" in plan.constants:
            self.scores = self.scores + self.per_class("pre_adjustment")
        vectors = candidates.embeddings
        self.embeddings = None if vectors is None else self.unit(ops.cast(vectors, "float32"))
        self._profiles: dict[tuple[str, bool], Array] = {}

    def scale(self) -> Array:
        """Return the factor of the scores, one number or one per candidate."""
        if len(self.plan.constants["scale"]) == 1:
            return self.ops.constant("scale")
        return self.per_class("scale")

    def ranks(self) -> Array:
        """Return the rank 0, 1, … of each candidate by `scores`, with equal scores in base order."""
        if "pre_adjustment" not in self.plan.constants:
            return self.ops.positions(self.candidates.ids)
        return self.ops.ascending(self.ops.order(self.ops.where(self.candidates.mask, self.scores, float("-inf"))))

    def per_class(self, name: str) -> Array:
        """Return each candidate's entry of a class vector, 0 on padding."""
        entries = self.ops.take(self.ops.constant(name), self.safe_ids)
        return self.real(self.ops.cast(entries, "work"))

    def real(self, values: Array) -> Array:
        """Return the values with 0 on padding."""
        return self.ops.where(self.candidates.mask, values, 0.0)

    def centred(self, values: Array) -> Array:
        """Return each candidate's value minus the mean of its row, 0 on padding."""
        return self.real(values - self.ops.row_sum(values) / self._at_least_one(self.lengths))

    def mean_difference(self, values: Array) -> Array:
        """Return the mean of f_y − f_j over the rivals j, for values that are 0 on padding."""
        return self.centred(values) * (self.lengths / self._at_least_one(self.lengths - 1.0))

    def _at_least_one(self, numbers: Array) -> Array:
        return self.ops.where(numbers >= 1.0, numbers, 1.0)

    @property
    def at_least_one_rival(self) -> Array:
        """Number of rivals per candidate (n, 1), but at least 1."""
        return self._at_least_one(self.lengths - 1.0)

    def unit(self, vectors: Array) -> Array:
        """Return float32 vectors (n, d) scaled to length 1.  A vector of zeros stays zero."""
        exact = self.ops.cast(vectors, "float64")  # the squares of float32 numbers may overflow float32
        length = self.ops.apply("sqrt", self.ops.total(exact * exact))
        return self.ops.cast(exact / self.ops.where(length > 0.0, length, 1.0), "float32")

    def profiles(self, basis: str, *, reads_all: bool) -> Array:
        """Return the profiles of the rows (see `repair.terms.score_profiles`)."""
        key = basis, reads_all
        if key not in self._profiles:
            table = self.ops.constant(basis)
            self._profiles[key] = self._of_all(table) if reads_all else self._of_candidates(table)
        return self._profiles[key]

    def _of_all(self, basis: Array) -> Array:
        scores = self.candidates.all_scores
        usable = self.ops.apply("abs", scores) <= LARGEST_SCORE
        kept = self.ops.where(usable, self.ops.cast(scores, "float64"), 0.0)
        number = self.ops.total(self.ops.cast(usable, "float64"))
        mean = self.ops.total(kept) / self.ops.where(number >= 1.0, number, 1.0)
        vectors = self.ops.cast(self.ops.where(usable, kept - mean, 0.0), "float32")
        return self.unit(self.ops.matmul(vectors, basis))

    def _of_candidates(self, basis: Array) -> Array:
        mask = self.candidates.mask
        raw = self.ops.cast(self.candidates.scores, "float64")
        roots = self.ops.cast(self.ops.apply("sqrt", masked_softmax(self.ops, raw, mask)), "float32")
        weighted = self.ops.take(basis, self.safe_ids) * self.ops.expanded(roots, 2)
        return self.unit(self.ops.squeezed(self.ops.total(weighted, axis=1), axis=1))

    def dots(self, vectors: Array, matrix: str) -> Array:
        """Return the product of each row's vector with its candidates' rows of a matrix, 0 on padding."""
        rows = self.ops.take(self.ops.constant(matrix), self.safe_ids)
        products = self.ops.total(rows * self.ops.expanded(vectors, 1))
        return self.real(self.ops.cast(self.ops.squeezed(products), "work"))


def masked_softmax(ops: Ops, values: Array, mask: Array) -> Array:
    """Return the softmax of each row over the places of the mask, 0 elsewhere, also in rows without any."""
    some = ops.total(ops.cast(mask, "int64")) > 0
    listed = ops.where(some, ops.where(mask, values, float("-inf")), 0.0)
    return ops.where(mask, ops.softmax(listed), 0.0)
