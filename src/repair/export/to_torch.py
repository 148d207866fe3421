"""``to_torch``: the fitted model as a PyTorch module."""

from __future__ import annotations

from typing import Any

from repair.errors import MissingExtraError
from repair.export.names import INPUTS, OUTPUTS, PRECISIONS
from repair.export.plan import plan_of, with_float32
from repair.rerankers.base import ShortlistReranker
from repair.validation.checks import check_choice

__all__ = ["to_torch"]


def to_torch(
    model: ShortlistReranker,
    *,
    inputs: str = "scores",
    outputs: str = "ranking",
    precision: str = "float64",
    **settings: Any,
) -> Any:
    """Return the fitted model as a ``torch.nn.Module``, which gives the same order as ``model.rerank``.

    Parameters
    ----------
    model : Reranker or baseline
        A fitted model.
    inputs : {"scores", "candidates"}, default "scores"
        What ``forward`` takes: the scores (n, K) of all classes, or the ids (n, k) of candidates, −1 on
        padding, and their scores (n, k).  The embeddings (n, d) come last, if the model reads them.
    outputs : {"ranking", "logits"}, default "ranking"
        What ``forward`` returns: ids, scores and probabilities (n, k) of the candidates, best first, or
        the corrected scores (n, K), −Inf for classes that are no candidates.
    precision : {"float64", "float32"}, default "float64"
        Type of the corrections.  With float32, candidates whose scores differ by less than about 1e-5 can
        come in another order.
    **settings
        ``dial``, ``strength``, ``target_prior`` and ``class_costs``, as in ``rerank``.  They are fixed in
        the module.

    Returns
    -------
    torch.nn.Module

    Examples
    --------
    >>> from repair import Reranker
    >>> from repair.export import to_torch
    >>> scores, labels = [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [0, 1, 1, 1]
    >>> model = Reranker("classwise", n_candidates=2, lambda_a=1e-3).fit(scores, labels)
    >>> import torch  # doctest: +SKIP
    >>> to_torch(model)(torch.tensor(scores))[0].tolist() == model.rerank(scores).ids.tolist()  # doctest: +SKIP
    True
    """
    for value, name, choices in (
        (inputs, "inputs", INPUTS),
        (outputs, "outputs", OUTPUTS),
        (precision, "precision", PRECISIONS),
    ):
        check_choice(value, name, choices)
    plan = plan_of(model, **settings)
    if inputs == "candidates":
        plan.check_reads_candidates()
    try:
        from repair.export.torch_module import TorchReranker
    except ImportError:
        raise MissingExtraError("to_torch needs PyTorch; pip install 'repair-rerank[torch]'") from None
    return TorchReranker(with_float32(plan) if precision == "float32" else plan, inputs, outputs, precision)
