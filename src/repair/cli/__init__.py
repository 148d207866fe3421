"""The command line.  Commands parse their arguments, call the library and print the result.

Exit codes are 0 for success, 1 if a check or a comparison failed, 2 for bad input, 3 for a bug in repair, and 128 plus
the signal's number if a signal ended the process (130 after Ctrl-C).

The console script imports this package before it can install signal handlers, so little is imported here.
"""

from repair.cli.entry import main

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "run"]


def run(arguments: "Sequence[str]") -> int:
    """Run one command in this process and return its exit code."""
    from repair.cli.runner import run as run_command

    return run_command(arguments)
