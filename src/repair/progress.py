"""Progress with the rate and the time that is left, for work that takes longer than a second."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from repair.errors import MissingExtraError

__all__ = ["progress_bar"]

#: Seconds between two lines of plain text; work that is done sooner prints none.
QUIET = 1.0


@contextmanager
def progress_bar(label: str, total: int, *, show: bool) -> Iterator[Callable[[], None]]:
    """Yield a function to be called after each of `total` steps; with `show`, a bar follows it.

    It goes to standard error: a bar where that is a terminal, else a line of text at most every second.

    Examples
    --------
    >>> from repair.progress import progress_bar
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
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total, rate="")
        start, done = time.monotonic(), 0

        def step() -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=1, rate=_rate(done, time.monotonic() - start))

        yield step


def _plain_lines(label: str, total: int) -> Callable[[], None]:
    start, done = time.monotonic(), 0
    spoken = start

    def step() -> None:
        nonlocal done, spoken
        done += 1
        now = time.monotonic()
        if now - spoken >= QUIET:
            spoken = now
            left = (now - start) / done * (total - done)
            print(f"{label}: {done}/{total}, {_rate(done, now - start)}, {left:.0f} s left", file=sys.stderr)

    return step


def _rate(done: int, seconds: float) -> str:
    return f"{done / max(seconds, 1e-9):.2g}/s"
