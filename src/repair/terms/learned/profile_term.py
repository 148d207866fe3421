"""What the learned terms that read a row's profile have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.terms.options import ExtendedOptions
from repair.terms.score_profiles import (
    CANDIDATES_WIDTH,
    SCORES_WIDTH,
    basis_of,
    profiles_of_candidates,
    profiles_of_scores,
    whole_vectors,
)
from repair.terms.term import Term
from repair.terms.view import CandidateView
from repair.validation.stored import stored_array

__all__ = ["READS", "ProfileTerm", "Profiles", "landmark_rows", "learn_profiles"]

#: What a profile can be computed from: the scores of all classes, or those of the candidates.
READS = ("scores", "candidates")
#: With more classes than this, a matrix of one row of numbers per class is too large.
MOST_CLASSES = 1 << 14
#: Largest number of landmarks, the rows from which the basis of the profiles is computed, also in fast fits.
LANDMARKS, FAST_LANDMARKS = 512, 256


@dataclass(frozen=True, eq=False)
class ProfileTerm(Term):
    """A term that reads the profile of a row, its scores as a short vector.

    Attributes
    ----------
    basis : ndarray of float32 (K, r)
        Matrix that maps scores to profiles.
    reads : {"scores", "candidates"}
        What the profile is computed from: the scores of all classes, or those of the candidates.
    """

    basis: AnyArray
    reads: str

    @classmethod
    def why_not(cls, rows: CalibrationSet) -> str:
        """Return the reason why the term cannot be learned from these rows, or '' if it can."""
        if rows.table.n_classes > MOST_CLASSES:
            return f"{rows.table.n_classes} classes are more than {MOST_CLASSES}"
        return "" if rows.shortlist.n_candidates > 1 else "it needs at least two candidates per row"

    @property
    def row_width(self) -> int | None:
        """Width of a profile if it is computed from all scores, else None."""
        return int(self.basis.shape[1]) if self.reads == READS[0] else None

    def row_vectors(self, scores: AnyArray) -> AnyArray:
        """Return the profiles of rows whose scores are all known."""
        return profiles_of_scores(scores, self.basis)

    def has_row_vectors_of(self, other: Term) -> bool:
        """Return whether another term computes the same profiles."""
        return isinstance(other, ProfileTerm) and self.reads == other.reads and np.array_equal(self.basis, other.basis)

    def profiles(self, view: CandidateView) -> AnyArray:
        """Return the profiles of the rows of a view."""
        if self.row_width is None:
            return profiles_of_candidates(view.shortlist, self.basis)
        return view.shortlist.row_vectors[self.name]

    def for_classes(self, n_classes: int) -> Self:
        """Return the term for a longer list of classes.  The scores of new classes do not change a profile."""
        added = n_classes - len(self.basis)
        return replace(self, basis=np.pad(self.basis, ((0, added), (0, 0))))


@dataclass(frozen=True, eq=False)
class Profiles:
    """The profiles of the covered rows of a calibration set.

    Attributes
    ----------
    covered : ndarray of int (n,)
        Indices of the covered rows.
    shortlist : Shortlist
        Their shortlists, without embeddings.
    landmarks : ndarray of int
        Landmarks, as indices of the covered rows.
    basis : ndarray of float32 (K, r)
    vectors : ndarray of float32 (n, r)
        The profiles.
    reads : str
        What they are computed from, one of `READS`.
    """

    covered: AnyArray
    shortlist: Shortlist
    landmarks: IntArray
    basis: AnyArray
    vectors: AnyArray
    reads: str


#: Profiles by calibration set and number of landmarks, because several terms use the same.
_learned: "WeakKeyDictionary[CalibrationSet, dict[int, Profiles]]" = WeakKeyDictionary()


def learn_profiles(rows: CalibrationSet, options: ExtendedOptions) -> Profiles:
    """Learn a basis, and compute the profiles of the covered rows with it."""
    number = FAST_LANDMARKS if options.fast else LANDMARKS
    learned = _learned.setdefault(rows, {})
    if number not in learned:
        learned[number] = _learn_profiles(rows, number)
    return learned[number]


def _learn_profiles(rows: CalibrationSet, number: int) -> Profiles:
    covered, scores = np.flatnonzero(rows.covered), rows.all_scores
    shortlist = rows.shortlist.with_embeddings(None).take(covered)
    chosen = landmark_rows(shortlist, number)
    if scores is None:
        basis = basis_of(whole_vectors(shortlist.take(chosen), None), CANDIDATES_WIDTH)
        vectors = profiles_of_candidates(shortlist, basis)
    else:
        basis = basis_of(whole_vectors(shortlist.take(chosen), scores[covered[chosen]]), SCORES_WIDTH, centred=True)
        vectors = profiles_of_scores(scores, basis)[covered]
    return Profiles(covered, shortlist, chosen, basis, vectors, READS[1] if scores is None else READS[0])


def landmark_rows(shortlist: Shortlist, number: int) -> IntArray:
    """Choose at most `number` rows, taking turns between the base model's best classes so rare ones are included.

    The best class is used instead of the label, because no row's column may depend on its own label.
    """
    order = np.random.default_rng(0).permutation(len(shortlist))
    best = shortlist.ids[order, 0]
    by_class = np.argsort(best, kind="stable")
    sizes = np.bincount(np.maximum(best, 0))
    turn = np.empty(len(order), dtype=np.int64)
    turn[by_class] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen: IntArray = np.sort(order[np.argsort(turn, kind="stable")[:number]])
    return chosen


def stored_basis(
    arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable
) -> tuple[AnyArray, str]:
    """Return the basis and `reads` of a stored term, or raise an error if they are invalid."""
    basis = stored_array(arrays, "basis", np.float32, 2)
    if len(basis) != table.n_classes or basis.shape[1] < 1:
        raise InputError(f"basis of shape {basis.shape} must have one row for each of {table.n_classes} classes")
    reads = str(description.get("reads"))
    if reads not in READS:
        raise InputError(f"reads is {description.get('reads')!r}; expected one of {READS}")
    return basis, reads
