"""Progress bars with the rate and the remaining time, for work that takes longer than a second."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from repair._utils.signals import at_sudden_end
from repair.errors import MissingExtraError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["progress_bar"]

#: Seconds between two lines of plain text.  Work that finishes sooner prints nothing.
QUIET = 1.0
STANDARD_ERROR = 2
#: Return to the start of the line, erase it, and show the cursor, which rich hides while it draws a bar.
ERASE_BAR = b"\r\x1b[2K\x1b[?25h"


@contextmanager
def progress_bar(label: str, total: int, *, show: bool) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each of `total` steps.

    Parameters
    ----------
    label : str
        Text shown in front of the bar.
    total : int
        Number of steps.
    show : bool
        Whether to show progress on standard error: a bar if that is a terminal, otherwise at most
        one line of text per second.

    Yields
    ------
    callable
        Takes no arguments and counts one step.

    Examples
    --------
    >>> from repair._utils.progress import progress_bar
    >>> with progress_bar("counting", 3, show=False) as step:
    ...     for _ in range(3):
    ...         step()
    """
    if not show:
        yield lambda: None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        raise MissingExtraError("a progress bar needs the extra 'cli': pip install 'repair-rerank[cli]'") from None
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_lines(label, total)
        return
    rate = TextColumn("{task.fields[rate]}")
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn()
    bar = Progress(*columns, console=console, transient=True)
    with at_sudden_end(lambda: _erase_bar(console)), bar:
        task = bar.add_task(label, total=total, rate="")
        start, done = time.monotonic(), 0

        def step() -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=1, rate=_rate(done, time.monotonic() - start))

        yield step


def _erase_bar(console: "Console") -> None:
    """Restore the terminal.  This does not go through rich, which may be interrupted in the middle of writing."""
    understands_codes = not console.is_dumb_terminal and not console.legacy_windows
    if understands_codes and os.isatty(STANDARD_ERROR):
        os.write(STANDARD_ERROR, ERASE_BAR)


def _plain_lines(label: str, total: int) -> Callable[[], None]:
    start, done = time.monotonic(), 0
    last_line = start

    def step() -> None:
        nonlocal done, last_line
        done += 1
        now = time.monotonic()
        if now - last_line >= QUIET:
            last_line = now
            left = (now - start) / done * (total - done)
            print(f"{label}: {done}/{total}, {_rate(done, now - start)}, {left:.0f} s left", file=sys.stderr)

    return step


def _rate(done: int, seconds: float) -> str:
    return f"{done / max(seconds, 1e-9):.2g}/s"
