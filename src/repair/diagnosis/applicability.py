"""The answer of a diagnosis that the data cannot give."""

from dataclasses import dataclass

__all__ = ["NotApplicable"]


@dataclass(frozen=True)
class NotApplicable:
    """A result that these data do not allow, and why: an answer, not an error.

    Attributes
    ----------
    reason : str
        One sentence with the numbers that decided.

    Examples
    --------
    >>> from repair.diagnosis import NotApplicable
    >>> print(NotApplicable("there are 12 rare classes; five bins of 15 need 75"))
    not applicable: there are 12 rare classes; five bins of 15 need 75
    """

    reason: str

    def __str__(self) -> str:
        """Return the reason, marked as what it is."""
        return f"not applicable: {self.reason}"
