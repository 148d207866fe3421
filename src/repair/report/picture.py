"""One picture as plain data: what it shows, on which rows, and the numbers behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

__all__ = ["Picture", "minus", "missing", "number", "percent", "points"]


@dataclass(frozen=True)
class Picture:
    """What a chart is drawn from.

    Attributes
    ----------
    key : str
        Names the chart function, the place on the page and the figure's file.
    title, sentence, basis : str
        A heading, what to see, and which rows or classes it was computed on.
    data : dict
        JSON-able; what the chart draws.
    header, lines : sequences of str
        The numbers as a table, for those who cannot or do not want to look.
    reason : str
        Why there is no picture; '' where there is one.
    """

    key: str
    title: str
    sentence: str
    basis: str
    data: Mapping[str, Any] = field(default_factory=dict)
    header: Sequence[str] = ()
    lines: Sequence[Sequence[str]] = ()
    reason: str = ""


def missing(key: str, title: str, reason: str) -> Picture:
    """Return the picture that these data do not allow: a sentence that says why.

    Examples
    --------
    >>> from repair.report.picture import missing
    >>> missing("quintiles", "Quintiles", "12 rare classes are too few").reason
    '12 rare classes are too few.'
    """
    return Picture(key, title, "", "", reason=reason.rstrip(".") + ".")


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent; '–' for NaN.

    Examples
    --------
    >>> from repair.report.picture import percent
    >>> percent(0.584), percent(float("nan"))
    ('58.4 %', '–')
    """
    return "–" if share != share else f"{100 * share:.{digits}f} %"


def points(difference: float) -> str:
    """Return a difference of shares in points, with its sign; '–' for NaN and infinities.

    Examples
    --------
    >>> from repair.report.picture import points
    >>> points(0.0253), points(-0.00001), points(float("inf"))
    ('+2.5', '0.0', '–')
    """
    if not isfinite(difference):
        return "–"
    rounded = round(100 * difference, 1) + 0.0  # −0.0 becomes 0.0
    return "0.0" if rounded == 0 else minus(f"{rounded:+.1f}")


def minus(text: str) -> str:
    """Return the text with the sign of negative numbers as it is printed, and hyphens as they are.

    Examples
    --------
    >>> from repair.report.picture import minus
    >>> minus("class-separable: -0.2, 1e-8")
    'class-separable: −0.2, 1e-8'
    """
    return re.sub(r"(?<!\w)-(?=\d)", "−", text)


def number(value: float, digits: int = 2) -> str:
    """Return a number as text; whole ones with thousands separators.

    Examples
    --------
    >>> from repair.report.picture import number
    >>> number(12345.0), number(0.126)
    ('12,345', '0.13')
    """
    if value != value:
        return "–"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.{digits}f}"
