"""The operations as nodes of an ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from repair._utils.arrays import AnyArray
from repair.export.ops import LARGEST_SCORE, Array

__all__ = ["PREFIX", "TYPES", "Graph", "OnnxOps", "Value"]

TYPES = {
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
}
LOWEST = {"float64": -1e300, "float32": -3e38}
NOTHING = float("-inf")
#: In front of all names inside the graph, because the graph may become a part of another one.
PREFIX = "repair_"
#: From this version on, ReduceL1 takes its axes as an input.
AXES_ARE_INPUTS = 18


@dataclass
class Graph:
    """The nodes and constants of a graph that is being built.

    Attributes
    ----------
    opset : int
        Version of the standard operators.
    nodes : list of NodeProto
    constants : dict
        The name of each constant by its type and value, so equal constants are kept once.
    initializers : list of TensorProto
    number : int
        Number of names given so far.
    """

    opset: int
    nodes: list[Any] = field(default_factory=list)
    constants: dict[Any, str] = field(default_factory=dict)
    initializers: list[Any] = field(default_factory=list)
    number: int = 0

    def name(self, stem: str) -> str:
        """Return a new name."""
        self.number += 1
        return f"{PREFIX}{stem}_{self.number}"

    def add(self, kind: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> list[str]:
        """Add a node and return the names of its outputs."""
        names = [self.name(kind) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=self.name("node"), **attributes))
        return names

    def array(self, array: AnyArray, name: str | None = None) -> str:
        """Add a constant and return its name."""
        key = (array.dtype.name, array.shape, array.tobytes()) if name is None else name
        if key not in self.constants:
            self.constants[key] = self.name("constant") if name is None else f"{PREFIX}{name}"
            self.initializers.append(numpy_helper.from_array(array, self.constants[key]))
        return self.constants[key]


@dataclass(frozen=True, eq=False)
class Value:
    """A value in a graph, with its type.

    Attributes
    ----------
    graph : Graph
    name : str
    dtype : str
    """

    graph: Graph
    name: str
    dtype: str

    def _with(self, kind: str, other: Array, dtype: str | None = None, *, swapped: bool = False) -> Value:
        right = self.like(other)
        assert right.dtype == self.dtype, f"{kind} of {self.dtype} and {right.dtype}"
        names = [right.name, self.name] if swapped else [self.name, right.name]
        return Value(self.graph, self.graph.add(kind, names)[0], dtype or self.dtype)

    def like(self, other: Array) -> Value:
        """Return a number as a value of the same type."""
        if isinstance(other, Value):
            return other
        return Value(self.graph, self.graph.array(np.array(other, dtype=self.dtype)), self.dtype)

    def __add__(self, other: Array) -> Value:
        return self._with("Add", other)

    def __sub__(self, other: Array) -> Value:
        return self._with("Sub", other)

    def __mul__(self, other: Array) -> Value:
        return self._with("Mul", other)

    def __truediv__(self, other: Array) -> Value:
        return self._with("Div", other)

    def __lt__(self, other: Array) -> Value:
        return self._with("Less", other, "bool")

    def __le__(self, other: Array) -> Value:
        return self._with("LessOrEqual", other, "bool")

    def __gt__(self, other: Array) -> Value:
        return self._with("Greater", other, "bool")

    def __ge__(self, other: Array) -> Value:
        return self._with("GreaterOrEqual", other, "bool")

    def __and__(self, other: Array) -> Value:
        return self._with("And", other)

    def __or__(self, other: Array) -> Value:
        return self._with("Or", other)

    def __invert__(self) -> Value:
        return Value(self.graph, self.graph.add("Not", [self.name])[0], "bool")


class OnnxOps:
    """The operations on values of a graph.  ``repair.export.ops.Ops`` describes them.

    Parameters
    ----------
    graph : Graph
    constants : mapping from str to ndarray
    precision : {"float64", "float32"}
        Type of the corrections.
    """

    def __init__(self, graph: Graph, constants: Mapping[str, AnyArray], precision: str) -> None:
        self.graph = graph
        self.constants = constants
        self.precision = precision
        self.lowest = LOWEST[precision]

    def constant(self, name: str) -> Value:
        array = self.constants[name]
        return Value(self.graph, self.graph.array(array, name), array.dtype.name)

    def cast(self, values: Value, dtype: str) -> Value:
        wanted = self.precision if dtype == "work" else dtype
        if wanted == values.dtype:
            return values
        return Value(self.graph, self.graph.add("Cast", [values.name], to=TYPES[wanted])[0], wanted)

    def cast_like(self, values: Value, other: Value) -> Value:
        return self.cast(values, other.dtype)

    def where(self, condition: Value, then: Value, otherwise: Array) -> Value:
        return self._new("Where", [condition, then, then.like(otherwise)], then.dtype)

    def equal(self, left: Value, right: Array) -> Value:
        return self._new("Equal", [left, left.like(right)], "bool")

    def is_nan(self, values: Value) -> Value:
        return self._new("IsNaN", [values], "bool")

    def apply(self, function: str, values: Value) -> Value:
        return self._new(function.capitalize(), [values], values.dtype)

    def softmax(self, values: Value) -> Value:
        return self._new("Softmax", [values], values.dtype, axis=1)

    def take(self, table: Value, places: Value, axis: int = 0) -> Value:
        return self._new("Gather", [table, places], table.dtype, axis=axis)

    def along(self, values: Value, places: Value) -> Value:
        return self._new("GatherElements", [values, places], values.dtype, axis=1)

    def order(self, values: Value) -> Value:
        return self._sorted(values, self._width(values), largest=1)[1]

    def ascending(self, values: Value) -> Value:
        return self._sorted(values, self._width(values), largest=0)[1]

    def row_sum(self, values: Value) -> Value:
        sums = self._new("CumSum", [values, self._whole(-1)], values.dtype)
        return self.columns(sums, -1, None)

    def total(self, values: Value, axis: int = -1) -> Value:
        return self._new("ReduceSum", [values, self._whole([axis])], values.dtype, keepdims=1)

    def matmul(self, left: Value, right: Value) -> Value:
        return self._new("MatMul", [left, right], left.dtype)

    def transposed(self, matrix: Value) -> Value:
        return self._new("Transpose", [matrix], matrix.dtype, perm=[1, 0])

    def positions(self, like: Value) -> Value:
        places = self._new("CumSum", [like * 0 + 1, self._whole(1)], like.dtype)
        return places - 1

    def columns(self, values: Value, start: int, stop: int | None) -> Value:
        end = np.iinfo(np.int64).max if stop is None else stop
        limits = [self._whole([start]), self._whole([end]), self._whole([-1])]
        return self._new("Slice", [values, *limits], values.dtype)

    def expanded(self, values: Value, axis: int) -> Value:
        return self._new("Unsqueeze", [values, self._whole([axis])], values.dtype)

    def squeezed(self, values: Value, axis: int = -1) -> Value:
        return self._new("Squeeze", [values, self._whole([axis])], values.dtype)

    def joined(self, parts: list[Value]) -> Value:
        return self._new("Concat", parts, parts[0].dtype, axis=-1)

    def spread(self, values: Value, places: Value, width: int, fill: float) -> Value:
        rows = self._new("Shape", [values], "int64")
        shape = self._new("Concat", [self.columns(rows, 0, 1), self._whole([width])], "int64", axis=0)
        empty = self._new("Expand", [values.like(fill), shape], values.dtype)
        return self._new("ScatterElements", [empty, places, values], values.dtype, axis=1)

    def top(self, values: Value, number: int) -> tuple[Value, Value]:
        # TopK leaves open what it does with NaN.  Cleaning all rows would take as long as TopK itself, so one cheap
        # sum finds out whether there is anything to clean: it is NaN or very large if a number is.
        small = self._absolute_sum(values) <= LARGEST_SCORE
        odd = self._new("ReduceSum", [self.cast(~small, "int64")], "int64", keepdims=0) > 0
        branches = {}
        for clean, branch in ((True, "then_branch"), (False, "else_branch")):
            part = OnnxOps(Graph(self.graph.opset, number=self.graph.number), {}, self.precision)
            inside = Value(part.graph, values.name, values.dtype)
            if clean:
                inside = part.where(part.apply("abs", inside) <= LARGEST_SCORE, inside, NOTHING)
            outputs = part._sorted(inside, part._whole([number]), largest=1)
            branches[branch] = part._as_branch(branch, outputs)
            self.graph.number = part.graph.number
        largest, places = self.graph.add("If", [odd.name], 2, **branches)
        return Value(self.graph, largest, values.dtype), Value(self.graph, places, "int64")

    def _as_branch(self, name: str, outputs: tuple[Value, Value]) -> Any:
        shape = [self.graph.name("rows"), self.graph.name("width")]
        described = [helper.make_tensor_value_info(value.name, TYPES[value.dtype], shape) for value in outputs]
        return helper.make_graph(self.graph.nodes, name, [], described, self.graph.initializers)

    def _absolute_sum(self, values: Value) -> Value:
        if self.graph.opset >= AXES_ARE_INPUTS:
            return self._new("ReduceL1", [values, self._whole([1])], values.dtype)
        return self._new("ReduceL1", [values], values.dtype, axes=[1])

    def _sorted(self, values: Value, number: Value, largest: int) -> tuple[Value, Value]:
        """TopK promises that equal values come in the order of their places."""
        names = self.graph.add("TopK", [values.name, number.name], 2, axis=1, largest=largest, sorted=1)
        return Value(self.graph, names[0], values.dtype), Value(self.graph, names[1], "int64")

    def _width(self, values: Value) -> Value:
        return self.columns(self._new("Shape", [values], "int64"), 1, 2)

    def _whole(self, numbers: int | list[int]) -> Value:
        return Value(self.graph, self.graph.array(np.array(numbers, dtype=np.int64)), "int64")

    def _new(self, kind: str, inputs: list[Value], dtype: str, **attributes: Any) -> Value:
        (name,) = self.graph.add(kind, [value.name for value in inputs], **attributes)
        return Value(self.graph, name, dtype)
