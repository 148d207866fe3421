"""Ending the process on a signal: immediately, with the signal's exit code, and without half-written files.

A handler that raises an exception is not enough.  Callbacks from C, finalizers and imports print or replace an
exception that passes through them, and the process continues.  The handler here does not raise.  It runs the cleanups
that are registered at that moment and ends the process.

Until `end_at_signals` has run, a signal ends the process without that exit code, so this module imports only modules
that load quickly.
"""

import atexit
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # not from typing, which takes longer to import than everything else here
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["at_sudden_end", "end_at_signals"]

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
#: The exit code of a process ended by a signal is this number plus the signal's number.
SIGNAL_CODES = 128

_cleanups: dict[object, Callable[[], object]] = {}

if hasattr(os, "register_at_fork"):
    # A forked child must not clean up the work of its parent.
    os.register_at_fork(after_in_child=_cleanups.clear)


@contextmanager
def at_sudden_end(cleanup: Callable[[], object]) -> Iterator[None]:
    """Run a cleanup if a signal ends the process inside the ``with`` block.

    Without a signal the cleanup does not run.  It also does not run in programs that have not called
    `end_at_signals`, such as other programs that use this library.

    Parameters
    ----------
    cleanup : callable
        Called without arguments.  It can run between any two bytecodes of the block, so it must not rely on locks
        or on which part of the block has run.  Its errors are ignored.

    Examples
    --------
    >>> import os
    >>> from repair._utils.signals import at_sudden_end
    >>> with at_sudden_end(lambda: os.unlink("half-written")):
    ...     pass  # write the file and rename it
    """
    key = object()
    _cleanups[key] = cleanup
    try:
        yield
    finally:
        _cleanups.pop(key, None)


def end_at_signals() -> None:
    """End this process immediately on Ctrl-C, SIGTERM and SIGHUP, with exit code 128 plus the signal's number.

    A signal that is already ignored stays ignored: `nohup`, and shells that start background jobs, rely on that.
    """
    for name in SIGNALS:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
            # Exit functions run in reverse order, so this one runs last, when the work is done.  The interpreter
            # removes its handlers while it unloads modules, and a late signal would turn success into failure.
            atexit.register(signal.signal, number, signal.SIG_IGN)


def _end(number: int, _: object) -> "NoReturn":
    try:
        for cleanup in list(_cleanups.values()):
            with suppress(Exception):
                cleanup()
    finally:
        os._exit(SIGNAL_CODES + number)
