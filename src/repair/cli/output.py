"""What goes to standard output and standard error, and nothing else does."""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from repair.errors import ConvergenceWarning, InputWarning

__all__ = ["fail", "flush", "note", "show", "show_json", "warnings_as_lines"]


def show(text: str) -> None:
    """Print to standard output; a reader who has seen enough (`| head`) is no error."""
    try:
        print(text)
    except BrokenPipeError:
        _forget_reader()


def show_json(value: Any) -> None:
    """Print one JSON object; NaN and infinities become null."""
    from repair.diagnosis.plain import plain

    show(json.dumps(plain(value), ensure_ascii=False, indent=2))


def flush() -> None:
    """Write out what is still held back, so that a failure is known before the end."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_reader()


def _forget_reader() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str) -> None:
    """Say something about the run that is neither result nor trouble."""
    _line("note", text)


def fail(text: str) -> None:
    """Say what is wrong, in one line."""
    _line("repair", text)


def _line(kind: str, text: str) -> None:
    # A file name may hold a line break, or characters that the terminal has no encoding for.
    flat = " ".join(text.split())
    encoding = sys.stderr.encoding or "utf-8"
    print(f"{kind}: {flat}".encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)


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
