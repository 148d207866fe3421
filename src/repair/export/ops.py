"""The array operations that the formulas are written in.  PyTorch and ONNX each implement them once."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

__all__ = ["LARGEST_SCORE", "Array", "Ops"]

#: An array of a backend.  It supports +, −, ·, /, comparisons with < ≤ > ≥, and & | ~ of booleans, with broadcasting.
Array: TypeAlias = Any
#: Scores beyond this are no scores, as in `Shortlist`.
LARGEST_SCORE = 1e30


class Ops(Protocol):
    """The operations.  "work" is the type of the corrections, float64 or float32."""

    #: A number of that type below all scores.  NaN is sorted like this.
    lowest: float

    def constant(self, name: str) -> Array:
        """Return a constant of the plan."""
        ...

    def cast(self, values: Array, dtype: str) -> Array:
        """Return the values as "work", "float32", "float64" or "int64"."""
        ...

    def cast_like(self, values: Array, other: Array) -> Array:
        """Return the values in the type of another array."""
        ...

    def where(self, condition: Array, then: Array, otherwise: Array | float) -> Array:
        """Return `then` where the condition holds, and else `otherwise`, in the type of `then`."""
        ...

    def equal(self, left: Array, right: Array | int) -> Array:
        """Return where two arrays of whole numbers are equal."""
        ...

    def is_nan(self, values: Array) -> Array:
        """Return where the values are NaN."""
        ...

    def apply(self, function: str, values: Array) -> Array:
        """Return "abs", "exp", "log", "sqrt" or "neg" of each value."""
        ...

    def softmax(self, values: Array) -> Array:
        """Return the softmax of each row."""
        ...

    def take(self, table: Array, places: Array, axis: int = 0) -> Array:
        """Return the entries of a table at some places of an axis."""
        ...

    def along(self, values: Array, places: Array) -> Array:
        """Return the values of each row at the places (n, k) of that row."""
        ...

    def top(self, values: Array, number: int) -> tuple[Array, Array]:
        """Return the largest values of each long row and their places.

        Equal values come in the order of their places.  Values beyond ±`LARGEST_SCORE` and NaN count as −Inf.
        """
        ...

    def order(self, values: Array) -> Array:
        """Return the places of each row's values in descending order.  Equal values keep their order."""
        ...

    def ascending(self, values: Array) -> Array:
        """Return the places of each row's whole numbers in ascending order.  Equal values keep their order."""
        ...

    def row_sum(self, values: Array) -> Array:
        """Return the sum over the last axis, kept with length 1, added from left to right as in numpy's path."""
        ...

    def total(self, values: Array, axis: int = -1) -> Array:
        """Return the sum over an axis, which is kept with length 1, in any order."""
        ...

    def matmul(self, left: Array, right: Array) -> Array:
        """Return the matrix product."""
        ...

    def transposed(self, matrix: Array) -> Array:
        """Return the transposed matrix."""
        ...

    def positions(self, like: Array) -> Array:
        """Return 0, 1, … along each row, in the shape of `like`."""
        ...

    def columns(self, values: Array, start: int, stop: int | None) -> Array:
        """Return columns `start` to `stop` (None for the last) of the last axis."""
        ...

    def expanded(self, values: Array, axis: int) -> Array:
        """Return the values with a new axis of length 1."""
        ...

    def squeezed(self, values: Array, axis: int = -1) -> Array:
        """Return the values without an axis of length 1."""
        ...

    def joined(self, parts: list[Array]) -> Array:
        """Return the parts side by side, along the last axis."""
        ...

    def spread(self, values: Array, places: Array, width: int, fill: float) -> Array:
        """Return rows of `width` numbers that hold the values at the places, and else `fill`."""
        ...
