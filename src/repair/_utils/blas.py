"""Keep linear algebra on one thread during a fit.

Our own threads already use all cores.  If each of them called a library that starts its own threads,
these would wait for each other: on a busy machine a fit took ten times as long.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["one_blas_thread"]

_lock = threading.Lock()
#: Number of fits that are running, and what sets their libraries back afterwards.
_running: dict[str, Any] = {"fits": 0, "limits": None}


def _reset() -> None:
    """Forget the parent's fits in a forked child, where they do not run, and its lock, which may be held."""
    global _lock
    _lock = threading.Lock()
    _running.update(fits=0, limits=None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit numpy's and scipy's linear algebra to one thread until the last fit that runs has ended."""
    from threadpoolctl import threadpool_limits

    with _lock:
        _running["fits"] += 1
        if _running["fits"] == 1:
            _running["limits"] = threadpool_limits(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _running["fits"] -= 1
            if _running["fits"] == 0 and _running["limits"] is not None:
                _running["limits"].restore_original_limits()
                _running["limits"] = None
