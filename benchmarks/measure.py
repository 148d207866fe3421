"""What the measurements share: problems, clocks, and a line of the table."""

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from repair import Shortlist
from repair.parallel import _pool

PENALTY = {"lambda_a": 0.001, "lambda_theta": 0.001}


@dataclass(frozen=True)
class Line:
    """One measurement: what, how long it took, and beside what.

    `ratio` is how many times as quick (or as small) it is; `bar` what we hold it to, in the same
    unit, and `met` whether it was.
    """

    what: str
    ours: str
    other: str = ""
    ratio: float | None = None
    bar: str = ""
    met: bool | None = None

    def cells(self) -> list[str]:
        """Return the line as text."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2g}×" if self.ratio < 10 else f"{self.ratio:.0f}×"
        return [self.what, self.ours, self.other, ratio, self.bar, {None: "", True: "met", False: "NOT MET"}[self.met]]


def best_of(function, repeats=3, warm=True):
    """Shortest of several runs, in seconds, after one to warm up; and the last result."""
    if warm:
        function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def in_turns(first, second, repeats):
    """Measure two functions by turns, so that a noisy moment hits both; return the shortest of each."""
    first(), second()
    pairs = [(best_of(first, 1, warm=False)[0], best_of(second, 1, warm=False)[0]) for _ in range(repeats)]
    return tuple(min(times) for times in zip(*pairs, strict=True))


def arithmetic(count, size=1 << 26):
    """Seconds that a fixed amount of arithmetic takes on one thread or two: one call, and no memory to speak of."""
    numbers = np.broadcast_to(1.0, size // count)
    start = time.perf_counter()
    other = _pool(2).submit(numbers.sum) if count == 2 else None  # the very thread that reranks
    numbers.sum()
    if other is not None:
        other.result()
    return time.perf_counter() - start


@contextmanager
def a_core_each():
    """Keep this thread and repair's second one on a core each: some systems pack both on one for a while."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    if len(cores) < 2:
        yield
        return
    _pool(2).submit(os.sched_setaffinity, 0, cores[1:2]).result()
    os.sched_setaffinity(0, cores[:1])
    try:
        with threads(2):  # this thread may now run on one core only, and repair would count no more
            yield
    finally:
        os.sched_setaffinity(0, cores)
        _pool(2).submit(os.sched_setaffinity, 0, cores).result()


@contextmanager
def threads(count):
    """Let repair use so many threads."""
    before = os.environ.get("REPAIR_NUM_THREADS")
    os.environ["REPAIR_NUM_THREADS"] = str(count)
    try:
        yield
    finally:
        del os.environ["REPAIR_NUM_THREADS"]
        if before is not None:
            os.environ["REPAIR_NUM_THREADS"] = before


def make_scores(n, n_classes, seed=0):
    """Scores of all classes with labels, counts and a similarity, about as hard as ImageNet-LT."""
    rng = np.random.default_rng(seed)
    counts = class_counts(n_classes)
    labels = rng.integers(0, n_classes, size=n)
    scores = rng.normal(size=(n, n_classes)).astype(np.float32) + 0.4 * np.log(counts).astype(np.float32)
    scores[np.arange(n), labels] += 3.0
    return scores, labels, counts, rng.random((n_classes, n_classes))


def class_counts(n_classes):
    """Training counts with a long tail."""
    return np.maximum(np.round(1280 * (np.arange(n_classes) + 1.0) ** -0.7), 5)


def make_candidates(n, n_classes, k, seed=0):
    """Shortlists that were given as such, with labels; four in five rows are covered."""
    rng = np.random.default_rng(seed)
    ids, scores = np.empty((n, k), np.int32), np.empty((n, k))
    for start in range(0, n, 1 << 16):  # in blocks, so that making them leaves no peak of memory
        rows = slice(start, min(start + (1 << 16), n))
        shape = (rows.stop - start, k)
        ids[rows] = rng.integers(0, n_classes // k, size=shape) * k + np.arange(k)
        scores[rows] = -np.sort(-2.0 * rng.normal(size=shape), axis=1)
    place = np.minimum(rng.geometric(0.4, size=n) - 1, k - 1)
    labels = np.where(rng.random(n) < 0.8, ids[np.arange(n), place], -1)
    shortlist = Shortlist._of_checked(ids, scores, n_classes)  # they are in base order by construction
    return shortlist, labels, class_counts(n_classes)
