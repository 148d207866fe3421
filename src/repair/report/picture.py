"""A picture as plain data: what it shows, the rows it was computed on, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from repair._utils.text_tables import minus_signs

__all__ = ["Picture", "missing", "number", "percent", "points"]


@dataclass(frozen=True)
class Picture:
    """The data and texts of a chart.

    Attributes
    ----------
    key : str
        Name of the chart function, of the element on the page and of the figure's file.
    title, sentence, basis : str
        A heading, what the chart shows, and which rows or classes it was computed on.
    data : dict
        What the chart draws, as data that JSON can represent.
    header, lines : sequences of str
        The numbers as a table, for readers who cannot see the chart or want the numbers.
    reason : str
        Why there is no picture, or '' if there is one.
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
    """Return a picture without a chart, with a sentence that says why these data do not allow one.

    Examples
    --------
    >>> from repair.report.picture import missing
    >>> missing("quintiles", "Quintiles", "12 rare classes are too few").reason
    '12 rare classes are too few.'
    """
    return Picture(key, title, "", "", reason=reason.rstrip(".") + ".")


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, or '–' for NaN.

    Examples
    --------
    >>> from repair.report.picture import percent
    >>> percent(0.584), percent(float("nan"))
    ('58.4 %', '–')
    """
    return "–" if share != share else f"{100 * share:.{digits}f} %"


def points(difference: float) -> str:
    """Return a difference of shares in percentage points with its sign, or '–' for NaN and infinities.

    Examples
    --------
    >>> from repair.report.picture import points
    >>> points(0.0253), points(-0.00001), points(float("inf"))
    ('+2.5', '0.0', '–')
    """
    if not isfinite(difference):
        return "–"
    rounded = round(100 * difference, 1) + 0.0  # −0.0 becomes 0.0
    return "0.0" if rounded == 0 else minus_signs(f"{rounded:+.1f}")


def number(value: float, digits: int = 2) -> str:
    """Return a number as text with thousands separators, and with decimals only if it is not whole.

    Examples
    --------
    >>> from repair.report.picture import number
    >>> number(12345.0), number(0.126)
    ('12,345', '0.13')
    """
    if value != value:
        return "–"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.{digits}f}"
