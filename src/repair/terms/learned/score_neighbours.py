"""Score neighbours: a vote of the labelled rows whose scores are most like those of a row.

Rows are compared by their profiles (`repair.terms.score_profiles`), so this needs no embeddings.
Only rows whose label is a candidate vote.  With many classes, few of the nearest rows would have such
a label, and comparing a row with all others would take most of the time of reranking.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.lazy import lazy
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.stats.row_weights import renumbered
from repair.terms.learned.candidate_votes import Voters, votes_apart
from repair.terms.learned.neighbours import vote_shares
from repair.terms.learned.profile_term import ProfileTerm, landmark_rows, learn_profiles, stored_basis
from repair.terms.options import ExtendedOptions
from repair.terms.registration import register_term
from repair.terms.view import CandidateView
from repair.validation.stored import check_unit_vectors, stored_array

__all__ = ["ScoreNeighbours"]

#: The votes: how many neighbours vote, and the width by which the weight of a vote decreases with distance.
VOTES = ((5, 0.1), (12, 0.03), (30, 0.03), (30, 0.1), (100, 0.1), (100, 0.3))
MOST_NEIGHBOURS = max(number for number, _ in VOTES)
#: Largest number of rows that can vote.  More would make reranking slow.
MOST_ROWS = 4096


@register_term
@dataclass(frozen=True, eq=False)
class ScoreNeighbours(ProfileTerm):
    """The logarithm of the candidate's share of the votes of rows with similar scores, for several votes.

    Attributes
    ----------
    vectors : ndarray of float16 (m, r)
        Profiles of calibration rows, in the order of their labels.
    labels : ndarray of int (m,)
        Class ids of these rows.
    mixture : ndarray (len(VOTES),)
        Weight of each vote.
    """

    vectors: AnyArray
    labels: IntArray
    mixture: FloatArray
    name: str = "score_neighbours"
    learns: ClassVar[bool] = True
    holds_rows: ClassVar[bool] = True

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> tuple[Self, FloatArray]:
        """Keep labelled rows, and return the covered rows' columns, without votes of their own group."""
        known = learn_profiles(rows, options)
        covered, shortlist, labels = known.covered, known.shortlist, rows.labels[known.covered].astype(np.int32)
        voters = landmark_rows(shortlist, MOST_ROWS)
        voters = voters[rows.importance[covered[voters]] > 0]
        voters = voters[np.argsort(labels[voters], kind="stable")]
        vectors = known.vectors[voters].astype(np.float16)
        term = cls(known.basis, known.reads, vectors, labels[voters], np.ones(len(VOTES)))
        known_groups = None if rows.groups is None else renumbered(rows.groups[covered])
        groups = votes_apart(len(covered), known_groups, term.voters.per_row(shortlist.ids), MOST_NEIGHBOURS)
        return term, term._votes(known.vectors, shortlist.ids, groups, groups[voters])

    @lazy
    def searched(self) -> AnyArray:
        """Return the vectors in the precision of the search, float32."""
        return self.vectors.astype(np.float32)

    @lazy
    def voters(self) -> Voters:
        """Return the number of vectors of each class."""
        return Voters.count(self.labels, len(self.basis))

    def collapsed(self, weights: FloatArray) -> tuple[Self, float]:
        """Return a term with the weighted mean of the votes, and its weight."""
        total = float(np.abs(weights).sum())
        mixture = weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
        return replace(self, mixture=mixture), total

    def column(self, view: CandidateView) -> FloatArray:
        """Return the mixture of the votes."""
        votes = self._votes(self.profiles(view), view.shortlist.ids)
        column = np.zeros(view.shortlist.ids.shape)
        for vote, share in enumerate(self.mixture):
            column += share * votes[:, :, vote]
        return np.where(view.mask, column, 0.0)

    def _votes(
        self,
        profiles: AnyArray,
        ids: IntArray,
        row_groups: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> FloatArray:
        """Return the log shares of the votes (n, k, len(VOTES)).  Rows of the same group do not vote."""
        near = self.voters.nearest(profiles, self.searched, ids, row_groups, groups, MOST_NEIGHBOURS)
        return vote_shares(ids, self.labels, *near, VOTES)

    def notes(self) -> tuple[str, ...]:
        """Return a sentence about the rows that the model keeps."""
        rows, width = self.vectors.shape
        return (f"score_neighbours: the model keeps the base scores of {rows} labelled rows, as {width} numbers each",)

    def arrays(self) -> dict[str, AnyArray]:
        """Return the basis, the labelled rows and the mixture of the votes."""
        return {"basis": self.basis, "vectors": self.vectors, "labels": self.labels, "mixture": self.mixture}

    def description(self) -> dict[str, Any]:
        """Return the number, width and type of the labelled rows that the file contains."""
        rows, width = self.vectors.shape
        return {"reads": self.reads, "rows": rows, "width": width, "dtype": "float16"}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable) -> Self:
        """Build the term from the arrays of a file, or raise an error if they are invalid."""
        basis, reads = stored_basis(arrays, description, table)
        vectors, labels = stored_array(arrays, "vectors", np.float16, 2), stored_array(arrays, "labels", np.int32, 1)
        if not len(labels) or len(labels) != len(vectors) or labels.min() < 0 or labels.max() >= table.n_classes:
            raise InputError("labels must name a known class for each of the vectors")
        if (np.diff(labels) < 0).any():
            raise InputError("labels must be in ascending order")
        if vectors.shape[1] != basis.shape[1]:
            raise InputError(f"vectors of shape {vectors.shape} must have {basis.shape[1]} numbers each")
        check_unit_vectors(vectors, "vectors")
        mixture = stored_array(arrays, "mixture", np.float64, 1)
        if len(mixture) != len(VOTES):
            raise InputError(f"mixture has {len(mixture)} entries, not {len(VOTES)}")
        return cls(basis, reads, vectors, labels, mixture)
