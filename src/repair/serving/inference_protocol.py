"""The Open Inference Protocol (version 2 of KServe's), with JSON tensors."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Lt, MaxLen
from pydantic import BaseModel, ConfigDict

from repair._utils.arrays import PAD_ID, AnyArray
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.serving.batch import NO_CANDIDATE, Answer, Batch, check_settings, check_size
from repair.serving.json_bodies import CLOSED, Dial, FirstError, ids_of_names, json_bytes, parse_json, with_null
from repair.serving.model_store import ServedModel
from repair.serving.options import ServerOptions

__all__ = ["InferAnswer", "InferRequest", "ModelMetadata", "batch_of_tensors", "metadata_of", "tensor_answer"]

Number = int | float
Entries = Annotated[list[Number | str | None], FirstError()]
NestedEntries = Annotated[list[Entries], FirstError()]
#: The types of scores and embeddings.  float16 has no name in JSON tensors of other servers, but the protocol has it.
FLOATS = {"FP16": np.float16, "FP32": np.float32, "FP64": np.float64}
IDS = {"INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64, "UINT8": np.uint8,
       "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64}  # fmt: skip
BYTES = "BYTES"
INPUTS = ("scores", "candidate_ids", "candidates", "candidate_scores", "embeddings")
OUTPUTS = ("ids", "names", "scores", "probabilities")


class Tensor(BaseModel):
    """An input: its numbers or texts in row-major order, flat or nested in rows."""

    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

    name: str
    shape: Annotated[list[Annotated[int, Ge(0), Lt(2**31)]], MaxLen(2)]
    datatype: str
    parameters: dict[str, Any] | None = None
    data: Entries | NestedEntries


class RequestedOutput(BaseModel):
    """An output to return."""

    model_config = ConfigDict(extra="ignore", strict=True)

    name: str


class InferParameters(BaseModel):
    """Parameters of a request.  Those of other servers are ignored."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    dial: Dial | None = None


class InferRequest(BaseModel):
    """Tensors of rows to rerank.

    Either `scores` [n, K], or `candidate_scores` [n, k] with `candidates` (BYTES) or `candidate_ids`, padded with
    "" or −1.  `embeddings` [n, d] if the model reads them.
    """

    model_config = CLOSED

    id: str | None = None
    parameters: InferParameters | None = None
    inputs: Annotated[list[Tensor], MaxLen(len(INPUTS))]
    outputs: Annotated[list[RequestedOutput], MaxLen(len(OUTPUTS))] | None = None


class OutputTensor(BaseModel):
    """An output in row-major order.  Padding has id −1, name "", probability 0 and a score of null."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Number | str | None]


class InferAnswer(BaseModel):
    """The candidates of each row, best first.  Warnings are lines of the parameter `warnings`."""

    model_name: str
    model_version: str
    id: str | None = None
    parameters: dict[str, str] | None = None
    outputs: list[OutputTensor]


class TensorMetadata(BaseModel):
    """Name, type and shape of a tensor.  −1 is any size."""

    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(BaseModel):
    """The tensors of a model."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


def metadata_of(model: ServedModel) -> ModelMetadata:
    """Return the tensors of a model.  `scores` and the `candidate_…` tensors are alternatives."""

    def tensor(name: str, datatype: str, width: int = -1) -> TensorMetadata:
        return TensorMetadata(name=name, datatype=datatype, shape=[-1, width])

    inputs = [tensor("scores", "FP64", model.n_classes)]
    if not model.needs_all_scores:
        inputs.append(tensor("candidate_ids", "INT32"))
        if model.class_names is not None:
            inputs.append(tensor("candidates", BYTES))
        inputs.append(tensor("candidate_scores", "FP64"))
    if model.embedding_width is not None:
        inputs.append(tensor("embeddings", "FP32", model.embedding_width))
    outputs = [tensor("ids", "INT32"), tensor("scores", "FP64"), tensor("probabilities", "FP64")]
    if model.class_names is not None:
        outputs.insert(1, tensor("names", BYTES))
    return ModelMetadata(name=model.name, versions=[model.version], platform="repair", inputs=inputs, outputs=outputs)


def batch_of_tensors(body: bytes, model: ServedModel, options: ServerOptions) -> tuple[Batch, InferRequest]:
    """Return the batch in the tensors of a request, and the request."""
    request = parse_json(body, InferRequest)
    _check_outputs(request, model)
    tensors = {tensor.name: tensor for tensor in request.inputs}
    unknown = next((name for name in tensors if name not in INPUTS), None)
    if unknown is not None:
        raise InputError(f"there is no input {unknown[:50]!r}; the inputs are {', '.join(INPUTS)}")
    if len(tensors) != len(request.inputs):
        raise InputError("two inputs have the same name; send each input once")
    embeddings = _numbers(tensors.pop("embeddings"), FLOATS, options) if "embeddings" in tensors else None
    parameters = request.parameters or InferParameters()
    check_settings(parameters.model_extra or ())
    dial = parameters.dial
    return Batch(_scores(tensors, model, options), embeddings, dial), request


def _check_outputs(request: InferRequest, model: ServedModel) -> None:
    known = [tensor.name for tensor in metadata_of(model).outputs]
    for output in request.outputs or ():
        if output.name not in known:
            raise InputError(f"there is no output {output.name[:50]!r}; the outputs are {', '.join(known)}")


def _scores(tensors: dict[str, Tensor], model: ServedModel, options: ServerOptions) -> AnyArray | Shortlist:
    given = sorted(tensors)
    if given == ["scores"]:
        return _numbers(tensors["scores"], FLOATS, options)
    if given not in (["candidate_ids", "candidate_scores"], ["candidate_scores", "candidates"]):
        raise InputError(
            "send either the input 'scores', or 'candidate_scores' with 'candidate_ids' or 'candidates' (names)"
        )
    scores = _numbers(tensors["candidate_scores"], FLOATS, options)
    if "candidates" in tensors:
        ids = _ids_of_names(tensors["candidates"], model, options)
    else:
        ids = _numbers(tensors["candidate_ids"], IDS, options)
    if ids.shape != scores.shape:
        raise InputError(
            f"the candidates have shape {list(ids.shape)}, but candidate_scores {list(scores.shape)}; "
            "send one score per candidate"
        )
    return Shortlist.from_candidates(ids, np.where(ids == PAD_ID, NO_CANDIDATE, scores), model.n_classes)


def _ids_of_names(tensor: Tensor, model: ServedModel, options: ServerOptions) -> AnyArray:
    """Return the ids of padded names."""
    if tensor.datatype != BYTES:
        raise InputError(f"{tensor.name} has datatype {tensor.datatype[:50]!r}; send {BYTES}")
    names = _flat(tensor, (str,), "texts", options)
    n_rows, width = tensor.shape
    ids = np.full((n_rows, width), PAD_ID, dtype=np.int32)
    rows = [names[row * width : (row + 1) * width] for row in range(n_rows)]
    for row, found in enumerate(ids_of_names([[name for name in names if name] for names in rows], model)):
        ids[row, [place for place, name in enumerate(rows[row]) if name]] = found
    return ids


def _numbers(tensor: Tensor, types: dict[str, Any], options: ServerOptions) -> AnyArray:
    """Return a tensor of numbers in its datatype.  A score of null means that the class is not a candidate."""
    if tensor.datatype not in types:
        raise InputError(f"{tensor.name} has datatype {tensor.datatype[:50]!r}; send one of {', '.join(types)}")
    may_lack = tensor.name in ("scores", "candidate_scores")
    allowed: tuple[type, ...] = (int,) if types is IDS else (int, float, type(None)) if may_lack else (int, float)
    values = _flat(tensor, allowed, "whole numbers" if types is IDS else "numbers", options)
    known = [NO_CANDIDATE if value is None else value for value in values]
    try:
        with np.errstate(over="raise"):
            array = np.array(known, types[tensor.datatype])
    except (OverflowError, FloatingPointError):
        raise InputError(f"{tensor.name} has a number too large for {tensor.datatype}; send FP64 or INT64") from None
    return array.reshape(tensor.shape)


def _flat(tensor: Tensor, allowed: tuple[type, ...], what: str, options: ServerOptions) -> list[Any]:
    """Return the checked entries of a tensor in row-major order."""
    if len(tensor.shape) != 2 or 0 in tensor.shape:
        raise InputError(f"{tensor.name} has shape {tensor.shape}; send at least one row, as [rows, columns]")
    n_rows, width = tensor.shape
    check_size(n_rows, width, options)
    rows: list[Any] = tensor.data
    if rows and isinstance(rows[0], list):
        if len(rows) != n_rows or any(len(row) != width for row in rows):
            raise InputError(f"{tensor.name} has other rows than its shape {tensor.shape} says")
        rows = [value for row in rows for value in row]
    if len(rows) != n_rows * width:
        raise InputError(f"{tensor.name} has {len(rows)} entries, but its shape {tensor.shape} needs {n_rows * width}")
    wrong = next((place for place, value in enumerate(rows) if not isinstance(value, allowed)), None)
    if wrong is not None:
        raise InputError(f"{tensor.name}: entry {wrong} is {str(rows[wrong])[:50]!r}; send {what}")
    return rows


def tensor_answer(answer: Answer, request: InferRequest) -> bytes:
    """Return an answer as JSON tensors."""
    ranking, model = answer.ranking, answer.model
    values: dict[str, Callable[[], AnyArray]] = {
        "ids": lambda: ranking.ids,
        "names": lambda: ranking.names,
        "scores": lambda: with_null(ranking.scores),
        "probabilities": lambda: ranking.probabilities,
    }
    types = {tensor.name: tensor.datatype for tensor in metadata_of(model).outputs}
    wanted = [output.name for output in request.outputs] if request.outputs else list(types)
    outputs = [
        {
            "name": name,
            "shape": list(ranking.ids.shape),
            "datatype": types[name],
            "data": values[name]().ravel().tolist(),
        }
        for name in wanted
    ]
    content: dict[str, Any] = {"model_name": model.name, "model_version": model.version, "outputs": outputs}
    if request.id is not None:
        content["id"] = request.id
    if answer.warnings:
        content["parameters"] = {"warnings": "\n".join(answer.warnings)}
    return json_bytes(content)
