"""An approximate search for neighbours, for so many labelled rows that comparing with each takes too long.

A graph of near vectors (HNSW, from usearch), built on one thread, so that the same vectors always
give the same graph.  Which rows are found is approximate; their similarities are not.
"""

from typing import Any

import numpy as np

from repair.arrays import AnyArray, IntArray
from repair.errors import MissingExtraError

__all__ = ["build_index", "nearest_in_index", "require_index"]

#: Links of a vector, and candidates looked at while building and while searching.
LINKS, BUILD_WIDTH, SEARCH_WIDTH = 16, 128, 200
#: Rows of its own group that a row passes over at most.
MOST_PASSED_OVER = 200


def require_index() -> Any:
    """Return the class of indices, or say how to get it."""
    try:
        from usearch.index import Index
    except ImportError:
        raise MissingExtraError(
            "neighbour_index='approximate' needs the package usearch; "
            "pip install 'repair-rerank[neighbours]', or use neighbour_index='exact'"
        ) from None
    return Index


def build_index(vectors: AnyArray) -> Any:
    """Return an index of vectors of length 1."""
    index = require_index()(
        ndim=vectors.shape[1],
        metric="ip",
        dtype="f16",
        connectivity=LINKS,
        expansion_add=BUILD_WIDTH,
        expansion_search=SEARCH_WIDTH,
    )
    index.add(np.arange(len(vectors)), np.ascontiguousarray(vectors, dtype=np.float16), threads=1)
    return index


def nearest_in_index(
    index: Any,
    queries: AnyArray,
    vectors: AnyArray,
    number: int,
    query_groups: AnyArray | None = None,
    groups: AnyArray | None = None,
) -> tuple[IntArray, AnyArray]:
    """Do as `repair.terms.neighbours.nearest`, approximately: a few of the nearest may be missed.

    Of a row's own group up to `MOST_PASSED_OVER` vectors are passed over.
    """
    wanted = number
    if groups is not None:
        largest = int(np.bincount(groups[groups >= 0]).max(initial=0))
        wanted += min(largest, MOST_PASSED_OVER)
    wanted = min(wanted, len(vectors))
    places = np.zeros((len(queries), wanted), dtype=np.int32)
    found = np.zeros((len(queries), wanted), dtype=bool)
    for row, query in enumerate(queries):
        keys = np.asarray(index.search(query, wanted, threads=1).keys)
        places[row, : len(keys)], found[row, : len(keys)] = np.sort(keys), True
    similarities = np.empty(places.shape, dtype=np.float32)
    for place in range(wanted):
        others = vectors[places[:, place]].astype(np.float32)
        similarities[:, place] = (queries * others).sum(axis=1)
    similarities[~found] = -np.inf
    if query_groups is not None and groups is not None:
        similarities[query_groups[:, None] == groups[places]] = -np.inf
    # By similarity, then by place, as in the exact search.
    order = np.argsort(-similarities, axis=1, kind="stable")[:, : min(number, wanted)]
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(similarities, order, axis=1)
