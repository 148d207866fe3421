"""How a kernel is compiled, and what a fork must wait for."""

import os
from collections.abc import Callable
from typing import TypeVar, cast

import numba
from numba.core.compiler_lock import global_compiler_lock

__all__ = ["compiled", "compiled_in_any_order", "compiled_sums"]

if hasattr(os, "register_at_fork"):
    # A child forked while another thread compiles would inherit numba's lock and wait for ever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile without the lock, keeping machine code on disk where a folder can be written.

    Divisions are numpy's, which do not ask whether they are by 0: loops with that question in them
    do not run in vectors.  No kernel divides by 0.
    """
    return _compiled(function, set())


def compiled_sums(function: Function) -> Function:
    """Do as `compiled`, for sums that no ranking is read from: a product and its sum may be rounded once."""
    return _compiled(function, {"contract"})


def compiled_in_any_order(function: Function) -> Function:
    """Do as `compiled_sums`, and let sums be added up in another order: then they run in vectors too."""
    return _compiled(function, {"contract", "reassoc"})


def _compiled(function: Function, liberties: set[str]) -> Function:
    try:
        return cast(Function, numba.njit(nogil=True, error_model="numpy", fastmath=liberties, cache=True)(function))
    except RuntimeError:  # numba found no writable folder for its cache
        return cast(Function, numba.njit(nogil=True, error_model="numpy", fastmath=liberties)(function))
