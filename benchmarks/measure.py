"""Shared parts of the measurements: problems, clocks, and the lines of the table."""

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from repair import Shortlist
from repair._utils.parallel import _pool

PENALTY = {"lambda_a": 0.001, "lambda_theta": 0.001}


@dataclass(frozen=True)
class Line:
    """One measurement: what was measured, its figure, and what it is compared with.

    `ratio` is how many times faster (or smaller) it is.  `bar` is the target that we set, and `met`
    says whether it was reached.
    """

    what: str
    ours: str
    other: str = ""
    ratio: float | None = None
    bar: str = ""
    met: bool | None = None

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2g}×" if self.ratio < 10 else f"{self.ratio:.0f}×"
        return [self.what, self.ours, self.other, ratio, self.bar, {None: "", True: "met", False: "NOT MET"}[self.met]]


def best_of(function, repeats=3, warm=True):
    """Return the shortest of several runs in seconds, after one to warm up, and the last result."""
    if warm:
        function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def in_turns(first, second, repeats):
    """Measure two functions in turns, so a noisy moment affects both.  Return the shortest time of each."""
    first(), second()
    pairs = [(best_of(first, 1, warm=False)[0], best_of(second, 1, warm=False)[0]) for _ in range(repeats)]
    return tuple(min(times) for times in zip(*pairs, strict=True))


def times_in_turns(functions, turns):
    """Measure functions by name in turns, after one to warm up.  Return the times of each, one per turn, as arrays."""
    times = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(turns):
        for name, function in functions.items():
            times[name].append(best_of(function, 1, warm=False)[0])
    return {name: np.array(taken) for name, taken in times.items()}


def arithmetic(count, size=1 << 26):
    """Return the seconds that a fixed amount of arithmetic, almost without memory, takes on one or two threads."""
    numbers = np.broadcast_to(1.0, size // count)
    start = time.perf_counter()
    other = _pool(2).submit(numbers.sum) if count == 2 else None  # the same thread that reranks
    numbers.sum()
    if other is not None:
        other.result()
    return time.perf_counter() - start


@contextmanager
def a_core_each():
    """Pin this thread and the second thread of repair to one core each, because some systems put both on one."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    if len(cores) < 2:
        yield
        return
    _pool(2).submit(os.sched_setaffinity, 0, cores[1:2]).result()
    os.sched_setaffinity(0, cores[:1])
    try:
        with threads(2):  # repair would otherwise count only the one core of this thread
            yield
    finally:
        os.sched_setaffinity(0, cores)
        _pool(2).submit(os.sched_setaffinity, 0, cores).result()


@contextmanager
def threads(count):
    """Set the number of threads that repair uses."""
    before = os.environ.get("REPAIR_NUM_THREADS")
    os.environ["REPAIR_NUM_THREADS"] = str(count)
    try:
        yield
    finally:
        del os.environ["REPAIR_NUM_THREADS"]
        if before is not None:
            os.environ["REPAIR_NUM_THREADS"] = before


def make_scores(n, n_classes, seed=0):
    """Return scores of all classes, labels, counts and a similarity, about as hard as ImageNet-LT."""
    rng = np.random.default_rng(seed)
    counts = class_counts(n_classes)
    labels = rng.integers(0, n_classes, size=n)
    scores = rng.normal(size=(n, n_classes)).astype(np.float32) + 0.4 * np.log(counts).astype(np.float32)
    scores[np.arange(n), labels] += 3.0
    return scores, labels, counts, rng.random((n_classes, n_classes))


def class_counts(n_classes):
    """Return training counts with a long tail."""
    return np.maximum(np.round(1280 * (np.arange(n_classes) + 1.0) ** -0.7), 5)


def make_candidates(n, n_classes, k, seed=0):
    """Return shortlists with labels and counts.  Four in five rows are covered."""
    rng = np.random.default_rng(seed)
    ids, scores = np.empty((n, k), np.int32), np.empty((n, k))
    for start in range(0, n, 1 << 16):  # in blocks, to avoid a peak of memory
        rows = slice(start, min(start + (1 << 16), n))
        shape = (rows.stop - start, k)
        ids[rows] = rng.integers(0, n_classes // k, size=shape) * k + np.arange(k)
        scores[rows] = -np.sort(-2.0 * rng.normal(size=shape), axis=1)
    position = np.minimum(rng.geometric(0.4, size=n) - 1, k - 1)
    labels = np.where(rng.random(n) < 0.8, ids[np.arange(n), position], -1)
    shortlist = Shortlist._of_checked(ids, scores, n_classes)  # they are in base order by construction
    return shortlist, labels, class_counts(n_classes)
