"""The console script ``repair``, which installs signal handlers before it imports anything else."""

import io
import os
import sys

from repair._utils.signals import end_at_signals

TYPE_CHECKING = False  # importing typing would delay the signal handlers
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]


def main() -> "NoReturn":
    """Run the command ``repair`` and end the process."""
    end_at_signals()
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # the terminal may lack characters of a class name
            stream.reconfigure(errors="backslashreplace")
    from repair.cli.runner import run

    raise SystemExit(run(sys.argv[1:]))


def _open_closed_streams() -> None:
    """Replace output streams that were closed at the start of the process (`>&-`) by ones that discard everything."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - stays open
