"""The value that stands for a result that the data do not allow."""

from dataclasses import dataclass

__all__ = ["NotApplicable"]


@dataclass(frozen=True)
class NotApplicable:
    """A result that these data do not allow, with the reason.  It is a valid result, not an error.

    Attributes
    ----------
    reason : str
        One sentence with the numbers behind the decision.

    Examples
    --------
    >>> from repair.diagnosis import NotApplicable
    >>> print(NotApplicable("there are 12 rare classes; five bins of 15 need 75"))
    not applicable: there are 12 rare classes; five bins of 15 need 75
    """

    reason: str

    def to_dict(self) -> dict[str, str]:
        """Return the reason as a dict for JSON."""
        return {"not_applicable": self.reason}

    def __str__(self) -> str:
        """Return the reason after the words "not applicable"."""
        return f"not applicable: {self.reason}"
