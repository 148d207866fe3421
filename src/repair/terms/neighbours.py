"""Neighbours: what the labelled rows nearest to a row are labelled with."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.calibration import CalibrationSet
from repair.candidates import CandidateView
from repair.lazy import lazy
from repair.terms.neighbour_index import build_index, nearest_in_index

__all__ = ["INDICES", "Neighbours", "nearest"]

#: How neighbours can be looked for.
INDICES = ("exact", "approximate")

#: How many neighbours vote, and how fast their votes fade with distance: (number, width).
VOTES = ((5, 0.1), (30, 0.1), (30, 0.03))
MOST_NEIGHBOURS = max(number for number, _ in VOTES)
#: Similarities in memory at once while searching.
SIMILARITIES_PER_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Logarithm of the similarity-weighted share of votes for the candidate, for several ways to count.

    Attributes
    ----------
    vectors : ndarray of float16 (m, d)
        Of all labelled rows, of length 1.
    labels : ndarray of int (m,)
    mixture : ndarray (len(VOTES),)
        What each way to count weighs.
    index : {"exact", "approximate"}
        How neighbours are looked for.
    """

    vectors: AnyArray
    labels: IntArray
    mixture: FloatArray
    index: str = "exact"
    name: str = "neighbours"
    requires: tuple[str, ...] = ()
    copies: float = 1.0

    @classmethod
    def learn(cls, calibration: CalibrationSet, index: str = "exact") -> "tuple[Neighbours, FloatArray]":
        """Keep the labelled rows; return also the covered rows' columns (n, k, 3), own groups left out."""
        own = calibration.shortlist.embeddings
        assert own is not None
        vectors, labels = own, calibration.labels
        if calibration.reference is not None:
            vectors = np.concatenate([own, calibration.reference.embeddings])
            labels = np.concatenate([labels, calibration.reference.labels])
        rows = np.flatnonzero(calibration.covered)
        # Every calibration row is at most its own group's neighbour; reference rows have no group.
        groups = np.full(len(labels), -1, dtype=np.int64)
        groups[: len(own)] = np.arange(len(own)) if calibration.groups is None else calibration.groups
        kept = labels >= 0
        kept[: len(own)] &= calibration.importance > 0
        vectors, labels, groups = vectors[kept].astype(np.float16), labels[kept], groups[kept]
        query_groups = rows if calibration.groups is None else calibration.groups[rows]
        term = cls(vectors, labels.astype(np.int32), np.ones(len(VOTES)), index)
        found = term._nearest(own[rows], query_groups, groups)
        return term, _votes(calibration.shortlist.ids[rows], term.labels, *found)

    @property
    def embedding_width(self) -> int:
        """How many numbers a vector has."""
        return int(self.vectors.shape[1])

    @lazy
    def searched(self) -> AnyArray:
        """Return the vectors in the precision that is searched in."""
        return self.vectors.astype(np.float32)

    def folded(self, weights: FloatArray) -> "tuple[Neighbours, float]":
        """Return one term for the fitted columns, and its weight."""
        total = float(np.abs(weights).sum())
        mixture = weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
        one = replace(self, mixture=mixture)
        if "graph" in vars(self):
            vars(one)["graph"] = self.graph  # the vectors are the same
        return one, total

    @lazy
    def graph(self) -> Any:
        """Return the index of an approximate search, built when first asked for."""
        return build_index(self.vectors)

    def _nearest(
        self, queries: AnyArray, query_groups: AnyArray | None = None, groups: AnyArray | None = None
    ) -> tuple[IntArray, AnyArray]:
        """Return the nearest labelled rows and their similarities."""
        if self.index == "approximate":
            return nearest_in_index(self.graph, queries, self.vectors, MOST_NEIGHBOURS, query_groups, groups)
        return nearest(queries, self.searched, MOST_NEIGHBOURS, query_groups, groups)

    def column(self, view: CandidateView) -> FloatArray:
        """Return the votes, mixed as fitted."""
        embeddings = view.shortlist.embeddings
        assert embeddings is not None
        votes = _votes(view.shortlist.ids, self.labels, *self._nearest(embeddings))
        column = np.zeros(view.shortlist.ids.shape)
        for place, share in enumerate(self.mixture):
            column += share * votes[:, :, place]
        return np.where(view.mask, column, 0.0)

    def for_classes(self, n_classes: int) -> "Neighbours":
        """Return the term for a longer list of classes: no labelled row votes for the new ones."""
        return self


def nearest(
    queries: AnyArray,
    vectors: AnyArray,
    number: int,
    query_groups: AnyArray | None = None,
    groups: AnyArray | None = None,
) -> tuple[IntArray, AnyArray]:
    """Return the nearest vectors of each query, nearest first, and their similarities.

    Exact, block by block.  Vectors of the query's own group are left out; where fewer than
    `number` are left, the similarity of the rest is −Inf.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.terms.neighbours import nearest
    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], dtype=np.float32)
    >>> nearest(vectors[:1], vectors, 2, np.array([0]), np.arange(3))[0].tolist()
    [[2, 1]]
    """
    number = min(number, len(vectors))
    places = np.empty((len(queries), number), dtype=np.int32)
    similarities = np.empty((len(queries), number), dtype=np.float32)
    step = max(1, SIMILARITIES_PER_BLOCK // len(vectors))
    for start in range(0, len(queries), step):
        rows = slice(start, start + step)
        alike = queries[rows] @ vectors.T
        if query_groups is not None and groups is not None:
            alike[query_groups[rows][:, None] == groups] = -np.inf
        best = np.argpartition(-alike, number - 1, axis=1)[:, :number]
        # By similarity, then by place, so that equal neighbours always come in one order.
        best.sort(axis=1)
        found = np.take_along_axis(alike, best, axis=1)
        order = np.argsort(-found, axis=1, kind="stable")
        places[rows] = np.take_along_axis(best, order, axis=1)
        similarities[rows] = np.take_along_axis(found, order, axis=1)
    return places, similarities


def _votes(ids: IntArray, labels: IntArray, places: IntArray, similarities: AnyArray) -> FloatArray:
    """Return the log share of votes for each candidate, one column for each way to count."""
    voted = labels[places]
    columns = np.empty((*ids.shape, len(VOTES)))
    for place, (number, width) in enumerate(VOTES):
        weights = _weights(similarities[:, :number].astype(np.float64), width)
        shares = _shares(ids, voted[:, :number], weights)
        columns[:, :, place] = np.log(shares + 1.0 / number)
    return columns


def _weights(similarities: FloatArray, width: float) -> FloatArray:
    """Return the votes' weights, adding up to 1, or 0 where nobody votes."""
    weights: FloatArray = np.exp((similarities - 1.0) / width)
    mass = np.cumsum(weights, axis=1)[:, -1:]
    return weights / np.where(mass > 0, mass, 1.0)


def _shares(ids: IntArray, voted: IntArray, weights: FloatArray) -> FloatArray:
    """Return each candidate's share of the votes, one neighbour at a time: never an n×k×m array."""
    shares = np.zeros(ids.shape)
    for place in range(voted.shape[1]):
        shares += np.where(ids == voted[:, place : place + 1], weights[:, place : place + 1], 0.0)
    return shares
