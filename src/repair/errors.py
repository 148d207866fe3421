"""The failures this library names, and the warnings it gives."""

__all__ = [
    "ArtifactError",
    "ConvergenceWarning",
    "InputError",
    "InputWarning",
    "MissingExtraError",
    "NotFittedError",
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
