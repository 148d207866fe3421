"""Decorators that compile the kernels, and fork safety of the compiler."""

import os
from collections.abc import Callable
from typing import TypeVar, cast

import numba
from numba.core.compiler_lock import global_compiler_lock

__all__ = ["compiled", "compiled_in_any_order", "compiled_sums"]

if hasattr(os, "register_at_fork"):
    # A child forked while another thread compiles would inherit numba's lock and wait for ever, so forks wait for it.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile a kernel that releases the interpreter lock, and cache it on disk if a folder is writable.

    Divisions follow numpy, which does not check for division by 0, because loops with that check
    are not vectorised.  No kernel divides by 0.
    """
    return _compiled(function, set())


def compiled_sums(function: Function) -> Function:
    """Compile a kernel whose sums do not affect a ranking directly: fused multiply-add (one rounding) is allowed."""
    return _compiled(function, {"contract"})


def compiled_in_any_order(function: Function) -> Function:
    """Compile a kernel as with `compiled_sums`, but also allow sums to be reordered, so they are vectorised too."""
    return _compiled(function, {"contract", "reassoc"})


def _compiled(function: Function, fastmath: set[str]) -> Function:
    try:
        return cast(Function, numba.njit(nogil=True, error_model="numpy", fastmath=fastmath, cache=True)(function))
    except RuntimeError:  # numba found no writable folder for its cache
        return cast(Function, numba.njit(nogil=True, error_model="numpy", fastmath=fastmath)(function))
