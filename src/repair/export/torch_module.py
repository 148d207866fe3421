"""The fitted model as a PyTorch module."""

from __future__ import annotations

import torch

from repair.errors import InputError
from repair.export.candidates import Candidates, from_candidates, from_scores
from repair.export.ops import Array
from repair.export.plan import Plan
from repair.export.ranked import adjusted_logits, ranked
from repair.export.torch_ops import TorchOps

__all__ = ["TorchReranker"]

#: Types whose numbers are compared in float32, as in `Shortlist.from_scores`.
HALVES = (torch.float16, torch.bfloat16)
FLOATS = (torch.float32, torch.float64)


class TorchReranker(torch.nn.Module):
    """A fitted model as a module without trainable parameters.  Its arrays are buffers, so ``to(device)`` moves them.

    Parameters
    ----------
    plan : Plan
    inputs : {"scores", "candidates"}
    outputs : {"ranking", "logits"}
    precision : {"float64", "float32"}
    """

    def __init__(self, plan: Plan, inputs: str, outputs: str, precision: str) -> None:
        super().__init__()
        self.plan = plan
        self.inputs = inputs
        self.outputs = outputs
        self.precision = precision
        for name, array in plan.constants.items():
            self.register_buffer(name, torch.from_numpy(array.copy()))

    def forward(self, *inputs: Array) -> Array | tuple[Array, Array, Array]:
        """Rerank.

        Parameters
        ----------
        *inputs : Tensor
            ``scores`` (n, K), or ``ids`` (n, k) and ``scores`` (n, k), and then ``embeddings`` (n, d) if the model
            reads them.

        Returns
        -------
        Tensor or tuple of Tensor
            ``ids``, ``scores`` and ``probabilities`` (n, k), best first, or the adjusted logits (n, K).
        """
        ops = TorchOps({name: getattr(self, name) for name in self.plan.constants}, self.precision)
        candidates = self._candidates(ops, inputs)
        if self.outputs == "logits":
            return adjusted_logits(ops, self.plan, candidates)
        return ranked(ops, self.plan, candidates)

    def _candidates(self, ops: TorchOps, inputs: tuple[Array, ...]) -> Candidates:
        plan = self.plan
        expected = (["scores"] if self.inputs == "scores" else ["ids", "scores"]) + ["embeddings"] * (
            plan.embedding_width is not None
        )
        if len(inputs) != len(expected):
            raise InputError(f"this module takes {', '.join(expected)}, but got {len(inputs)} tensors")
        embeddings = inputs[-1] if plan.embedding_width is not None else None
        _check_width(embeddings, plan.embedding_width, "embeddings")
        if self.inputs == "candidates":
            return from_candidates(ops, plan, ops.cast(inputs[0], "int64"), inputs[1], embeddings)
        _check_width(inputs[0], plan.n_classes, "scores")
        return from_scores(ops, plan, as_floats(inputs[0]), embeddings)


def as_floats(scores: Array) -> Array:
    """Return scores as float32 or float64: half precision becomes float32, and whole numbers float64."""
    if scores.dtype in FLOATS:
        return scores
    return scores.to(torch.float32 if scores.dtype in HALVES else torch.float64)


def _check_width(values: Array | None, width: int | None, name: str) -> None:
    if values is not None and (values.ndim != 2 or values.shape[1] != width):
        raise InputError(f"{name} has shape {tuple(values.shape)}; expected (rows, {width})")
