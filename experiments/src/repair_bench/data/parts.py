"""Splitting rows into parts: long-tailed training sets, shares of each class, and shares in order."""

from collections.abc import Sequence

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, IntArray
from repair.errors import InputError

__all__ = [
    "CALIBRATION",
    "PAPER_SEED",
    "PAPER_SHARES",
    "TEST",
    "TRAINING",
    "keep_per_class",
    "long_tail_counts",
    "parts_in_order",
    "published_halves",
    "published_halves_per_class",
    "shuffled_parts",
    "stratified_parts",
]

TRAINING, CALIBRATION, TEST = 0, 1, 2
#: The seed of every random split for which the paper names one.
PAPER_SEED = 42
#: Training, calibration and test shares of a data set without published parts.
PAPER_SHARES = (0.6, 0.2, 0.2)


def long_tail_counts(counts: AnyArray, imbalance: float, largest: int | None = None) -> IntArray:
    """Return how many rows of each class a long-tailed training set has.

    The numbers fall exponentially from `largest` (by default the largest count) to
    `largest` / `imbalance`, in the order of the given counts.  No class gets more rows than it has,
    or fewer than one.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.data.parts import long_tail_counts
    >>> long_tail_counts(np.array([100, 400, 100]), 100).tolist()
    [40, 400, 4]
    """
    if imbalance < 1:
        raise InputError(f"imbalance is {imbalance}; it must be at least 1 (the largest count divided by the smallest)")
    rank = np.empty(len(counts))
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    share = imbalance ** (-rank / max(len(counts) - 1, 1))
    wanted = np.maximum(np.round((counts.max() if largest is None else largest) * share), 1)
    kept: IntArray = np.minimum(wanted, counts).astype(np.int32)
    return kept


def keep_per_class(labels: AnyArray, wanted: AnyArray, seed: int) -> BoolArray:
    """Return a mask of the rows to keep, at most ``wanted[class]`` random rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.data.parts import keep_per_class
    >>> labels = np.array([0, 0, 0, 1, 1])
    >>> np.bincount(labels[keep_per_class(labels, np.array([2, 5]), seed=0)]).tolist()
    [2, 2]
    """
    rng = np.random.default_rng(seed)
    kept = np.zeros(len(labels), dtype=bool)
    for label, most in enumerate(wanted):
        kept[rng.permutation(np.flatnonzero(labels == label))[: int(most)]] = True
    return kept


def stratified_parts(labels: AnyArray, shares: Sequence[float], seed: int) -> IntArray:
    """Assign the rows of each class to parts 0, 1, … by shares.  The first part gets the first row of a class.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.data.parts import stratified_parts
    >>> np.bincount(stratified_parts(np.repeat([0, 1], 10), (0.6, 0.4), seed=0)).tolist()
    [12, 8]
    """
    rng = np.random.default_rng(seed)
    edges = np.cumsum(shares) / np.sum(shares)
    part = np.zeros(len(labels), dtype=np.int32)
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        # A random start distributes the rounding of small classes over the parts.
        places = (np.arange(len(rows)) + 0.5 * rng.random()) / len(rows)
        part[rows] = np.searchsorted(edges[:-1], places, side="right")
    return part


def parts_in_order(n_rows: int, shares: Sequence[float]) -> IntArray:
    """Split ordered rows, for example by time, into consecutive parts 0, 1, … by shares.

    Examples
    --------
    >>> from repair_bench.data.parts import parts_in_order
    >>> parts_in_order(5, (0.6, 0.2, 0.2)).tolist()
    [0, 0, 0, 1, 2]
    """
    edges = np.cumsum(shares) / np.sum(shares)
    places = (np.arange(n_rows) + 0.5) / max(n_rows, 1)
    return np.searchsorted(edges[:-1], places, side="right").astype(np.int32)


def published_halves(n_rows: int, n_calibration: int, seed: int = PAPER_SEED) -> IntArray:
    """Assign rows to calibration and test as the paper's code does: the first rows of one random permutation calibrate.

    Examples
    --------
    >>> from repair_bench.data.parts import published_halves
    >>> published_halves(5, 3).tolist()
    [2, 1, 1, 2, 1]
    """
    part = np.full(n_rows, TEST, dtype=np.int32)
    # The generator that the paper names.  It draws other numbers than `default_rng`.
    part[np.random.RandomState(seed).permutation(n_rows)[:n_calibration]] = CALIBRATION
    return part


def published_halves_per_class(labels: AnyArray, share: float, n_classes: int, seed: int = PAPER_SEED) -> IntArray:
    """Assign a share of each class to calibration as the paper's code does, one class after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.data.parts import published_halves_per_class
    >>> np.bincount(published_halves_per_class(np.repeat([0, 1], 5), 0.6, 2)).tolist()
    [0, 6, 4]
    """
    rng = np.random.RandomState(seed)
    part = np.full(len(labels), TEST, dtype=np.int32)
    for label in range(n_classes):
        rows = np.flatnonzero(labels == label)
        rng.shuffle(rows)
        part[rows[: int(len(rows) * share)]] = CALIBRATION
    return part


def shuffled_parts(n_rows: int, shares: Sequence[float], seed: int = PAPER_SEED) -> IntArray:
    """Shuffle rows with the paper's generator and cut them into parts 0, 1, … by shares.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.data.parts import shuffled_parts
    >>> np.bincount(shuffled_parts(10, (0.6, 0.2, 0.2))).tolist()
    [6, 2, 2]
    """
    part = np.empty(n_rows, dtype=np.int32)
    part[np.random.RandomState(seed).permutation(n_rows)] = parts_in_order(n_rows, shares)
    return part
