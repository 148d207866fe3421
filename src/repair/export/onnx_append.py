"""Joining the graph behind a user's own classifier."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import onnx
from onnx import compose, helper, version_converter

from repair.errors import InputError, Remedy
from repair.export.names import EMBEDDINGS, LOGITS, RANKED, SCORES
from repair.export.onnx_graph import Signature, graph_of
from repair.export.onnx_ops import PREFIX, TYPES
from repair.export.plan import Plan

__all__ = ["MEANINGS", "appended", "read_classifier", "score_output", "signature_for"]

MEANINGS = ("scores", "probabilities")
#: Oldest versions that the graph can be built for.
OLDEST_OPSET, OLDEST_IR = 13, 7
#: Operators that only hand a tensor on.
PASSING = {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Dropout"}
#: Operators whose results are probabilities.
SHARES = {"Softmax", "Sigmoid", "Normalizer"}
#: Results of classifiers of the domain ai.onnx.ml that are probabilities.
SHARE_TRANSFORMS = {b"SOFTMAX", b"LOGISTIC", b"SOFTMAX_ZERO", b"PROBIT"}


def read_classifier(source: Any) -> Any:
    """Return a user's model, from a file or as it is, in versions that the graph can be built for."""
    if isinstance(source, str | PathLike):
        try:
            source = onnx.load(fspath(source))
        except OSError:
            raise
        except Exception as error:  # protobuf's own errors have no common base
            raise InputError(f"{fspath(source)} is not an ONNX file ({error})") from None
    if not isinstance(source, onnx.ModelProto):
        raise InputError(f"the classifier is {type(source).__name__}; pass a path or an onnx.ModelProto")
    classifier = onnx.ModelProto()
    classifier.CopyFrom(source)
    if _opset_of(classifier) < OLDEST_OPSET:
        try:
            classifier = version_converter.convert_version(classifier, OLDEST_OPSET)
        except Exception as error:  # the converter raises RuntimeError, and others
            raise InputError(
                f"the classifier uses opset {_opset_of(source)}, and onnx cannot convert it to {OLDEST_OPSET} "
                f"({error}); export it again with opset {OLDEST_OPSET} or newer"
            ) from None
    classifier.ir_version = max(classifier.ir_version, OLDEST_IR)
    names = {name for node in classifier.graph.node for name in [*node.input, *node.output]}
    if any(name.startswith(PREFIX) for name in names) or {*RANKED, LOGITS} & names:
        raise InputError("the classifier contains a reranker already; append to the classifier itself")
    return classifier


def score_output(classifier: Any, name: str | None, n_classes: int, meaning: str | None) -> tuple[str, str, bool]:
    """Return the name of the output that holds the scores, its type, and whether it holds probabilities.

    Parameters
    ----------
    classifier : onnx.ModelProto
    name : str or None
        Name of the output.  By default the only one that can be the scores.
    n_classes : int
    meaning : {"scores", "probabilities"} or None
        What the output holds.  By default it is found out, and probabilities are refused.
    """
    outputs = {output.name: output for output in classifier.graph.output}
    if name is None:
        fitting = [other for other, output in outputs.items() if not _why_not(output, n_classes)]
        if len(fitting) != 1:
            raise _no_single_output(outputs, fitting, n_classes)
        name = fitting[0]
    if name not in outputs:
        raise InputError(f"the classifier has no output {name!r}; its outputs are {', '.join(outputs)}")
    reason = _why_not(outputs[name], n_classes)
    if reason:
        raise InputError(reason)
    if meaning is None and _holds_shares(classifier, name):
        raise InputError(
            f"the output {name!r} seems to hold probabilities, but a reranker needs logits or log-probabilities",
            Remedy(
                "say-probabilities",
                "export the classifier's logits (skl2onnx: options={id(last_step): {'raw_scores': True}}), or pass "
                "output_is='probabilities' to take the logarithm first, as for the calibration rows, or "
                "output_is='scores' if they are scores",
            ),
        )
    return name, _type_of(outputs[name]), meaning == "probabilities"


def _no_single_output(outputs: dict[str, Any], fitting: list[str], n_classes: int) -> InputError:
    if fitting:
        names = ", ".join(fitting)
        return InputError(
            f"the classifier has {len(fitting)} outputs that can be the scores of {n_classes} classes",
            Remedy("name-output", f"pass output=…, one of {names}", names),
        )
    reasons = "; ".join(_why_not(output, n_classes) for output in outputs.values())
    return InputError(f"no output of the classifier can be the scores of {n_classes} classes: {reasons}")


def signature_for(classifier: Any, signature: Signature, dtype: str, *, logarithm: bool) -> Signature:
    """Return the signature with the types and versions of a classifier."""
    return replace(
        signature,
        dtype=dtype,
        logarithm=logarithm,
        opset=_opset_of(classifier),
        ir_version=classifier.ir_version,
    )


def appended(
    classifier: Any, plan: Plan, signature: Signature, output: str, embeddings: str | None
) -> tuple[Any, dict[str, str]]:
    """Return the joined model, and the names of the tensors at which the reranker begins.

    Parameters
    ----------
    classifier : onnx.ModelProto
    plan : Plan
    signature : Signature
    output : str
        The classifier's output with the scores.
    embeddings : str or None
        Its output with the embeddings.  By default embeddings are another input of the joined model.
    """
    ours = graph_of(plan, signature)
    joints = {SCORES: output}
    if embeddings is not None:
        joints[EMBEDDINGS] = _float32_embeddings(classifier, embeddings, plan)
    given = {entry.name for entry in classifier.graph.input}
    free = {EMBEDDINGS} & {entry.name for entry in ours.graph.input} - set(joints)
    if free & given:
        raise InputError(f"the classifier has an input {EMBEDDINGS!r}, which is also one of the reranker; rename it")
    # Keep the outputs of the classifier, also those that the reranker reads.
    kept = [entry.name for entry in classifier.graph.output] + [entry.name for entry in ours.graph.output]
    joined = compose.merge_models(
        classifier, ours, io_map=[(theirs, name) for name, theirs in joints.items()], outputs=kept
    )
    joined.producer_name, joined.producer_version = classifier.producer_name, classifier.producer_version
    return joined, {name: joints.get(name, name) for name in (entry.name for entry in ours.graph.input)}


def _float32_embeddings(classifier: Any, name: str, plan: Plan) -> str:
    """Return the name of the embeddings in float32, which are cast if need be."""
    outputs = {output.name: output for output in classifier.graph.output}
    if plan.embedding_width is None:
        raise InputError("this model reads no embeddings; leave embeddings_output out")
    if name not in outputs:
        raise InputError(f"the classifier has no output {name!r}; its outputs are {', '.join(outputs)}")
    reason = _why_not(outputs[name], plan.embedding_width)
    if reason:
        raise InputError(reason)
    if _type_of(outputs[name]) == "float32":
        return name
    cast = f"{name}_float32"
    classifier.graph.node.append(helper.make_node("Cast", [name], [cast], to=TYPES["float32"]))
    shape = ["rows", plan.embedding_width]
    classifier.graph.output.append(helper.make_tensor_value_info(cast, TYPES["float32"], shape))
    return cast


def _opset_of(model: Any) -> int:
    return next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), OLDEST_OPSET)


def _type_of(output: Any) -> str:
    codes = {code: name for name, code in TYPES.items()}
    return codes.get(output.type.tensor_type.elem_type, "another type")


def _why_not(output: Any, width: int) -> str:
    """Return the reason why an output cannot be an array with `width` columns, or ''."""
    if not output.type.HasField("tensor_type"):
        return (
            f"the output {output.name!r} is a list of mappings and no array; export the classifier without ZipMap "
            "(skl2onnx: options={id(last_step): {'zipmap': False}})"
        )
    if _type_of(output) not in ("float16", "float32", "float64"):
        return f"the output {output.name!r} holds no floating-point numbers"
    dimensions = output.type.tensor_type.shape.dim
    if output.type.tensor_type.HasField("shape") and len(dimensions) != 2:
        return f"the output {output.name!r} has {len(dimensions)} dimensions, not 2"
    if dimensions and dimensions[1].HasField("dim_value") and dimensions[1].dim_value != width:
        return f"the output {output.name!r} has {dimensions[1].dim_value} columns, but the model needs {width}"
    return ""


def _holds_shares(classifier: Any, name: str) -> bool:
    """Return whether an output holds probabilities, as far as its operator or its name tell."""
    makers = {made: node for node in classifier.graph.node for made in node.output}
    at = name
    while at in makers and makers[at].op_type in PASSING:
        at = makers[at].input[0]
    node = makers.get(at)
    if node is not None and node.op_type in SHARES:
        return True
    transforms = [] if node is None else [entry.s for entry in node.attribute if entry.name == "post_transform"]
    if transforms and node is not None and node.op_type != "TreeEnsembleClassifier":
        return transforms[0] in SHARE_TRANSFORMS
    return "prob" in name.lower() or transforms[:1] in [[one] for one in SHARE_TRANSFORMS]
