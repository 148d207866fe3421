"""``to_onnx``: the fitted model as an ONNX graph."""

from __future__ import annotations

import json
from dataclasses import asdict
from os import PathLike
from typing import Any

from repair._utils.atomic_write import write_atomically
from repair._utils.version import __version__
from repair.errors import InputError, MissingExtraError
from repair.export.golden import as_text, golden_batch
from repair.export.names import ABOUT, GOLDEN, INPUTS, OUTPUTS, PRECISIONS
from repair.export.plan import Plan, plan_of, with_float32
from repair.rerankers.base import ShortlistReranker
from repair.validation.checks import check_choice, check_count

__all__ = ["to_onnx"]

DTYPES = ("float32", "float64", "float16")
#: Versions by default: onnxruntime 1.14 of 2023 reads them.
OPSET, IR_VERSION = 18, 8


def to_onnx(
    model: ShortlistReranker,
    path: str | PathLike[str] | None = None,
    *,
    inputs: str = "scores",
    outputs: str = "ranking",
    dtype: str = "float32",
    precision: str = "float64",
    opset: int = OPSET,
    append_to: Any = None,
    output: str | None = None,
    output_is: str | None = None,
    embeddings_output: str | None = None,
    **settings: Any,
) -> Any:
    """Return the fitted model as an ``onnx.ModelProto``, which gives the same order as ``model.rerank``.

    The graph consists of standard operators.  The file contains a golden batch, with which
    `verify_onnx` checks it in onnxruntime.

    Parameters
    ----------
    model : Reranker or baseline
        A fitted model.
    path : path, optional
        File to write, completely or not at all.
    inputs : {"scores", "candidates"}, default "scores"
        What the graph takes: ``scores`` (n, K) of all classes, or ``ids`` (n, k) of candidates, −1 on
        padding, and their ``scores`` (n, k).  If the model reads embeddings, it also takes ``embeddings``
        (n, d).
    outputs : {"ranking", "logits"}, default "ranking"
        What it returns: ``reranked_ids``, ``reranked_scores`` and ``reranked_probabilities`` (n, k), best
        first, or ``reranked_logits`` (n, K), −Inf for classes that are no candidates.
    dtype : {"float32", "float64", "float16"}, default "float32"
        Type of the scores that the graph takes.
    precision : {"float64", "float32"}, default "float64"
        Type of the corrections.  With float32, candidates whose scores differ by less than about 1e-5 can
        come in another order.
    opset : int, default 18
        Version of the operators, at least 13.
    append_to : path or onnx.ModelProto, optional
        A classifier whose scores the graph reads, so that one file contains both.  Its opset and the type
        of its scores replace `opset` and `dtype`.
    output : str, optional
        Name of its output with the scores.  By default the only one that fits.
    output_is : {"scores", "probabilities"}, optional
        What that output holds.  Of probabilities the logarithm is taken first.  By default an output
        that seems to hold probabilities is refused.
    embeddings_output : str, optional
        Name of its output with the embeddings.  By default they are another input.
    **settings
        ``dial``, ``strength``, ``target_prior`` and ``class_costs``, as in ``rerank``.  They are fixed in
        the graph.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from repair import Reranker
    >>> from repair.export import to_onnx
    >>> scores, labels = [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [0, 1, 1, 1]
    >>> model = Reranker("classwise", n_candidates=2, lambda_a=1e-3).fit(scores, labels)
    >>> graph = to_onnx(model, "model.onnx")  # doctest: +SKIP
    """
    _check_choices(inputs, outputs, dtype, precision, output_is)
    if append_to is None and (output, output_is, embeddings_output) != (None, None, None):
        raise InputError("output, output_is and embeddings_output describe a classifier; pass append_to=… too")
    if append_to is not None and inputs == "candidates":
        raise InputError("a classifier returns the scores of all classes; leave inputs='candidates' out")
    plan = plan_of(model, **settings)
    if inputs == "candidates":
        plan.check_reads_candidates()
    plan = with_float32(plan) if precision == "float32" else plan
    try:
        from repair.export.onnx_append import OLDEST_OPSET, appended, read_classifier, score_output, signature_for
        from repair.export.onnx_graph import LARGEST_FILE, Signature, checked, graph_of
    except ImportError:
        raise MissingExtraError("to_onnx needs onnx; pip install 'repair-rerank[onnx]'") from None
    check_count(opset, "opset", low=OLDEST_OPSET)
    _check_size(plan, LARGEST_FILE)
    signature = Signature(inputs, outputs, precision, dtype, opset, IR_VERSION)
    if append_to is None:
        made = graph_of(plan, signature)
        begins = {entry.name: entry.name for entry in made.graph.input}
    else:
        classifier = read_classifier(append_to)
        name, found, logarithm = score_output(classifier, output, plan.n_classes, output_is)
        signature = signature_for(classifier, signature, found, logarithm=logarithm)
        made, begins = appended(classifier, plan, signature, name, embeddings_output)
    _describe(made, model, plan, signature, begins, settings)
    made = checked(made)
    if path is not None:
        write_atomically(path, made.SerializeToString())
    return made


def _check_choices(inputs: str, outputs: str, dtype: str, precision: str, output_is: str | None) -> None:
    check_choice(inputs, "inputs", INPUTS)
    check_choice(outputs, "outputs", OUTPUTS)
    check_choice(dtype, "dtype", DTYPES)
    check_choice(precision, "precision", PRECISIONS)
    if output_is is not None:
        check_choice(output_is, "output_is", ("scores", "probabilities"))


def _check_size(plan: Plan, most: int) -> None:
    size = sum(array.nbytes for array in plan.constants.values())
    if size > most:
        largest = max(plan.constants, key=lambda name: plan.constants[name].nbytes)
        raise InputError(
            f"the arrays take {size / 1e9:.1f} GB (most of it {largest!r}), but an ONNX file cannot be larger than "
            "2 GB; leave the term out of terms, or fit with fewer reference rows"
        )


def _describe(
    made: Any, model: ShortlistReranker, plan: Plan, signature: Any, begins: dict[str, str], settings: dict[str, Any]
) -> None:
    """Add the metadata: what the file was made of, and the golden batch."""
    about = {
        "version": __version__,
        "mode": plan.mode,
        "terms": [term.name for term in plan.terms],
        "signature": asdict(signature),
        "begins": begins,
        "embedding_width": plan.embedding_width,
        "n_classes": plan.n_classes,
    }
    batch = golden_batch(
        model, plan, settings, inputs=signature.inputs, dtype=signature.dtype, logarithm=signature.logarithm
    )
    for key, value in ((ABOUT, json.dumps(about)), (GOLDEN, as_text(batch))):
        made.metadata_props.add(key=key, value=value)
    if plan.class_names is not None:
        made.metadata_props.add(key="repair.class_names", value=json.dumps(plan.class_names, ensure_ascii=False))
