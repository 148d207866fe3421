"""Running one command, from its arguments to its exit code."""

import traceback
from collections.abc import Sequence

from repair.cli.output import fail, flush, warnings_as_lines
from repair.cli.remedies import in_options
from repair.errors import MissingExtraError, NotFittedError, RemediableError

__all__ = ["run"]

INTERRUPTED, BAD_INPUT, DEFECT = 130, 2, 3


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code.

    ``--debug`` is accepted anywhere on the line, so it can be appended to a command that failed.

    This function does not install signal handlers.  With Python's default handler, Ctrl-C returns 130.
    """
    debug = "--debug" in arguments
    given = [argument for argument in arguments if argument != "--debug"]
    with warnings_as_lines():
        try:
            code = _run(given)
            flush()
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:
            # An interrupt while Python creates a class, which happens in every import, is wrapped in another error.
            if isinstance(error.__cause__, KeyboardInterrupt):
                return INTERRUPTED
            if debug:
                traceback.print_exc()
            return _report(error)
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
    except SystemExit:  # rich exits if its output pipe is closed (`--help | head`), which is not a failure
        return 0


def _report(error: Exception) -> int:
    """Print what is wrong in one line, and return the exit code."""
    if isinstance(error, RemediableError):
        fail(in_options(error))
    elif isinstance(error, NotFittedError | MissingExtraError):
        fail(str(error))
    elif isinstance(error, OSError):
        fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part is not None))
    elif isinstance(error, MemoryError):
        fail("there is not enough memory; use fewer rows or fewer candidates")
    elif hasattr(error, "format_message"):  # a wrong option; duck-typed, because typer may bundle its own click
        context = getattr(error, "ctx", None)
        fail(f"{error.format_message()} (see {'repair' if context is None else context.command_path} --help)")
    else:
        fail(f"unexpected {type(error).__name__}: {error}; this is a bug in repair; --debug shows where")
        return DEFECT
    return BAD_INPUT
