"""Places for the labels of points, so no two of them are printed over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Placed", "Spot", "place_labels"]

#: Widths of the plot in pixels, on a phone and on a large screen.  A place must be free at both.
WIDTHS = (230.0, 500.0)
#: Pixels that the axes take of a chart's height.
AXES = 50.0
#: Size of a character, rather too large, because the font depends on the system.
CHARACTER, LINE = 8.0, 15.0
#: Distance of a label from its point, and the radius of a large and of a small point.
GAP, RADIUS = 12.0, 5.0
#: Points that are nearer than this look like one.
NEAR = 14.0
#: Where a label can be: the side of its point, as multiples of its width and height, and how the text is aligned.
SIDES: tuple[tuple[float, float, str, str], ...] = (
    (1, 0, "left", "middle"),
    (-1, 0, "right", "middle"),
    (0, -1, "center", "bottom"),
    (0, 1, "center", "top"),
    (0.6, -0.8, "left", "bottom"),
    (-0.6, -0.8, "right", "bottom"),
    (0.6, 0.8, "left", "top"),
    (-0.6, 0.8, "right", "top"),
)


@dataclass(frozen=True)
class Spot:
    """A point with a text.  A bold text is always shown, others only where there is room."""

    text: str
    x: float
    y: float
    bold: bool = False


class Placed(NamedTuple):
    """A text at a point, with the options of a Vega-Lite text mark that put it next to the point."""

    text: str
    x: float
    y: float
    bold: bool
    mark: dict[str, Any]


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def place_labels(
    spots: Sequence[Spot],
    points: Sequence[tuple[float, float]],
    across: Sequence[float],
    upwards: Sequence[float],
    height: float,
) -> list[Placed]:
    r"""Return the labels that can be shown, each on a side of its point where no other label is.

    Parameters
    ----------
    spots : sequence of Spot
        Labels in the order of their importance.  If two bold ones are at nearly the same point, they become one.
    points : sequence of (float, float)
        Points that labels should not cover.
    across, upwards : (low, high)
        The ends of both axes.
    height : float
        Height of the chart in pixels.

    Returns
    -------
    list of Placed

    Examples
    --------
    >>> from repair.report.labels import Spot, place_labels
    >>> spots = [Spot("base", 0.5, 0.5, bold=True), Spot("model", 0.5, 0.5, bold=True), Spot("dial 1", 0.5, 0.5)]
    >>> [label.text for label in place_labels(spots, [(0.5, 0.5)], (0, 1), (0, 1), 320)]
    ['base =\nmodel', 'dial 1']
    """
    plots = [_Plot(width, height - AXES, across, upwards) for width in WIDTHS]
    taken: list[list[_Box]] = [[] for _ in plots]
    placed = []
    for spot in _merged(spots, plots[-1]):
        side = _best_side(spot, points, plots, taken)
        if side is None:
            continue
        for plot, boxes in zip(plots, taken, strict=True):
            boxes.append(plot.box(spot, side))
        placed.append(Placed(spot.text, spot.x, spot.y, spot.bold, _mark(spot, side)))
    return placed


def _merged(spots: Sequence[Spot], plot: _Plot) -> list[Spot]:
    """Join the texts of bold labels whose points look like one."""
    merged: list[Spot] = []
    for spot in spots:
        x, y = plot.at(spot.x, spot.y)
        for index, other in enumerate(merged):
            other_x, other_y = plot.at(other.x, other.y)
            if spot.bold and other.bold and abs(x - other_x) < NEAR and abs(y - other_y) < NEAR:
                merged[index] = Spot(f"{other.text} =\n{spot.text}", spot.x, spot.y, bold=True)
                break
        else:
            merged.append(spot)
    return merged


@dataclass(frozen=True)
class _Plot:
    """A plot of some size, in pixels from its upper left corner."""

    width: float
    height: float
    across: Sequence[float]
    upwards: Sequence[float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        low, high = self.across
        bottom, top = self.upwards
        return self.width * (x - low) / (high - low), self.height * (top - y) / (top - bottom)

    def box(self, spot: Spot, side: int) -> _Box:
        """Return the box of a label on a side of its point."""
        right, down, align, baseline = SIDES[side]
        lines = spot.text.split("\n")
        wide, high = CHARACTER * max(map(len, lines)), LINE * len(lines)
        x, y = self.at(spot.x, spot.y)
        x, y = x + GAP * right, y + GAP * down
        left = {"left": x, "right": x - wide, "center": x - wide / 2}[align]
        top = {"top": y, "bottom": y - high, "middle": y - high / 2}[baseline]
        return _Box(left, top, left + wide, top + high)

    def holds(self, box: _Box) -> bool:
        return box.left >= 0 and box.top >= 0 and box.right <= self.width and box.bottom <= self.height


def _best_side(
    spot: Spot, points: Sequence[tuple[float, float]], plots: Sequence[_Plot], taken: Sequence[Sequence[_Box]]
) -> int | None:
    """Return the side where the label covers the fewest points, or None if a label is in the way on every side."""
    best: tuple[int, int] | None = None
    for side in range(len(SIDES)):
        covered, free = 0, True
        for plot, boxes in zip(plots, taken, strict=True):
            box = plot.box(spot, side)
            free = free and not any(box.meets(other) for other in boxes)
            covered += sum(box.meets(_around(*plot.at(*point))) for point in points)
            covered += 0 if plot.holds(box) else len(points) + 1  # rather over a point than outside of the plot
        if free and (spot.bold or covered == 0) and (best is None or covered < best[0]):
            best = covered, side
    return None if best is None else best[1]


def _around(x: float, y: float) -> _Box:
    return _Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS)


def _mark(spot: Spot, side: int) -> dict[str, Any]:
    right, down, align, baseline = SIDES[side]
    lines = spot.text.count("\n")
    # With several lines, Vega aligns the first one, so the others need room above or in the middle.
    shift = {"top": 0.0, "middle": -LINE * lines / 2, "bottom": -LINE * lines}[baseline]
    return {
        "align": align,
        "baseline": baseline,
        "dx": GAP * right,
        "dy": GAP * down + shift,
        "lineHeight": LINE,
        "fontWeight": 600 if spot.bold else "normal",
    }
