"""What the learning curves show about `auto`, computed from their numbers."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["AUTO", "ENOUGH", "EXTENDED", "LOGIT_ADJ", "PAIRWISE", "summarize"]

AUTO, EXTENDED, PAIRWISE, LOGIT_ADJ = "auto", "extended", "pairwise", "LogitAdj over all classes"
#: From this number of calibration rows on, `auto` should hold most of the gain of the better method.
ENOUGH = 100


def summarize(sets: Mapping[str, Any]) -> dict[str, Any]:
    """Return the share of the better method's gain that `auto` holds, and its largest mean loss to Base.

    The better method of a benchmark and size is the one of Extended and LogitAdj with the larger
    mean gain.  A share is the mean gain of `auto` divided by the mean of max(0, gain of the better
    method), where both means are over the same benchmarks or sizes.

    Parameters
    ----------
    sets : mapping
        The curve of each benchmark by name.

    Returns
    -------
    dict
        ``held`` (all sizes of at least `ENOUGH` rows), ``by_size``, ``by_set``, and ``lowest`` (the
        smallest mean gain of `auto`, with its benchmark and size, over all sizes).  In ``by_size``,
        fits on all calibration rows are under "all".
    """
    points = [(name, point) for name, found in sets.items() for point in found["curve"]]
    if not points:
        return {"held": None, "by_size": {}, "by_set": {}, "lowest": None}
    enough = [(name, point) for name, point in points if point["n"] >= ENOUGH]
    sizes = sorted({point["n"] for _, point in points if not point["everything"]})
    by_size = {str(size): _held(p for _, p in points if p["n"] == size and not p["everything"]) for size in sizes}
    by_size["all"] = _held(point for _, point in points if point["everything"])
    name, point = min(points, key=lambda pair: pair[1]["gains"][AUTO]["mean"])
    return {
        "held": _held(point for _, point in enough),
        "by_size": by_size,
        "by_set": {name: _held(p for other, p in enough if other == name) for name in sets},
        "lowest": {"set": name, "n": point["n"], "gain": point["gains"][AUTO]["mean"]},
    }


def _held(points: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean gains of `auto` and of the better method, their ratio, and the smallest gain of `auto`."""
    means = [{name: found["mean"] for name, found in point["gains"].items()} for point in points]
    if not means:
        return {"points": 0, "auto": None, "better": None, "share": None, "lowest": None}
    auto = [gains[AUTO] for gains in means]
    better = float(np.mean([max(0.0, gains[EXTENDED], gains[LOGIT_ADJ]) for gains in means]))
    return {
        "points": len(means),
        "auto": float(np.mean(auto)),
        "better": better,
        "share": float(np.mean(auto)) / better if better > 0 else None,
        "lowest": float(min(auto)),
    }
