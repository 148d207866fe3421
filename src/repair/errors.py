"""The errors and warnings of this library."""

import sys
import warnings
from dataclasses import dataclass

__all__ = [
    "ArtifactError",
    "ConvergenceWarning",
    "InputError",
    "InputWarning",
    "MissingExtraError",
    "NotFittedError",
    "RemediableError",
    "Remedy",
    "drop_parameter",
    "pass_to_fit",
    "warn_user",
]


@dataclass(frozen=True)
class Remedy:
    """What to do about an error, in a form that other front ends can reword.

    Attributes
    ----------
    code : str
        A stable name for the kind of remedy.  The command line uses it to look up its own wording.
    text : str
        The remedy as a Python user reads it.
    detail : str, default ""
        What the remedy is about, such as the name of the argument to pass.
    """

    code: str
    text: str
    detail: str = ""


def pass_to_fit(argument: str) -> Remedy:
    """Return the remedy "pass this argument to ``fit``".

    Parameters
    ----------
    argument : str
        Name of the missing argument.

    Returns
    -------
    Remedy

    Examples
    --------
    >>> from repair.errors import InputError, pass_to_fit
    >>> InputError("the dial needs class_counts", pass_to_fit("class_counts"))
    InputError('the dial needs class_counts; pass class_counts=… to fit')
    """
    return Remedy("pass-to-fit", f"pass {argument}=… to fit", argument)


def drop_parameter(name: str, mode: str = "") -> Remedy:
    """Return the remedy "leave this parameter out, or use this mode (or another one)".

    Parameters
    ----------
    name : str
        Name of the parameter.
    mode : str, default ""
        The mode to use instead.  By default any other mode.

    Returns
    -------
    Remedy

    Examples
    --------
    >>> from repair.errors import drop_parameter
    >>> drop_parameter("tau", "pairwise").text
    "leave tau out, or use mode 'pairwise'"
    """
    other = f"mode {mode!r}" if mode else "another mode"
    return Remedy("drop-parameter", f"leave {name} out, or use {other}", f"{name} {mode}".strip())


class RemediableError(ValueError):
    """Base class of errors whose remedy the command line can word differently from Python.

    Parameters
    ----------
    problem : str
        What is wrong, where, and usually what to do about it.
    remedy : Remedy, optional
        The remedy, passed separately if the command line has to word it differently from Python.
    """

    def __init__(self, problem: str, remedy: Remedy | None = None) -> None:
        super().__init__(problem if remedy is None else f"{problem}; {remedy.text}")
        self.problem = problem
        self.remedy = remedy

    @property
    def code(self) -> str | None:
        """The code of the remedy, if it has one."""
        return None if self.remedy is None else self.remedy.code


class InputError(RemediableError):
    """An input cannot be used.  The message says where the problem is, what the value is and what to do.

    Examples
    --------
    >>> from repair import InputError
    >>> from repair.errors import pass_to_fit
    >>> InputError("the dial needs class_counts", pass_to_fit("class_counts")).code
    'pass-to-fit'
    """

    def within(self, place: str) -> "InputError":
        """Return the same error with the name of a file or method in front."""
        return InputError(f"{place}: {self.problem}", self.remedy)


class ArtifactError(RemediableError):
    """A model file cannot be written, or its content is invalid and cannot be trusted."""


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted model was called before ``fit``."""


class MissingExtraError(ImportError):
    """An optional library is missing.  The message names the extra to install."""


class InputWarning(UserWarning):
    """An input was accepted, but changed or suspicious.  The message says what was done or what to check."""


class ConvergenceWarning(UserWarning):
    """The solver stopped before it reached the requested gradient norm."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the line of user code that called the library."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "repair":
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
