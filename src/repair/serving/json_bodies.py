"""Requests and answers as JSON."""

import json
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from annotated_types import Ge, Lt
from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from repair._utils.arrays import PAD_ID, AnyArray
from repair.data.ranking import Ranking
from repair.errors import InputError
from repair.serving.batch import Answer, Batch, as_rectangle, in_model_order, shortlist_of
from repair.serving.errors import RequestError
from repair.serving.model_store import ServedModel
from repair.serving.options import ServerOptions

__all__ = [
    "Dial",
    "FirstError",
    "RerankAnswer",
    "RerankRequest",
    "batch_of_json",
    "ids_of_names",
    "json_answer",
    "json_bytes",
    "parse_json",
    "real_rows",
    "with_null",
]

#: Characters of an invalid value that a message repeats.
SHOWN = 50

Model = TypeVar("Model", bound=BaseModel)


class FirstError(FailFast):
    """Check a list up to its first error only, because a body may contain millions of them."""

    def __hash__(self) -> int:
        """Return a hash, which unions of types need before Python 3.14, and which pydantic's class lacks."""
        return hash(self.fail_fast)


ClassId = Annotated[int, Ge(PAD_ID), Lt(2**31)]
Names = Annotated[list[str], FirstError()]
NameRows = Annotated[list[Names], FirstError()]
IdRows = Annotated[list[Annotated[list[ClassId], FirstError()]], FirstError()]
ScoreRows = Annotated[list[Annotated[list[float | None], FirstError()]], FirstError()]
VectorRows = Annotated[list[Annotated[list[float], FirstError()]], FirstError()]
Dial = float | Literal["macro"]


class RerankRequest(BaseModel):
    """Rows to rerank: `scores` of all classes, or candidates (names or ids) with `candidate_scores`.

    A score of null means that the class is not a candidate.
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    scores: ScoreRows | None = Field(
        None, description="Scores of all classes for each row, in the model's class order or in that of `class_names`."
    )
    class_names: Names | None = Field(None, description="The class of each column of `scores`.")
    candidates: NameRows | None = Field(None, description="Class names of the candidates of each row.")
    candidate_ids: IdRows | None = Field(
        None, description="Class ids of the candidates of each row, from 0.  −1 is padding."
    )
    candidate_scores: ScoreRows | None = Field(
        None, description="Scores of the candidates, aligned with `candidates` or `candidate_ids`."
    )
    embeddings: VectorRows | None = Field(
        None, description="One vector per row, for models that were fitted with embeddings."
    )
    dial: Dial | None = Field(
        None, description="Trade-off between frequent and rare classes.  By default that of the model."
    )


class ModelVersion(BaseModel):
    """The model that gave an answer."""

    name: str
    version: str = Field(description="The first 16 digits of the SHA-256 of the model file.")


class RerankAnswer(BaseModel):
    """The candidates of each row, best first."""

    ids: list[list[int]]
    names: list[list[str]] | None = Field(description="Class names, or null if the model has no names.")
    scores: list[list[float | None]] = Field(description="Final scores.")
    probabilities: list[list[float]] = Field(
        description="Probability of each candidate, given that the true class is among them."
    )
    warnings: list[str] = Field(description="What looks wrong with these rows, such as scores of another type.")
    model: ModelVersion


def parse_json(body: bytes, kind: type[Model]) -> Model:
    """Return the content of a body, or raise an error that names the first field that is wrong."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        problem = first["msg"]
        if first["type"] == "json_invalid":
            raise RequestError(400, f"the body is not JSON ({problem.removeprefix('Invalid JSON: ')})") from None
        if first["type"] == "extra_forbidden":
            fields = ", ".join(kind.model_fields)
            raise InputError(f"there is no field {_place(first['loc'])!r}; the fields are {fields}") from None
        given = first["input"]
        shown = f", got {_short(given)}" if not isinstance(given, dict | list) else ""
        raise InputError(f"{_place(first['loc'])}: {problem[:1].lower()}{problem[1:]}{shown}") from None


def _place(location: tuple[int | str, ...]) -> str:
    """Return where a value is, such as ``scores[3][0]``."""
    place = ""
    for step in location:
        place += f"[{step}]" if isinstance(step, int) else f".{step[:SHOWN]}" if place else step[:SHOWN]
    return place or "the body"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def batch_of_json(body: bytes, model: ServedModel, options: ServerOptions) -> Batch:
    """Return the batch in a JSON body."""
    request = parse_json(body, RerankRequest)
    if (request.scores is None) == (request.candidate_scores is None):
        raise InputError("send either 'scores' of all classes, or candidates with 'candidate_scores'")
    if request.scores is not None:
        if request.candidates is not None or request.candidate_ids is not None:
            raise InputError("'scores' are of all classes; send the scores of candidates as 'candidate_scores'")
        scores = as_rectangle(request.scores, "scores", options)
        rows: Any = in_model_order(scores, request.class_names, model)
    else:
        assert request.candidate_scores is not None
        if request.class_names is not None:
            raise InputError("'class_names' are the columns of 'scores'; send the names of candidates as 'candidates'")
        rows = shortlist_of(_ids(request, model), request.candidate_scores, model, options)
    embeddings = None if request.embeddings is None else as_rectangle(request.embeddings, "embeddings", options)
    return Batch(rows, embeddings, request.dial)


def _ids(request: RerankRequest, model: ServedModel) -> list[list[int]]:
    if (request.candidates is None) == (request.candidate_ids is None):
        raise InputError("send the candidates either as names ('candidates') or as ids ('candidate_ids')")
    if request.candidate_ids is not None:
        return request.candidate_ids
    assert request.candidates is not None
    return ids_of_names(request.candidates, model)


def ids_of_names(rows: list[list[str]], model: ServedModel) -> list[list[int]]:
    """Return the ids of candidates given by name, or raise an error that names the row of an unknown one."""
    ids = []
    for row, names in enumerate(rows):
        try:
            ids.append(model.reranker.state.correction.table.ids_of(names))
        except InputError as error:
            raise error.within(f"row {row}") from None
    return ids


def json_answer(answer: Answer) -> bytes:
    """Return an answer as JSON.  Numbers have as many digits as are needed to read the same bits."""
    ranking = answer.ranking
    names = None if ranking.class_names is None else real_rows(ranking, ranking.names)
    return json_bytes(
        {
            "ids": real_rows(ranking, ranking.ids),
            "names": names,
            "scores": real_rows(ranking, with_null(ranking.scores)),
            "probabilities": real_rows(ranking, ranking.probabilities),
            "warnings": list(answer.warnings),
            "model": {"name": answer.model.name, "version": answer.model.version},
        }
    )


def real_rows(ranking: Ranking, values: AnyArray) -> list[list[Any]]:
    """Return the values of each row without those of padding."""
    rows: list[list[Any]] = values.tolist()
    lengths = (ranking.ids != PAD_ID).sum(axis=1).tolist()
    return [row[:length] for row, length in zip(rows, lengths, strict=True)]


def with_null(scores: AnyArray) -> AnyArray:
    """Return scores in which None replaces what JSON does not have."""
    finite = np.isfinite(scores)
    if finite.all():
        return scores
    objects: AnyArray = scores.astype(object)
    objects[~finite] = None
    return objects


def json_bytes(value: Any) -> bytes:
    """Return plain data as compact JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
