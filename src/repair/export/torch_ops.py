"""The operations in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from repair.export.ops import LARGEST_SCORE, Array

__all__ = ["TorchOps"]

DTYPES = {"float32": torch.float32, "float64": torch.float64, "int64": torch.int64}
FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "abs": torch.abs,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "neg": torch.neg,
}
LOWEST = {"float64": -1e300, "float32": -3e38}
NOTHING = float("-inf")


class TorchOps:
    """The operations on tensors.  ``repair.export.ops.Ops`` describes them.

    Parameters
    ----------
    constants : mapping from str to Tensor
    precision : {"float64", "float32"}
        Type of the corrections.
    """

    def __init__(self, constants: Mapping[str, Array], precision: str) -> None:
        self.constants = constants
        self.lowest = LOWEST[precision]
        self.dtypes = {**DTYPES, "work": DTYPES[precision]}

    def constant(self, name: str) -> Array:
        return self.constants[name]

    def cast(self, values: Array, dtype: str) -> Array:
        return values.to(self.dtypes[dtype])

    def cast_like(self, values: Array, other: Array) -> Array:
        return values.to(other.dtype)

    def where(self, condition: Array, then: Array, otherwise: Array | float) -> Array:
        return torch.where(condition, then, otherwise)

    def equal(self, left: Array, right: Array | int) -> Array:
        return left == right

    def is_nan(self, values: Array) -> Array:
        return torch.isnan(values)

    def apply(self, function: str, values: Array) -> Array:
        return FUNCTIONS[function](values)

    def softmax(self, values: Array) -> Array:
        return torch.softmax(values, dim=1)

    def take(self, table: Array, places: Array, axis: int = 0) -> Array:
        return table[places] if axis == 0 else table.index_select(axis, places)

    def along(self, values: Array, places: Array) -> Array:
        return torch.gather(values, 1, places)

    def order(self, values: Array) -> Array:
        return torch.sort(values, dim=1, descending=True, stable=True).indices

    def ascending(self, values: Array) -> Array:
        return torch.sort(values, dim=1, stable=True).indices

    def row_sum(self, values: Array) -> Array:
        return torch.cumsum(values, -1)[..., -1:]

    def total(self, values: Array, axis: int = -1) -> Array:
        return values.sum(axis, keepdim=True)

    def matmul(self, left: Array, right: Array) -> Array:
        return left @ right

    def transposed(self, matrix: Array) -> Array:
        return matrix.T

    def positions(self, like: Array) -> Array:
        return torch.arange(like.shape[1], device=like.device).expand(like.shape)

    def columns(self, values: Array, start: int, stop: int | None) -> Array:
        return values[..., start:stop]

    def expanded(self, values: Array, axis: int) -> Array:
        return values.unsqueeze(axis)

    def squeezed(self, values: Array, axis: int = -1) -> Array:
        return values.squeeze(axis)

    def joined(self, parts: list[Array]) -> Array:
        return torch.cat(parts, dim=-1)

    def spread(self, values: Array, places: Array, width: int, fill: float) -> Array:
        return values.new_full((values.shape[0], width), fill).scatter(1, places, values)

    def top(self, values: Array, number: int) -> tuple[Array, Array]:
        if torch.compiler.is_compiling():  # a graph cannot look at the data
            return self._exact_top(values, number)
        largest, places = torch.topk(values, min(number + 1, values.shape[1]), dim=1)
        doubtful = _needs_care(largest)
        largest, places = largest[:, :number], places[:, :number]
        if bool(doubtful.any()):
            rows = doubtful.nonzero()[:, 0]
            largest[rows], places[rows] = self._exact_top(values[rows], number)
        return largest, places

    def _exact_top(self, values: Array, number: int) -> tuple[Array, Array]:
        """Return the largest values and their places, equal values in order, for any values."""
        usable = torch.where(values.abs() <= LARGEST_SCORE, values, NOTHING)
        smallest = torch.topk(usable, number, dim=1).values[:, -1:]
        width = values.shape[1]
        before = width - torch.arange(width, device=values.device)
        # All that are larger than the smallest one are kept, and the first ones that are equal to it.
        key = torch.where(usable > smallest, before + width, torch.where(usable == smallest, before, -1))
        places = torch.topk(key, number, dim=1).indices.sort(dim=1).values
        chosen = usable.gather(1, places)
        order = self.order(chosen)
        return chosen.gather(1, order), places.gather(1, order)


def _needs_care(largest: Array) -> Array:
    """Return the rows with equal values, whose order ``torch.topk`` leaves open, or with values that are no scores."""
    equal = (largest[:, 1:] == largest[:, :-1]).any(dim=1)
    return equal | ~(largest[:, 0] <= LARGEST_SCORE)
