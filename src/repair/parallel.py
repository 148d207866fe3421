"""Run a function on blocks of rows, on as many threads as the machine offers.

Blocks depend on the problem alone, never on the number of threads, and their results come back
in order: a sum over blocks therefore has the same bits on one thread and on sixty-four.
"""

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Generic, TypeVar
from weakref import ref

from repair.errors import InputError

__all__ = ["even_blocks", "map_row_blocks", "row_blocks", "thread_count"]

Result = TypeVar("Result")

THREADS_VARIABLE = "REPAIR_NUM_THREADS"

_pools: dict[int, ThreadPoolExecutor] = {}
_pools_lock = threading.Lock()
_here = threading.local()


def _forget_pools() -> None:
    """Start anew in a forked child: the parent's threads do not live there, and its lock may be held."""
    global _pools_lock
    _pools.clear()
    _pools_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)


def thread_count() -> int:
    """Threads to use: ``REPAIR_NUM_THREADS`` if set, else the cores this process may run on."""
    wanted = os.environ.get(THREADS_VARIABLE)
    if wanted is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not wanted.isdecimal() or int(wanted) < 1:
        raise InputError(f"{THREADS_VARIABLE} is {wanted!r}; set it to a whole number from 1 upwards")
    return int(wanted)


def row_blocks(n_rows: int, rows_per_block: int) -> list[slice]:
    """Cut ``range(n_rows)`` into consecutive slices of `rows_per_block` rows (the last is shorter)."""
    step = max(1, rows_per_block)
    if 0 < n_rows <= step:
        return [slice(0, n_rows)]
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def even_blocks(n_rows: int, most_rows: int) -> list[slice]:
    """Cut ``range(n_rows)`` into slices of equal length (to a row) that have at most `most_rows` rows."""
    count = -(-n_rows // max(1, most_rows))
    return row_blocks(n_rows, -(-n_rows // max(1, count)))


def map_row_blocks(function: Callable[[slice], Result], blocks: list[slice]) -> list[Result]:
    """Return ``[function(block) for block in blocks]``, computed on several threads if it pays.

    Called from inside such a block (by a user's similarity function, say) it runs on the one
    thread it has: tasks that wait for tasks could fill the pool.
    """
    if len(blocks) == 1:
        return [function(blocks[0])]
    inside = getattr(_here, "inside", False)
    threads = 1 if inside or not blocks else min(thread_count(), len(blocks))
    if threads == 1:
        return [function(block) for block in blocks]
    work = _Work(function, blocks, threads)
    try:
        others = _helpers(work, threads)
        work.help(0)
        for other in others:
            if not other.cancel():  # it may not have begun yet, and there is nothing left to do
                other.result()
    except BaseException:  # an interrupt, which ends the others' work too
        work.stop()
        raise
    return work.results()


def _helpers(work: "_Work[Result]", threads: int) -> "list[Future[None]]":
    """Ask the pool's threads for help; fewer of them, or none, where no more threads are to be had."""
    pool, others = _pool(threads), []
    try:
        for share in range(1, threads):
            # By a weak reference: what waits in the pool's queue would keep finished work in memory.
            others.append(pool.submit(_help, ref(work), share))
    except RuntimeError:  # the system's limit of threads, or the interpreter is about to end
        pass
    return others


def _help(held: "ref[_Work[Result]]", share: int) -> None:
    work = held()
    if work is not None:
        work.help(share)


class _Work(Generic[Result]):
    """Blocks shared out among threads, which help each other: none waits long for one that is slow to wake up.

    Each share is a run of consecutive blocks, so that threads keep apart in memory.
    """

    def __init__(self, function: Callable[[slice], Result], blocks: list[slice], threads: int) -> None:
        numbered = list(enumerate(blocks))
        cuts = [len(blocks) * share // threads for share in range(threads + 1)]
        self.function = function
        self.shares = [deque(numbered[start:end]) for start, end in pairwise(cuts)]
        self.done: dict[int, Result] = {}
        self.failed: dict[int, Exception] = {}

    def help(self, share: int) -> None:
        """Do the blocks of one share, then what others have left, last blocks first."""
        before = getattr(_here, "inside", False)
        try:
            _here.inside = True
            while (taken := self._next(self.shares[share])) is not None:
                self._do(*taken)
        finally:
            _here.inside = before

    def stop(self) -> None:
        """Leave nothing to do."""
        for left in self.shares:
            left.clear()

    def _next(self, own: deque[tuple[int, slice]]) -> tuple[int, slice] | None:
        while any(self.shares):
            try:
                return own.popleft() if own else max(self.shares, key=len).pop()
            except IndexError:  # another thread was quicker
                continue
        return None

    def _do(self, place: int, block: slice) -> None:
        if any(place > earlier for earlier in list(self.failed)):
            return  # nobody will see what it gives; an earlier block may still fail, and would be the one to name
        try:
            self.done[place] = self.function(block)
        except Exception as error:
            self.failed[place] = error

    def results(self) -> list[Result]:
        """Return what the blocks gave, in order; or raise what the first that failed has raised."""
        if self.failed:
            error = self.failed[min(self.failed)]
            self.failed.clear()
            try:
                raise error
            finally:
                del error  # an error that is held where it was raised keeps everything there in memory
        return [self.done[place] for place in range(len(self.done))]


def _pool(threads: int) -> ThreadPoolExecutor:
    with _pools_lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads - 1, thread_name_prefix="repair")
        return _pools[threads]
