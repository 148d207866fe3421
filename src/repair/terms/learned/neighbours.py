"""Neighbours: a vote of the labelled rows whose embeddings are nearest to a row.

With many classes only rows whose label is a candidate vote (`FEW_CANDIDATES`).  Few of the nearest of
all rows would have such a label, and comparing a row with all others would take most of the time of
reranking.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.lazy import lazy
from repair._utils.parallel import even_blocks, map_row_blocks
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.errors import InputError, InputWarning, warn_user
from repair.kernels import kernels_for
from repair.terms.learned.candidate_votes import Voters, votes_apart
from repair.terms.learned.neighbour_index import build_index, nearest_in_index, require_index
from repair.terms.options import INDICES, ExtendedOptions
from repair.terms.registration import register_term
from repair.terms.term import Term
from repair.terms.view import CandidateView
from repair.validation.stored import check_unit_vectors, stored_array

__all__ = ["Neighbours", "nearest", "vote_shares"]

#: The votes: how many neighbours vote, and the width by which the weight of a vote decreases with distance.
VOTES = ((5, 0.1), (30, 0.1), (30, 0.03))
MOST_NEIGHBOURS = max(number for number, _ in VOTES)
#: If there are more than this many classes per candidate, only rows whose label is a candidate vote.  Comparing a row
#: with one in eight rows takes about as long as comparing it with all of them by a matrix product.
FEW_CANDIDATES = 8
#: If the model would keep vectors of more bytes than this, a warning is issued before the fit.
MANY_BYTES = 200_000_000
#: Rows whose similarities are in memory at once during the search, and the largest number of these similarities.
ROWS_PER_BLOCK, SIMILARITIES_PER_BLOCK = 256, 1 << 24
#: Rows that one thread searches for, and rows whose votes it counts at once, so their weights stay in the cache.
ROWS_PER_THREAD, ROWS_PER_VOTE = 2048, 512


@register_term
@dataclass(frozen=True, eq=False)
class Neighbours(Term):
    """The logarithm of the candidate's similarity-weighted share of the neighbours' votes, for several votes.

    Attributes
    ----------
    vectors : ndarray of float16 (m, d)
        Embeddings of all labelled rows, of length 1.
    labels : ndarray of int (m,)
        Class ids of the labelled rows.
    mixture : ndarray (len(VOTES),)
        Weight of each vote.
    index : {"exact", "approximate"}, default "exact"
        How neighbours are searched.
    of_candidates : bool, default False
        Whether only rows whose label is a candidate vote.  The rows are then in the order of their labels.
    n_classes : int, default 0
        Number of classes K, which is needed if `of_candidates`.
    """

    vectors: AnyArray
    labels: IntArray
    mixture: FloatArray
    index: str = "exact"
    of_candidates: bool = False
    n_classes: int = 0
    name: str = "neighbours"
    requires: tuple[str, ...] = ("embeddings",)
    learns: ClassVar[bool] = True
    holds_rows: ClassVar[bool] = True

    @classmethod
    def announce(cls, rows: CalibrationSet, options: ExtendedOptions) -> None:
        """Warn about the model size and check that usearch is installed if it is needed, before any work is done."""
        _warn_of_size(rows)
        if options.neighbour_index == "approximate":
            require_index()

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> "tuple[Neighbours, FloatArray]":
        """Keep the labelled rows, and return the covered rows' columns (n, k, 3), without votes of their own group."""
        calibration, embeddings = rows, rows.shortlist.embeddings
        assert embeddings is not None
        vectors, labels = embeddings, calibration.labels
        if calibration.reference is not None:
            vectors = np.concatenate([embeddings, calibration.reference.embeddings])
            labels = np.concatenate([labels, calibration.reference.labels])
        covered = np.flatnonzero(calibration.covered)
        # Reference rows belong to no group of the calibration rows.
        groups = np.full(len(labels), -1, dtype=np.int64)
        of_candidates = options.neighbour_index == "exact" and (
            FEW_CANDIDATES * calibration.shortlist.n_candidates < calibration.table.n_classes
        )
        kept = labels >= 0
        kept[: len(embeddings)] &= calibration.importance > 0
        ids = calibration.shortlist.ids[covered]
        voters = Voters.count(labels[kept], calibration.table.n_classes)
        per_row = voters.per_row(ids) if of_candidates else float(kept.sum())
        groups[: len(embeddings)] = votes_apart(len(embeddings), calibration.groups, per_row, MOST_NEIGHBOURS)
        query_groups = groups[covered]
        order = np.flatnonzero(kept)
        if of_candidates:
            order = order[np.argsort(labels[order], kind="stable")]
        vectors, labels, groups = vectors[order].astype(np.float16), labels[order], groups[order]
        mixture, n_classes = np.ones(len(VOTES)), calibration.table.n_classes
        term = cls(
            vectors, labels.astype(np.int32), mixture, options.neighbour_index, of_candidates, n_classes=n_classes
        )
        neighbours, similarities = term._nearest(embeddings[covered], ids, query_groups, groups)
        return term, vote_shares(ids, term.labels, neighbours, similarities)

    @property
    def embedding_width(self) -> int:
        """Width of the embeddings."""
        return int(self.vectors.shape[1])

    @lazy
    def searched(self) -> AnyArray:
        """Return the vectors in the precision of the search, float32."""
        return self.vectors.astype(np.float32)

    def collapsed(self, weights: FloatArray) -> "tuple[Neighbours, float]":
        """Return a term with the weighted mean of the votes, and its weight."""
        total = float(np.abs(weights).sum())
        mixture = weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
        term = replace(self, mixture=mixture)
        if "graph" in vars(self):
            vars(term)["graph"] = self.graph  # the vectors are the same
        return term, total

    @lazy
    def graph(self) -> Any:
        """Return the index of the approximate search, built on first use."""
        return build_index(self.vectors)

    @lazy
    def voters(self) -> Voters:
        """Return the number of rows of each class."""
        return Voters.count(self.labels, self.n_classes)

    def _nearest(
        self,
        queries: AnyArray,
        ids: IntArray,
        query_groups: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> tuple[IntArray, AnyArray]:
        """Return the nearest labelled rows that may vote for the candidates `ids`, and their similarities."""
        if self.of_candidates:
            return self.voters.nearest(queries, self.searched, ids, query_groups, groups, MOST_NEIGHBOURS)
        if self.index == "approximate":
            return nearest_in_index(self.graph, queries, self.vectors, MOST_NEIGHBOURS, query_groups, groups)
        return nearest(queries, self.searched, MOST_NEIGHBOURS, query_groups, groups)

    def column(self, view: CandidateView) -> FloatArray:
        """Return the mixture of the votes."""
        embeddings = view.shortlist.embeddings
        assert embeddings is not None
        votes = vote_shares(view.shortlist.ids, self.labels, *self._nearest(embeddings, view.shortlist.ids))
        column = np.zeros(view.shortlist.ids.shape)
        for vote, share in enumerate(self.mixture):
            column += share * votes[:, :, vote]
        return np.where(view.mask, column, 0.0)

    def notes(self) -> tuple[str, ...]:
        """Return sentences about the rows that the model keeps."""
        n_bytes = self.vectors.nbytes + self.labels.nbytes
        size = f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.1f} kB"
        kept = f"neighbours: the model keeps {len(self.labels)} labelled rows as float16 vectors ({size})"
        if self.index == "exact":
            return (kept,)
        return kept, "neighbours: their index is not kept; it is built when the model is first used"

    def for_classes(self, n_classes: int) -> Self:
        """Return the term for a longer list of classes.  New classes are no neighbour's label, so they get no votes."""
        return replace(self, n_classes=n_classes) if self.of_candidates else self

    def arrays(self) -> dict[str, AnyArray]:
        """Return the labelled rows and the mixture of the votes."""
        return {"vectors": self.vectors, "labels": self.labels, "mixture": self.mixture}

    def description(self) -> dict[str, Any]:
        """Return the number, width and type of the labelled rows that the file contains, and how they are searched."""
        rows, width = self.vectors.shape
        known = {"rows": rows, "width": width, "dtype": "float16", "index": self.index}
        return known | {"of_candidates": self.of_candidates}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable
    ) -> "Neighbours":
        """Build the term from the arrays of a file, or raise an error if they are invalid."""
        vectors, labels = stored_array(arrays, "vectors", np.float16, 2), stored_array(arrays, "labels", np.int32, 1)
        if not len(labels) or len(labels) != len(vectors) or labels.min() < 0 or labels.max() >= table.n_classes:
            raise InputError("labels must name a known class for each of the vectors")
        if vectors.shape[1] < 1:
            raise InputError("vectors must have at least one number each")
        check_unit_vectors(vectors, "vectors")
        mixture = stored_array(arrays, "mixture", np.float64, 1)
        if len(mixture) != len(VOTES):
            raise InputError(f"mixture has {len(mixture)} entries, not {len(VOTES)}")
        if description.get("index") not in INDICES:
            raise InputError(f"index is {description.get('index')!r}; expected one of {INDICES}")
        of_candidates = description.get("of_candidates", False)
        if of_candidates not in (True, False) or (of_candidates and (np.diff(labels) < 0).any()):
            raise InputError("of_candidates must be true or false; if it is true, labels must be in ascending order")
        return cls(vectors, labels, mixture, str(description["index"]), of_candidates, n_classes=table.n_classes)


def _warn_of_size(rows: CalibrationSet) -> None:
    """Warn before the fit if the model would keep very many labelled rows."""
    embeddings = rows.shortlist.embeddings
    assert embeddings is not None
    n_reference = 0 if rows.reference is None else int((rows.reference.labels >= 0).sum())
    n_rows, width = int((rows.labels >= 0).sum()) + n_reference, embeddings.shape[1]
    size = 2 * n_rows * width
    if size > MANY_BYTES:
        warn_user(
            f"the model will keep {n_rows} labelled rows as vectors of {width} float16 numbers ({size / 1e6:.0f} MB); "
            "pass fewer reference rows or shorter vectors, or leave the term 'neighbours' out of terms",
            InputWarning,
        )


def nearest(
    queries: AnyArray,
    vectors: AnyArray,
    number: int,
    query_groups: AnyArray | None = None,
    groups: AnyArray | None = None,
) -> tuple[IntArray, AnyArray]:
    """Return the nearest vectors of each query, nearest first, and their similarities.

    The search is exact and runs block by block.

    Parameters
    ----------
    queries : ndarray of float32 (n, d)
    vectors : ndarray of float32 (m, d)
    number : int
        Number of vectors to return per query.
    query_groups, groups : ndarray of int (n,) and (m,), optional
        Groups of the queries and of the vectors.  Vectors of a query's own group are left out.

    Returns
    -------
    neighbours : ndarray of int32 (n, min(number, m))
        Indices of the nearest vectors.
    similarities : ndarray of float32 (n, min(number, m))
        Their similarities, −Inf for vectors that are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.terms.learned.neighbours import nearest
    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], dtype=np.float32)
    >>> nearest(vectors[:1], vectors, 2, np.array([0]), np.arange(3))[0].tolist()
    [[2, 1]]
    """
    number = min(number, len(vectors))
    neighbours = np.empty((len(queries), number), dtype=np.int32)
    similarities = np.empty((len(queries), number), dtype=np.float32)
    own = None if query_groups is None or groups is None else _OwnGroup(query_groups, groups)
    step = min(ROWS_PER_BLOCK, max(1, SIMILARITIES_PER_BLOCK // len(vectors)))
    largest_in_rows = kernels_for(neighbours.size).largest_in_rows

    def search(rows: slice) -> None:
        memory = np.empty((min(step, rows.stop - rows.start), len(vectors)), dtype=np.float32)
        for start in range(rows.start, rows.stop, step):
            block = slice(start, min(start + step, rows.stop))
            products = np.matmul(queries[block], vectors.T, out=memory[: block.stop - block.start])
            if own is not None:
                products[own.pairs(block)] = -np.inf
            # By similarity, then by index, so equally similar vectors always come in the same order.
            largest_in_rows(products, neighbours[block], similarities[block])

    map_row_blocks(search, even_blocks(len(queries), ROWS_PER_THREAD))
    return neighbours, similarities


class _OwnGroup:
    """Finds the vectors of a query's own group without comparing every query with every vector."""

    def __init__(self, query_groups: AnyArray, groups: AnyArray) -> None:
        self.order = np.argsort(groups, kind="stable")
        in_order = groups[self.order]
        self.first = np.searchsorted(in_order, query_groups, side="left")
        self.counts = np.searchsorted(in_order, query_groups, side="right") - self.first

    def pairs(self, block: slice) -> tuple[AnyArray, AnyArray]:
        """Return the pairs of a query, counted from the start of the block, and a vector of its group."""
        first, counts = self.first[block], self.counts[block]
        queries = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(queries)) - np.repeat(np.cumsum(counts) - counts, counts)
        return queries, self.order[np.repeat(first, counts) + within]


def vote_shares(
    ids: IntArray,
    labels: IntArray,
    neighbours: IntArray,
    similarities: AnyArray,
    votes: tuple[tuple[int, float], ...] = VOTES,
) -> FloatArray:
    """Return the log share of the votes for each candidate, with one column per vote."""
    numbers, widths, kinds = _plan(votes)
    columns = np.zeros((*ids.shape, len(votes)))
    vote_sums = kernels_for(neighbours.size).vote_sums

    def count(rows: slice) -> None:
        distances = similarities[rows].astype(np.float64) - 1.0
        weights, shares = np.exp(distances / widths), columns[rows]
        totals = np.zeros((len(distances), len(votes)))
        vote_sums(ids[rows], labels[neighbours[rows]], weights, kinds, numbers, shares, totals)
        shares /= np.where(totals > 0, totals, 1.0)[:, None, :]  # all are 0 if there are no neighbours
        shares += 1.0 / numbers
        np.log(shares, out=shares)

    map_row_blocks(count, even_blocks(len(ids), ROWS_PER_VOTE))
    return columns


@cache
def _plan(votes: tuple[tuple[int, float], ...]) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the number of neighbours of each vote, the different widths (w, 1, 1), and the width of each vote."""
    widths = sorted({width for _, width in votes})
    kinds = np.array([widths.index(width) for _, width in votes])
    return np.array([number for number, _ in votes]), np.array(widths)[:, None, None], kinds
