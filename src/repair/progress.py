"""A progress bar with the time that is left, for work that takes longer than a second."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from repair.errors import MissingExtraError

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(label: str, total: int, *, show: bool) -> Iterator[Callable[[], None]]:
    """Yield a function to be called after each of `total` steps; with `show`, a bar follows it.

    The bar goes to standard error, and only where that is a terminal.

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
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda: bar.advance(task)
