"""What each term is made of: the name of its formula, its arrays and its numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.data.class_table import ClassTable
from repair.errors import InputError, Remedy
from repair.similarity.lookup import DenseSimilarity, SparseSimilarity
from repair.terms.learned import neighbours, score_neighbours
from repair.terms.learned.context import Context
from repair.terms.learned.discriminant import Discriminant
from repair.terms.learned.head import CONSTANT as HEAD_CONSTANT
from repair.terms.learned.head import Head
from repair.terms.learned.logistic_head import LogisticHead
from repair.terms.learned.neighbours import Neighbours
from repair.terms.learned.profile_term import READS, ProfileTerm
from repair.terms.learned.score_by_frequency import ScoreByFrequency
from repair.terms.learned.score_head import CONSTANT as SCORE_HEAD_CONSTANT
from repair.terms.learned.score_head import ScoreHead
from repair.terms.learned.score_neighbours import ScoreNeighbours
from repair.terms.log_freq_ratio import LogFrequencyRatio
from repair.terms.rank_gap import RankGap
from repair.terms.score_gap import ScoreGap
from repair.terms.similarity import MeanSimilarity
from repair.terms.term import Term

__all__ = ["plan_of_term"]

#: With more entries than this, a similarity matrix (float64, 1 GB) does not fit into one file next to the rest.
MOST_SIMILARITIES = 1 << 27

TermParts = tuple[str, dict[str, AnyArray], dict[str, Any]]


def plan_of_term(term: Term, table: ClassTable) -> TermParts:
    """Return the formula of a term, its arrays and its numbers, or raise an error that names the term."""
    describe = DESCRIPTIONS.get(type(term))
    if describe is None:
        raise InputError(
            f"the term {term.name!r} ({type(term).__name__}) has no formula for exports; "
            "leave it out of terms, or add one to repair.export.term_plans and repair.export.columns"
        )
    return describe(term, table)


def _score_gap(term: Term, table: ClassTable) -> TermParts:
    return "score_gap", {}, {}


def _rank_gap(term: Term, table: ClassTable) -> TermParts:
    return "rank_gap", {}, {}


def _log_freq_ratio(term: Term, table: ClassTable) -> TermParts:
    return "log_freq_ratio", {"log_counts": table.log_counts}, {}


def _similarity(term: Term, table: ClassTable) -> TermParts:
    similarity = table.similarity
    if not isinstance(similarity, DenseSimilarity | SparseSimilarity):
        raise InputError(
            "the term 'similarity' cannot be exported, because the similarity is a function, and files contain no code",
            Remedy("pass-matrix", "fit with a matrix (numpy or scipy.sparse)"),
        )
    size = table.n_classes**2
    if size > MOST_SIMILARITIES:
        raise InputError(
            f"the term 'similarity' cannot be exported: the matrix of {table.n_classes} classes has {size} entries, "
            f"more than the {MOST_SIMILARITIES} that fit into a file; fit without the term"
        )
    if isinstance(similarity, DenseSimilarity):
        return "similarity", {"matrix": similarity.table.ravel()}, {}
    matrix = np.zeros(size)
    matrix[similarity.keys] = similarity.values
    return "similarity", {"matrix": matrix}, {}


def _score_by_frequency(term: Term, table: ClassTable) -> TermParts:
    assert isinstance(term, ScoreByFrequency)
    return "score_by_frequency", {"relative_log_counts": table.log_counts - term.centre}, {}


def _profile(term: ProfileTerm) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    return {"basis": term.basis}, {"reads_all": term.reads == READS[0]}


def _context(term: Term, table: ClassTable) -> TermParts:
    assert isinstance(term, Context)
    arrays, numbers = _profile(term)
    return "context", {**arrays, "landmarks": term.landmarks, "matrix": term.matrices[0]}, numbers


def _score_head(term: Term, table: ClassTable) -> TermParts:
    assert isinstance(term, ScoreHead)
    arrays, numbers = _profile(term)
    return "score_head", {**arrays, "matrix": term.matrices[0]}, {**numbers, "constant": SCORE_HEAD_CONSTANT}


def _score_neighbours(term: Term, table: ClassTable) -> TermParts:
    assert isinstance(term, ScoreNeighbours)
    arrays, numbers = _profile(term)
    rows = {"vectors": term.searched, "labels": term.labels.astype(np.int64)}
    votes = _votes(score_neighbours.VOTES, term.mixture, len(term.labels))
    return "score_neighbours", {**arrays, **rows}, {**numbers, **votes}


def _neighbours(term: Term, table: ClassTable) -> TermParts:
    assert isinstance(term, Neighbours)
    if term.index != "exact":
        raise InputError(
            "the term 'neighbours' cannot be exported with the approximate index, because its search in a graph is "
            "not a sequence of standard operators, and an exact search would give other neighbours",
            Remedy("use-exact-index", "fit with ExtendedOptions(neighbour_index='exact')"),
        )
    rows = {"vectors": term.searched, "labels": term.labels.astype(np.int64)}
    votes = _votes(neighbours.VOTES, term.mixture, len(term.labels))
    return "neighbours", rows, {**votes, "of_candidates": term.of_candidates}


def _votes(votes: tuple[tuple[int, float], ...], mixture: AnyArray, n_rows: int) -> dict[str, Any]:
    """Return the numbers of a vote: (neighbours, width, weight) of each, and how many neighbours are searched."""
    planned = tuple((number, width, float(weight)) for (number, width), weight in zip(votes, mixture, strict=True))
    return {"votes": planned, "searched": min(n_rows, max(number for number, _ in votes))}


def _head(term: Term, table: ClassTable) -> TermParts:
    assert isinstance(term, Head)
    return "head", {"matrix": term.matrices[0]}, {"constant": HEAD_CONSTANT}


DESCRIPTIONS: dict[type[Term], Callable[[Term, ClassTable], TermParts]] = {
    ScoreGap: _score_gap,
    RankGap: _rank_gap,
    LogFrequencyRatio: _log_freq_ratio,
    MeanSimilarity: _similarity,
    ScoreByFrequency: _score_by_frequency,
    Context: _context,
    ScoreHead: _score_head,
    ScoreNeighbours: _score_neighbours,
    Neighbours: _neighbours,
    Head: _head,
    LogisticHead: _head,
    Discriminant: _head,
}
