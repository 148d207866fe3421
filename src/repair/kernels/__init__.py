"""The inner loops, in two implementations: compiled by numba, and in plain numpy.

`plain` is used for single rows and small batches until a larger problem has loaded numba, and on
machines without numba, so a service that only reranks never waits for a compiler.  `compiled` is
used for everything else.  The two are bit-identical wherever a ranking depends on it (top-k, order,
differences, similarity means) and agree up to rounding in the sums of the fit.  The tests compare
each kernel with its counterpart.
"""

from types import ModuleType

from repair.kernels import plain

__all__ = ["COMPILE_FROM", "LONG_LIST", "best_kernels", "kernels_for", "plain"]

#: Below this many candidate slots (or scores, for the top-k) numpy is fast enough.
COMPILE_FROM = 1 << 16
#: With more candidates per row than this, numpy's sort is faster than insertion.
LONG_LIST = 1 << 10
#: The module `compiled`, once a fit or a large batch has loaded it.  It is then used for small batches and single rows
#: too.  It is set after the import, so no thread uses a module that is half imported.
loaded: ModuleType | None = None


def kernels_for(size: int, n_candidates: int = 1) -> ModuleType:
    """Return the kernel module to use for a problem of `size` numbers.

    This is `compiled` if the problem is large or the module is already loaded, and numba is
    installed.  The compiled kernels insert candidates one by one, which is slow for long shortlists,
    so `plain` is used for those.

    Parameters
    ----------
    size : int
        Number of candidate slots, or of scores for the top-k.
    n_candidates : int, default 1
        Width k of the shortlist.

    Returns
    -------
    module
    """
    if n_candidates > LONG_LIST:
        return plain
    if loaded is not None:
        return loaded
    return plain if size < COMPILE_FROM else best_kernels()


def best_kernels() -> ModuleType:
    """Return `compiled` if numba is installed, else `plain`."""
    global loaded
    try:
        from repair.kernels import compiled
    except ImportError:  # numba is a dependency, but reranking must work without it
        return plain
    loaded = compiled
    return compiled
