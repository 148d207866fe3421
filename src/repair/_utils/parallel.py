"""Run a function on blocks of rows, on as many threads as there are cores.

The blocks do not depend on the number of threads, and their results are returned in order.  A sum
over blocks is therefore bit-identical on one thread and on sixty-four.
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
_thread = threading.local()


def _reset_pools() -> None:
    """Drop pools and lock in a forked child: the parent's threads do not exist there, and its lock may be held."""
    global _pools_lock
    _pools.clear()
    _pools_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_pools)


def thread_count() -> int:
    """Return ``REPAIR_NUM_THREADS`` if it is set, else the number of cores this process may run on."""
    setting = os.environ.get(THREADS_VARIABLE)
    if setting is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not setting.isdecimal() or int(setting) < 1:
        raise InputError(f"{THREADS_VARIABLE} is {setting!r}; set it to a whole number of at least 1")
    return int(setting)


def row_blocks(n_rows: int, rows_per_block: int) -> list[slice]:
    """Cut ``range(n_rows)`` into consecutive slices of `rows_per_block` rows.  The last slice may be shorter."""
    step = max(1, rows_per_block)
    if 0 < n_rows <= step:
        return [slice(0, n_rows)]
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def even_blocks(n_rows: int, most_rows: int) -> list[slice]:
    """Cut ``range(n_rows)`` into slices of nearly equal length, with at most `most_rows` rows each."""
    count = -(-n_rows // max(1, most_rows))
    return row_blocks(n_rows, -(-n_rows // max(1, count)))


def map_row_blocks(function: Callable[[slice], Result], blocks: list[slice]) -> list[Result]:
    """Return ``[function(block) for block in blocks]``, computed on several threads.

    A nested call, for example from a user's similarity function, runs on the calling thread only.
    Otherwise tasks that wait for other tasks could occupy the whole pool.
    """
    if len(blocks) == 1:
        return [function(blocks[0])]
    nested = getattr(_thread, "is_working", False)
    threads = 1 if nested or not blocks else min(thread_count(), len(blocks))
    if threads == 1:
        return [function(block) for block in blocks]
    work = _Work(function, blocks, threads)
    try:
        helpers = _start_helpers(work, threads)
        work.help(0)
        for helper in helpers:
            if not helper.cancel():  # a helper that has not started has nothing left to do
                helper.result()
    except BaseException:  # an interrupt, which also ends the work of the other threads
        work.stop()
        raise
    return work.results()


def _start_helpers(work: "_Work[Result]", threads: int) -> "list[Future[None]]":
    """Submit the work to the pool's threads.  There may be fewer of them, or none, if no thread can be started."""
    pool, helpers = _pool(threads), []
    try:
        for share in range(1, threads):
            # A weak reference, because tasks that wait in the pool's queue would keep finished work in memory.
            helpers.append(pool.submit(_help, ref(work), share))
    except RuntimeError:  # the system's thread limit is reached, or the interpreter is shutting down
        pass
    return helpers


def _help(reference: "ref[_Work[Result]]", share: int) -> None:
    work = reference()
    if work is not None:
        work.help(share)


class _Work(Generic[Result]):
    """Blocks divided among threads.  A thread that has finished its share takes blocks from the others.

    So nothing waits long for a thread that is slow to start.  Each share is a run of consecutive
    blocks, so threads work in separate parts of memory.
    """

    def __init__(self, function: Callable[[slice], Result], blocks: list[slice], threads: int) -> None:
        numbered = list(enumerate(blocks))
        cuts = [len(blocks) * share // threads for share in range(threads + 1)]
        self.function = function
        self.shares = [deque(numbered[start:end]) for start, end in pairwise(cuts)]
        self.done: dict[int, Result] = {}
        self.failed: dict[int, Exception] = {}

    def help(self, share: int) -> None:
        """Process the blocks of one share, then the remaining blocks of the others, last blocks first."""
        before = getattr(_thread, "is_working", False)
        try:
            _thread.is_working = True
            while (taken := self._next(self.shares[share])) is not None:
                self._process(*taken)
        finally:
            _thread.is_working = before

    def stop(self) -> None:
        """Discard all remaining blocks."""
        for share in self.shares:
            share.clear()

    def _next(self, share: deque[tuple[int, slice]]) -> tuple[int, slice] | None:
        while any(self.shares):
            try:
                return share.popleft() if share else max(self.shares, key=len).pop()
            except IndexError:  # another thread took the block first
                continue
        return None

    def _process(self, number: int, block: slice) -> None:
        if any(number > earlier for earlier in list(self.failed)):
            return  # results of later blocks are not used.  Earlier blocks still run: the first error is raised
        try:
            self.done[number] = self.function(block)
        except Exception as error:
            self.failed[number] = error

    def results(self) -> list[Result]:
        """Return the results of the blocks in order, or raise the error of the first block that failed."""
        if self.failed:
            error = self.failed[min(self.failed)]
            self.failed.clear()
            try:
                raise error
            finally:
                del error  # otherwise its traceback refers to this frame and keeps everything in it alive
        return [self.done[number] for number in range(len(self.done))]


def _pool(threads: int) -> ThreadPoolExecutor:
    with _pools_lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads - 1, thread_name_prefix="repair")
        return _pools[threads]
