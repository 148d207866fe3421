"""Votes of labelled rows for the candidates of a row: who may vote, and the search among rows of the candidates."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair._utils.parallel import even_blocks, map_row_blocks
from repair.kernels import kernels_for
from repair.stats.folds import FOLDS, group_folds
from repair.stats.row_weights import number_of_units

__all__ = ["Voters", "votes_apart"]

#: With fewer rows per neighbour to choose from than this, whole folds do not vote for each other.
FEW_VOTERS = 3
#: Rows whose neighbours one thread searches at once.
ROWS_PER_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Voters:
    """Rows in the order of their labels, as the number of rows per class.

    Attributes
    ----------
    starts : ndarray of int32 (K + 1,)
        Place of the first row of each class, and the number of rows at the end.
    per_class : ndarray of int32 (K + 1,)
        Number of rows of each class, and 0 at the end for padding.
    """

    starts: IntArray
    per_class: IntArray

    @classmethod
    def count(cls, labels: IntArray, n_classes: int) -> Self:
        """Count labels, which may be in any order."""
        per_class = np.bincount(labels, minlength=n_classes)
        starts = np.concatenate([[0], np.cumsum(per_class)])
        return cls(starts.astype(np.int32), np.append(per_class, 0).astype(np.int32))

    def per_row(self, ids: IntArray) -> float:
        """Return the mean number of rows whose label is among the candidates `ids` of a row."""
        return float(self.per_class[ids].sum(axis=1).mean())

    def nearest(
        self,
        queries: AnyArray,
        vectors: AnyArray,
        ids: IntArray,
        query_groups: AnyArray | None,
        groups: AnyArray | None,
        most: int,
    ) -> tuple[IntArray, AnyArray]:
        """Return the nearest vectors of each query among those of its candidates, and their similarities.

        Parameters
        ----------
        queries : ndarray of float32 (n, d)
        vectors : ndarray of float32 (m, d)
            In the order of their labels.
        ids : ndarray of int32 (n, k)
            Candidates of each query.
        query_groups, groups : ndarray of int (n,) and (m,), or None
            Vectors of a query's own group are left out.
        most : int
            Largest number of vectors to return per query.
        """
        if query_groups is None or groups is None:
            query_groups, groups = np.full(len(ids), -1), np.zeros(len(vectors), dtype=np.int64)
        rows_of, others = query_groups, groups
        width = max(1, min(most, int(self.per_class[ids].sum(axis=1).max(initial=0))))
        places = np.empty((len(ids), width), dtype=np.int32)
        similarities = np.empty((len(ids), width), dtype=np.float32)
        kernel = kernels_for(places.size).nearest_of_candidates

        def search(rows: slice) -> None:
            out = places[rows], similarities[rows]
            kernel(queries[rows], vectors, self.starts, ids[rows], rows_of[rows], others, *out)

        map_row_blocks(search, even_blocks(len(ids), ROWS_PER_BLOCK))
        return places, similarities


def votes_apart(n_rows: int, groups: IntArray | None, voters_per_row: float, neighbours: int) -> IntArray:
    """Return a code per calibration row.  Rows with the same code do not vote for each other.

    Normally the codes are the rows' groups, or each row has its own.  But if nearly all rows of the
    candidates vote, the votes of a class are almost its number of rows, except for its own rows, which
    lack their own vote.  So few votes for a class would reveal the label, and the fit would learn that.
    Then the codes are five folds of whole groups.

    Parameters
    ----------
    n_rows : int
    groups : ndarray of int (n_rows,) or None
        Consecutive group codes from 0.
    voters_per_row : float
        Mean number of rows that may vote for the candidates of a row.
    neighbours : int
        Largest number of rows that do.

    Examples
    --------
    >>> from repair.terms.learned.candidate_votes import votes_apart
    >>> votes_apart(4, None, 1000.0, 100).tolist()
    [0, 1, 2, 3]
    >>> sorted(votes_apart(6, None, 6.0, 100).tolist())
    [0, 0, 1, 2, 3, 4]
    """
    if voters_per_row >= FEW_VOTERS * neighbours:
        return np.arange(n_rows, dtype=np.int32) if groups is None else groups
    return group_folds(n_rows, groups, min(FOLDS, number_of_units(n_rows, groups)), seed=0)
