"""The command line: thin, it parses, calls and prints.

Exit codes: 0; 1 if a check or a comparison failed; 2 for bad input; 130 after Ctrl-C; 3 for a
defect of our own.
"""

import contextlib
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from repair.cli.output import fail, flush, warnings_as_lines
from repair.errors import ArtifactError, InputError, MissingExtraError, NotFittedError

__all__ = ["main", "run"]

INTERRUPTED, BAD_INPUT, DEFECT = 130, 2, 3
#: A process that a signal ended has this plus the signal's number for its exit code.
SIGNAL_CODES = 128
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

#: What the library tells Python users to do, and what that is here.
OPTIONS = {
    "labels_path=…": "--labels",
    "pass class_counts=… to fit": "give --classes with a column 'count'",
    "pass similarity=… to fit": "give --similarity, --taxonomy, --hpo-sets or --class-embeddings",
    "pass weight_norms=… to fit": "give --classes with a column 'weight_norm'",
    "; pass embeddings=…": "; give --embeddings FILE",
    "name it with name=…": "name it with --class-column",
}


def main() -> NoReturn:
    """Run the command ``repair`` and end the process."""
    _open_closed_streams()
    for number in ENDING_SIGNALS:
        signal.signal(number, _end)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a class name may have signs that the terminal has not
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run(sys.argv[1:])
    except EndedBySignal as ended:
        code = SIGNAL_CODES + ended.number
    if code == INTERRUPTED or code > SIGNAL_CODES:
        # Threads may be in the middle of something long; nobody waits for them after Ctrl-C.
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(code)
    raise SystemExit(code)


class EndedBySignal(BaseException):
    """Somebody asked the process to end; what is half-written is taken away on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _end(number: int, _: object) -> NoReturn:
    raise EndedBySignal(number)


def _open_closed_streams() -> None:
    """Give a process that was started without output streams (`>&-`) ones that swallow everything."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it lives as long as the process


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code.

    ``--debug`` may stand anywhere: whoever needs it repeats a command that failed and adds it.
    """
    debug = "--debug" in arguments
    given = [one for one in arguments if one != "--debug"]
    with warnings_as_lines():
        try:
            code = _run(given)
            flush()
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:
            # Python wraps what interrupts it while it makes a class, as any import does.
            if isinstance(error.__cause__, KeyboardInterrupt):
                return INTERRUPTED
            if isinstance(error.__cause__, EndedBySignal):
                raise error.__cause__ from None
            if debug:
                traceback.print_exc()
            return _refuse(error)
    return code


def _run(arguments: list[str]) -> int:
    try:
        import typer
    except ImportError:
        raise MissingExtraError("the command line needs the extra 'cli': pip install 'repair-rerank[cli]'") from None
    from repair.cli.app import build_app

    try:
        command = typer.main.get_command(build_app())
        return command.main(arguments, prog_name="repair", standalone_mode=False) or 0
    except typer.Abort:
        return INTERRUPTED
    except SystemExit:  # rich ends a process whose reader has seen enough (`--help | head`); that is no failure
        return 0


def _refuse(error: Exception) -> int:
    """Say in one line what is wrong, and return the exit code."""
    if isinstance(error, InputError | ArtifactError | NotFittedError | MissingExtraError):
        fail(_as_options(str(error)))
    elif isinstance(error, OSError):
        fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part is not None))
    elif isinstance(error, MemoryError):
        fail("there is not enough memory for this; use fewer rows or candidates")
    elif hasattr(error, "format_message"):  # what typer raises on a wrong option, whichever click it carries
        context = getattr(error, "ctx", None)
        fail(f"{error.format_message()} (see {'repair' if context is None else context.command_path} --help)")
    else:
        fail(f"unexpected {type(error).__name__}: {error}; this is a defect of repair, --debug shows where")
        return DEFECT
    return BAD_INPUT


def _as_options(message: str) -> str:
    """Put the names that Python users type into those of the command line."""

    def options(found: re.Match[str]) -> str:
        return ", ".join(f"--{role}-column" for role in re.findall(r"(\w+)=", found[1]))

    message = re.sub(r"ColumnNames\(([^)]*)\)", options, message)
    for keyword, option in OPTIONS.items():
        message = message.replace(keyword, option)
    return message
