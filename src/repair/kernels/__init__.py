"""The inner loops, twice: compiled by numba for large batches, and in plain numpy.

`plain` serves single rows and small batches until something larger has loaded numba, and machines
without it, so a service that only reranks never waits for a compiler; `compiled` serves everything
else.  The two agree to the last bit wherever a ranking depends on it (top-k, order, differences,
similarity means) and to rounding in the fitted sums; the tests hold each to the other.
"""

from types import ModuleType

from repair.kernels import plain

__all__ = ["COMPILE_FROM", "LONG_LIST", "best_kernels", "kernels_for", "plain"]

#: Below this many candidate slots (or scores, for the top-k) numpy is quick enough.
COMPILE_FROM = 1 << 16
#: With more candidates a row than this, numpy's sort is the better way to order them.
LONG_LIST = 1 << 10
#: `compiled`, once a fit or a large batch has loaded it: then it serves small batches and single rows too.  It writes
#: itself here when it is complete, not while another thread is still importing it.
loaded: ModuleType | None = None


def kernels_for(size: int, n_candidates: int = 1) -> ModuleType:
    """Return the kernel module that suits `size` numbers: `compiled` if large, or loaded by now, and numba is there.

    The compiled kernels insert candidates one by one, which suits short lists only.
    """
    if n_candidates > LONG_LIST:
        return plain
    if loaded is not None:
        return loaded
    return plain if size < COMPILE_FROM else best_kernels()


def best_kernels() -> ModuleType:
    """Return `compiled` if numba is there, else `plain`."""
    try:
        from repair.kernels import compiled
    except ImportError:  # numba is a dependency, but reranking must survive without it
        return plain
    return compiled
