"""The failures this library names, and the warnings it gives."""

import sys
import warnings

__all__ = [
    "ArtifactError",
    "ConvergenceWarning",
    "InputError",
    "InputWarning",
    "MissingExtraError",
    "NotFittedError",
    "warn_user",
]


class InputError(ValueError):
    """An input that cannot be used; the message names where, what, and the remedy."""


class ArtifactError(ValueError):
    """A model file that cannot be written or must not be trusted."""


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted model was called before ``fit``."""


class MissingExtraError(ImportError):
    """An optional library is missing; the message names the extra to install."""


class InputWarning(UserWarning):
    """An input was accepted, but not quite as given; the message says what was done."""


class ConvergenceWarning(UserWarning):
    """The solver stopped before it reached the gradient norm it was asked for."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's own code, however deep inside the library this is called."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "repair":
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
