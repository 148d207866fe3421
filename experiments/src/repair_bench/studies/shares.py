"""Shares of simulated problems with their intervals."""

from typing import Any

import numpy as np
from scipy.stats import binom, norm

__all__ = ["allowed_count", "share", "share_text", "wilson"]


def wilson(count: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share.

    Parameters
    ----------
    count : int
        Number of hits.
    total : int
        Number of trials, at least 1.
    level : float, default 0.95

    Examples
    --------
    >>> from repair_bench.studies.shares import wilson
    >>> [round(end, 3) for end in wilson(5, 100)]
    [0.022, 0.112]
    """
    z = float(norm.ppf(0.5 + level / 2))
    observed = count / total
    scale = 1 + z**2 / total
    centre = (observed + z**2 / (2 * total)) / scale
    half_width = z / scale * float(np.sqrt(observed * (1 - observed) / total + z**2 / (4 * total**2)))
    return max(0.0, centre - half_width), min(1.0, centre + half_width)


def allowed_count(total: int, rate: float = 0.05) -> int:
    """Return the largest count that is compatible with a rate: the 97.5 % quantile of the binomial distribution.

    Examples
    --------
    >>> from repair_bench.studies.shares import allowed_count
    >>> allowed_count(200)
    16
    """
    return int(binom.ppf(0.975, total, rate))


def share(count: int, total: int) -> dict[str, Any]:
    """Return a count, its share and Wilson's interval, as a record.  Without trials, the share is None."""
    low, high = wilson(count, total) if total else (None, None)
    return {"count": count, "of": total, "value": count / total if total else None, "low": low, "high": high}


def share_text(found: dict[str, Any]) -> str:
    """Return a share as text.

    Examples
    --------
    >>> from repair_bench.studies.shares import share, share_text
    >>> share_text(share(5, 100)), share_text(share(0, 0))
    ('5 of 100: 5.0 % (2.2 to 11.2)', '–')
    """
    if found["value"] is None:
        return "–"
    value, low, high = (f"{100 * found[key]:.1f}" for key in ("value", "low", "high"))
    return f"{found['count']} of {found['of']}: {value} % ({low} to {high})"
