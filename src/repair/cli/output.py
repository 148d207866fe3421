"""What goes to standard output and standard error, and nothing else does."""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from repair.errors import ConvergenceWarning, InputWarning

if TYPE_CHECKING:
    from repair.statistics import PairedGain

__all__ = ["fail", "flush", "note", "points", "show", "show_json", "warnings_as_lines"]


def show(text: str) -> None:
    """Print to standard output; a reader who has seen enough (`| head`) is no error."""
    with _standard_output():
        print(text)


def show_json(value: Any) -> None:
    """Print one JSON object; NaN and infinities become null."""
    from repair.diagnosis.plain import plain

    show(json.dumps(plain(value), ensure_ascii=False, indent=2))


def points(gain: "PairedGain") -> str:
    """Return a difference in percentage points with its 95 % interval."""
    low, high = gain.interval()
    return f"{100 * gain.gain:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"


def flush() -> None:
    """Write out what is still held back, so that a failure is known before the end."""
    with _standard_output():
        sys.stdout.flush()


@contextmanager
def _standard_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Or else the interpreter tries again when it ends, and complains.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            error.filename = "standard output"
            raise


def note(text: str) -> None:
    """Say something about the run that is neither result nor trouble."""
    _line("note", text)


def fail(text: str) -> None:
    """Say what is wrong, in one line."""
    _line("repair", text)


def _line(kind: str, text: str) -> None:
    try:
        print(f"{kind}: {' '.join(text.split())}", file=sys.stderr, flush=True)  # a file name may hold a line break
    except OSError:  # nobody can read it, and the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print this library's warnings as plain lines, each once; leave all others as they are."""
    said: set[str] = set()

    def line(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in said:
            said.add(text)
            _line("warning", text)

    with warnings.catch_warnings():
        for category in (InputWarning, ConvergenceWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = line
        yield
