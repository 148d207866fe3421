"""Colours by name.  They are variables of the page's style sheet, so one chart works in light, dark and print."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["LIGHT", "colour", "in_print"]

#: Colours of charts in files.  ``assets/style.css`` has the same names, for light and dark.  People with colour
#: blindness can distinguish them (after Okabe and Ito, darkened for contrast with white).
LIGHT = {
    "ink": "#1c2430",
    "soft": "#566070",
    "line": "#d5dae2",
    "paper": "#ffffff",
    "base": "#7b8494",
    "model": "#0b66c3",
    "rare": "#c2500a",
    "frequent": "#00765a",
    "zone": "#e8b93c",
    "first": "#0b66c3",
    "second": "#c2500a",
    "trust1": "#0b66c3",
    "trust2": "#6a9fd8",
    "trust3": "#aab4c2",
    "none": "#c2500a",
}


def colour(name: str) -> str:
    """Return a colour as a reference to a variable of the style sheet.

    Examples
    --------
    >>> from repair.report.palette import colour
    >>> colour("model")
    'var(--model)'
    """
    if name not in LIGHT:
        raise KeyError(name)
    return f"var(--{name})"


def in_print(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart with the colours of the light theme, for files that are not part of a page.

    Examples
    --------
    >>> from repair.report.palette import in_print
    >>> in_print({"mark": {"color": "var(--model)"}})
    {'mark': {'color': '#0b66c3'}}
    """

    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: replaced(item) for key, item in value.items()}
        if isinstance(value, list):
            return [replaced(item) for item in value]
        if isinstance(value, str) and value.startswith("var(--") and value[6:-1] in LIGHT:
            return LIGHT[value[6:-1]]
        return value

    plain: dict[str, Any] = replaced(json.loads(json.dumps(spec)))
    # Class names are data, so a class called "var(--model)" must keep its name.
    if "data" in spec:
        plain["data"] = spec["data"]
    return plain
