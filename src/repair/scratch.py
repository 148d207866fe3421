"""Large arrays whose memory is used again.

Fresh memory costs a page fault every four kilobytes, which is a third of the time of a small fit; the
allocator gives large blocks back to the system as soon as they are free.  Arrays from here return theirs
to a small store once nothing refers to them any more, so that the next fit finds it warm.
"""

import math
import weakref
from collections import deque
from typing import Any

import numpy as np

from repair.arrays import AnyArray

__all__ = ["KEPT", "SMALLEST", "contiguous", "empty"]

#: Bytes that are kept for later at most, and the size of an array from which on it pays.
KEPT, SMALLEST = 1 << 26, 1 << 18

# No lock: what is done to a deque is atomic, and a finaliser may run anywhere, even here.
_free: dict[int, deque[AnyArray]] = {}


def empty(shape: tuple[int, ...], dtype: "np.dtype[Any] | type[Any]" = np.float64) -> AnyArray:
    """Return an array with anything in it, as numpy's `empty` does.

    Its memory is nobody else's until the array and all its views are gone.

    Examples
    --------
    >>> from repair.scratch import empty
    >>> empty((2, 3)).shape
    (2, 3)
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not SMALLEST <= size <= KEPT:
        return np.empty(shape, dtype)
    room = _rounded(size)
    try:
        memory = _free[room].pop()
    except (KeyError, IndexError):
        memory = np.empty(room, np.uint8)
    # A new object over the same bytes: all views refer to it, and it dies with the last of them.
    owner = np.frombuffer(memory.data, np.uint8)
    weakref.finalize(owner, _keep, memory).atexit = False
    return owner[:size].view(dtype).reshape(shape)


def contiguous(array: AnyArray) -> AnyArray:
    """Return the array itself if its memory is in order, else a copy from here."""
    if array.flags.c_contiguous:
        return array
    copied = empty(array.shape, array.dtype)
    copied[...] = array
    return copied


def _keep(memory: AnyArray) -> None:
    """Store memory that nothing refers to any more, if there is room."""
    if sum(size * len(blocks) for size, blocks in list(_free.items())) + len(memory) <= KEPT:
        _free.setdefault(len(memory), deque()).append(memory)


def _rounded(size: int) -> int:
    """Round up to one of eight sizes for each power of two, so that similar arrays can share."""
    step = 1 << max(size.bit_length() - 4, 0)
    return -(-size // step) * step
