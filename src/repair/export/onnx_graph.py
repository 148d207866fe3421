"""The ONNX graph of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import onnx
from onnx import helper

from repair._utils.version import __version__
from repair.export.candidates import from_candidates, from_scores
from repair.export.names import EMBEDDINGS, IDS, LOGITS, RANKED, SCORES
from repair.export.onnx_ops import TYPES, Graph, OnnxOps, Value
from repair.export.plan import Plan
from repair.export.ranked import adjusted_logits, ranked

__all__ = [
    "LARGEST_FILE",
    "Signature",
    "behind",
    "checked",
    "graph_of",
    "needed_nodes",
]

#: Protocol buffers cannot be larger than this.
LARGEST_FILE = 2_000_000_000


@dataclass(frozen=True)
class Signature:
    """What a graph takes and returns.

    Attributes
    ----------
    inputs : {"scores", "candidates"}
    outputs : {"ranking", "logits"}
    precision : {"float64", "float32"}
        Type of the corrections and of the outputs.
    dtype : {"float16", "float32", "float64"}
        Type of the scores that the graph takes.
    opset, ir_version : int
        Versions of the operators and of the file format.
    logarithm : bool, default False
        Whether the scores that the graph takes are probabilities, of which it takes the logarithm first.
    """

    inputs: str
    outputs: str
    precision: str
    dtype: str
    opset: int
    ir_version: int
    logarithm: bool = False


def graph_of(plan: Plan, signature: Signature) -> Any:
    """Return the model that computes a plan, as an ``onnx.ModelProto``."""
    graph = Graph(signature.opset)
    ops = OnnxOps(graph, plan.constants, signature.precision)
    results = _results(ops, plan, signature)
    for name, value in results.items():
        graph.nodes.append(helper.make_node("Identity", [value.name], [name], name=graph.name("node")))
    made = helper.make_graph(
        needed_nodes(graph.nodes, set(results)),
        "repair",
        [helper.make_tensor_value_info(*entry) for entry in _inputs(plan, signature)],
        _outputs(plan, signature, results),
        graph.initializers,
    )
    _drop_unused(made)
    return helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", signature.opset)],
        ir_version=signature.ir_version,
        producer_name="repair",
        producer_version=__version__,
    )


def _results(ops: OnnxOps, plan: Plan, signature: Signature) -> dict[str, Value]:
    scores = Value(ops.graph, SCORES, signature.dtype)
    scores = ops.cast(scores, "float32") if signature.dtype == "float16" else scores
    scores = ops.apply("log", scores) if signature.logarithm else scores
    embeddings = None if plan.embedding_width is None else Value(ops.graph, EMBEDDINGS, "float32")
    if signature.inputs == "candidates":
        candidates = from_candidates(ops, plan, Value(ops.graph, IDS, "int64"), scores, embeddings)
    else:
        candidates = from_scores(ops, plan, scores, embeddings)
    if signature.outputs == "logits":
        return {LOGITS: adjusted_logits(ops, plan, candidates)}
    return dict(zip(RANKED, ranked(ops, plan, candidates), strict=True))


def _inputs(plan: Plan, signature: Signature) -> list[tuple[str, int, list[str | int]]]:
    """Return name, type and shape of each input."""
    described: list[tuple[str, int, list[str | int]]] = []
    if signature.inputs == "candidates":
        described.append((IDS, TYPES["int64"], ["rows", "width"]))
    width: str | int = "width" if signature.inputs == "candidates" else plan.n_classes
    described.append((SCORES, TYPES[signature.dtype], ["rows", width]))
    if plan.embedding_width is not None:
        described.append((EMBEDDINGS, TYPES["float32"], ["rows", plan.embedding_width]))
    return described


def _outputs(plan: Plan, signature: Signature, results: dict[str, Value]) -> list[Any]:
    width: str | int = "ranked" if signature.inputs == "candidates" else plan.n_candidates
    shape = ["rows", plan.n_classes if signature.outputs == "logits" else width]
    return [helper.make_tensor_value_info(name, TYPES[value.dtype], shape) for name, value in results.items()]


def checked(model: Any) -> Any:
    """Return the model after onnx has checked it and inferred all shapes."""
    onnx.checker.check_model(model, full_check=True)
    return onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)


def needed_nodes(nodes: list[Any], names: set[str]) -> list[Any]:
    """Return the nodes that the named values depend on, in their order."""
    wanted, kept = set(names), []
    for node in reversed(nodes):
        if wanted & set(node.output):
            kept.append(node)
            wanted |= set(_reads(node))
    return kept[::-1]


def _drop_unused(graph: Any) -> None:
    used = {name for node in graph.node for name in _reads(node)}
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def _reads(node: Any) -> list[str]:
    """Return the names that a node reads, also inside its branches."""
    inner = [name for attribute in node.attribute for part in attribute.g.node for name in _reads(part)]
    return [*node.input, *inner]


def behind(model: Any, begins: Mapping[str, str], n_columns: Mapping[str, int | str], dtype: str) -> Any:
    """Return the part of a model that computes the ranking from the tensors at which the reranker begins.

    Parameters
    ----------
    model : onnx.ModelProto
    begins : mapping from str to str
        The tensor that holds each input of the reranker.
    n_columns : mapping from str to int or str
        The number of columns of each.
    dtype : str
        Type of the scores.
    """
    types = {IDS: TYPES["int64"], SCORES: TYPES[dtype], EMBEDDINGS: TYPES["float32"]}
    graph = model.graph
    outputs = [entry for entry in graph.output if entry.name in (*RANKED, LOGITS)]
    nodes = [node for node in graph.node if not set(node.output) & set(begins.values())]
    part = helper.make_graph(
        needed_nodes(nodes, {entry.name for entry in outputs}),
        "repair",
        [
            helper.make_tensor_value_info(tensor, types[name], ["rows", n_columns[name]])
            for name, tensor in begins.items()
        ],
        outputs,
        list(graph.initializer),
    )
    _drop_unused(part)
    return helper.make_model(part, opset_imports=model.opset_import, ir_version=model.ir_version)
