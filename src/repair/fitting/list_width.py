"""How many classes per row the extended mode ranks, chosen on the calibration rows.

A longer list takes more time, and helps only on rows whose label a short list misses but other
knowledge about the row can name.  That knowledge is asked for directly: the labelled rows that are
nearest to the row, by embeddings or else by scores, vote for a class.  A label that they name and the
list misses could have been found with a longer list.
"""

from typing import NamedTuple

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, IntArray, as_floats, dot
from repair.data.adjusted_shortlist import TAUS, classes_above_labels
from repair.data.calibration_set import CalibrationSet
from repair.terms.learned.neighbours import nearest
from repair.terms.learned.profile_term import FAST_LANDMARKS, MOST_CLASSES, landmark_rows
from repair.terms.options import ExtendedOptions
from repair.terms.score_profiles import SCORES_WIDTH, basis_of, profiles_of_scores, whole_vectors

__all__ = ["number_ranked"]

#: Numbers of classes that are tried between `n_candidates` and the largest, in this order.
WIDTHS = (20, 30, 50)
#: Largest number of classes that are ranked by default.
MOST_RANKED = 100
#: With embeddings and fewer rows than this, or no more than `MOST_RANKED` classes, the list is as long as possible.  It
#: costs little then, and a few hundred rows show too few missed labels: on 100 rows of a design entry, three lists that
#: were chosen instead lost 1.8 points.
FEW_ROWS = 5000
#: A list is long enough if at most this share of the rows has a label that it misses and the neighbours name.  By their
#: scores, it was at most 0.8 % on calibration rows of design entries with 10 candidates.  With the scores of a third of
#: the classes interchanged it was 1.2 to 23 %, and longer lists gained up to 15 points.  Neighbours by embeddings name
#: labels more reliably, so with a list that misses 1 % of them, more than half a point was lost.
TOLERATED, TOLERATED_BY_EMBEDDINGS = 0.01, 0.003
#: But a single row is not enough.
FEWEST = 2
#: Number of neighbours that vote, and the width by which the weight of a vote decreases with distance.
NEIGHBOURS, NARROWNESS = 5, 0.1
#: Largest numbers of rows that are looked at, and of rows that vote by their scores.
MOST_ROWS, MOST_VOTERS = 1000, 4096


def number_ranked(rows: CalibrationSet, options: ExtendedOptions, *, learned: bool = True) -> int:
    """Return the number of classes per row that the extended mode ranks.

    Parameters
    ----------
    rows : CalibrationSet
    options : ExtendedOptions
    learned : bool, default True
        Whether terms are learned.  Without them, the scores say nothing about classes far down the list.
    """
    given, n_classes = rows.shortlist.n_candidates, rows.table.n_classes
    if rows.all_scores is None:
        return given
    most, by_embeddings = min(max(given, MOST_RANKED), n_classes), rows.shortlist.embeddings is not None
    if options.n_ranked is not None:
        return min(max(given, options.n_ranked), n_classes)
    if options.fast or most == given:
        return given
    if by_embeddings and (most == n_classes or len(rows.labels) < FEW_ROWS):
        return most
    return _chosen(rows, options, given, most) if learned and n_classes <= MOST_CLASSES else given


def _chosen(rows: CalibrationSet, options: ExtendedOptions, given: int, most: int) -> int:
    """Return the smallest width whose lists miss few labels that the neighbours name."""
    assert rows.all_scores is not None
    usable = np.flatnonzero((rows.labels >= 0) & (rows.importance > 0))
    queries = usable[:: -(-len(usable) // MOST_ROWS)]
    weights = rows.importance[queries] / rows.importance[queries].sum()
    taus = TAUS if options.shortlist_tau is None else (options.shortlist_tau,)
    above = classes_above_labels(rows.all_scores[queries], rows.labels[queries], rows.table, taus)
    tolerated = TOLERATED if rows.shortlist.embeddings is None else TOLERATED_BY_EMBEDDINGS
    named: BoolArray | None = None
    for width in (given, *(width for width in WIDTHS if given < width < most)):
        missed = above >= width
        shares = [dot(weights, column.astype(np.float64)) for column in missed.T]
        best = int(np.argmin(shares))
        if shares[best] <= tolerated:
            return width
        named = _named(rows, queries, usable) if named is None else named
        found = named & missed[:, best]
        if dot(weights, found.astype(np.float64)) <= tolerated or found.sum() < FEWEST:
            return width
    return most


class _Voters(NamedTuple):
    """Rows that vote: unit vectors, labels and groups.  Rows do not vote for rows of their group."""

    vectors: AnyArray
    labels: IntArray
    groups: AnyArray


def _named(rows: CalibrationSet, queries: AnyArray, usable: AnyArray) -> BoolArray:
    """Return whether the neighbours of each row give its label the most votes, without rows of its group."""
    groups = np.arange(len(rows.labels)) if rows.groups is None else rows.groups
    if rows.shortlist.embeddings is not None:
        asked = rows.shortlist.embeddings[queries]
        voters = _Voters(rows.shortlist.embeddings[usable], rows.labels[usable], groups[usable])
        if rows.reference is not None:
            known = rows.reference.labels >= 0
            voters = _Voters(
                np.concatenate([voters.vectors, rows.reference.embeddings[known]]),
                np.concatenate([voters.labels, rows.reference.labels[known]]),
                np.concatenate([voters.groups, np.full(int(known.sum()), -1, dtype=voters.groups.dtype)]),
            )
    else:
        assert rows.all_scores is not None
        voting = usable[:: -(-len(usable) // MOST_VOTERS)]
        landmarks = voting[landmark_rows(rows.shortlist.take(voting), FAST_LANDMARKS)]
        whole = whole_vectors(rows.shortlist.take(landmarks), as_floats(rows.all_scores[landmarks]))
        basis = basis_of(whole, SCORES_WIDTH, centred=True)
        asked = profiles_of_scores(rows.all_scores[queries], basis)
        vectors = profiles_of_scores(rows.all_scores[voting], basis)
        voters = _Voters(vectors, rows.labels[voting], groups[voting])
    neighbours, similarities = nearest(asked, voters.vectors, NEIGHBOURS, groups[queries], voters.groups)
    classes = voters.labels[neighbours]
    weights = np.exp((similarities.astype(np.float64) - 1.0) / NARROWNESS)  # 0 for rows of the same group
    votes = np.where(classes[:, :, None] == classes[:, None, :], weights[:, None, :], 0.0).sum(axis=2)
    own = np.where(classes == rows.labels[queries][:, None], votes, 0.0).max(axis=1)
    named: BoolArray = (own > 0) & (own == votes.max(axis=1))
    return named
