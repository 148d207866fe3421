"""Everything that commands print on standard output and standard error."""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from repair.errors import ConvergenceWarning, InputWarning

if TYPE_CHECKING:
    from repair.stats.paired_gains import PairedGain

__all__ = ["fail", "flush", "note", "points", "show", "show_json", "warnings_as_lines"]


def show(text: str) -> None:
    """Print to standard output.  A pipe that is closed early (`| head`) is not an error."""
    with _standard_output():
        print(text)


def show_json(value: Any) -> None:
    """Print one JSON object.  NaN and infinities become null."""
    from repair._utils.json import plain

    show(json.dumps(plain(value), ensure_ascii=False, indent=2))


def points(gain: "PairedGain") -> str:
    """Return a difference in percentage points with its 95 % interval."""
    low, high = gain.interval()
    return f"{100 * gain.gain:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"


def flush() -> None:
    """Flush standard output, so a failure to write is noticed before the process ends."""
    with _standard_output():
        sys.stdout.flush()


@contextmanager
def _standard_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Otherwise the interpreter tries to write again when it ends, and prints an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            error.filename = "standard output"
            raise


def note(text: str) -> None:
    """Print a note: information about the run that is neither a result nor a problem."""
    _line("note", text)


def fail(text: str) -> None:
    """Print an error message in one line."""
    _line("repair", text)


def _line(kind: str, text: str) -> None:
    try:
        print(f"{kind}: {' '.join(text.split())}", file=sys.stderr, flush=True)  # a file name may contain a line break
    except OSError:  # the message is lost, but the exit code still reports the failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings as plain lines on standard error, each text once."""
    printed: set[str] = set()

    def line(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in printed:
            printed.add(text)
            _line("warning", text)

    with warnings.catch_warnings():
        for category in (InputWarning, ConvergenceWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = line
        yield
