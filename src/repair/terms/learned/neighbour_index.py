"""Approximate search for neighbours, for so many labelled rows that comparing with all of them is too slow.

The index is a graph of near vectors (HNSW, from usearch).  It is built on one thread, so the same
vectors always give the same graph.  The rows that are found are approximate, but their similarities
are exact.
"""

from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.errors import MissingExtraError

__all__ = ["build_index", "nearest_in_index", "require_index"]

#: Links per vector, and number of candidates kept while building and while searching.
LINKS, BUILD_WIDTH, SEARCH_WIDTH = 16, 128, 200
#: Largest number of rows of its own group that a query skips.
MOST_PASSED_OVER = 200


def require_index() -> Any:
    """Return the index class of usearch, or raise an error that says how to install it."""
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
    """Return the approximately nearest vectors of each query, nearest first, and their similarities.

    This is the approximate version of `repair.terms.learned.neighbours.nearest`.  It may miss a few
    of the nearest vectors, and skips up to `MOST_PASSED_OVER` vectors of a query's own group.
    """
    n_searched = number
    if groups is not None:
        largest = int(np.bincount(groups[groups >= 0]).max(initial=0))
        n_searched += min(largest, MOST_PASSED_OVER)
    n_searched = min(n_searched, len(vectors))
    neighbours = np.zeros((len(queries), n_searched), dtype=np.int32)
    is_found = np.zeros((len(queries), n_searched), dtype=bool)
    for row, query in enumerate(queries):
        keys = np.asarray(index.search(query, n_searched, threads=1).keys)
        neighbours[row, : len(keys)], is_found[row, : len(keys)] = np.sort(keys), True
    similarities = np.empty(neighbours.shape, dtype=np.float32)
    for column in range(n_searched):
        neighbour_vectors = vectors[neighbours[:, column]].astype(np.float32)
        similarities[:, column] = (queries * neighbour_vectors).sum(axis=1)
    similarities[~is_found] = -np.inf
    if query_groups is not None and groups is not None:
        similarities[query_groups[:, None] == groups[neighbours]] = -np.inf
    # Sort by similarity, then by index, as in the exact search.
    order = np.argsort(-similarities, axis=1, kind="stable")[:, : min(number, n_searched)]
    return np.take_along_axis(neighbours, order, axis=1), np.take_along_axis(similarities, order, axis=1)
