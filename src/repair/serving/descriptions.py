"""What the server says about itself: the model, its health, and the OpenAPI parts that FastAPI cannot derive."""

from typing import Any

from pydantic import BaseModel, Field

from repair.serving.arrow_bodies import ARROW
from repair.serving.inference_protocol import InferAnswer
from repair.serving.json_bodies import RerankAnswer
from repair.serving.model_store import ServedModel
from repair.serving.options import ServerOptions

__all__ = ["ANSWERS", "INFER_ANSWERS", "UNKNOWN_MODEL", "Health", "ModelDescription", "describe", "request_body"]


class ErrorBody(BaseModel):
    """An error: what is wrong, where, and what to do about it."""

    error: str


class Limits(BaseModel):
    """The limits of a request."""

    max_rows: int
    max_bytes: int


class ModelDescription(BaseModel):
    """The model that is being served, and what it needs."""

    name: str
    version: str = Field(description="The first 16 digits of the SHA-256 of the model file.")
    loaded_at: str
    mode: str
    n_classes: int
    n_candidates: int = Field(description="Number of candidates that are returned per row.")
    class_names: list[str] | None = Field(description="The classes in the order of the scores.")
    needs_all_scores: bool = Field(description="Whether rows need the scores of all classes.")
    embedding_width: int | None = Field(description="Width of the embeddings that rows need, or null.")
    limits: Limits


class Health(BaseModel):
    """Whether the server works.  Send requests only while it is ready."""

    live: bool
    ready: bool
    model: str
    version: str
    reload_error: str | None = Field(
        description="Why the model file that is there now cannot be loaded.  An older model is being served."
    )


#: Statuses of requests with a body, besides 200.
ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "The body cannot be parsed."},
    408: {"model": ErrorBody, "description": "The body did not arrive in time."},
    413: {"model": ErrorBody, "description": "The request has too many rows or bytes."},
    415: {"model": ErrorBody, "description": "The body has another type."},
    422: {"model": ErrorBody, "description": "The rows cannot be reranked."},
    503: {"model": ErrorBody, "description": "The server has too much to do."},
}
UNKNOWN_MODEL: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorBody, "description": "There is no model of this name."}
}
BINARY = {"schema": {"type": "string", "format": "binary"}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"model": RerankAnswer, "description": "The ranking.", "content": {ARROW: BINARY}},
    **ERRORS,
}
INFER_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"model": InferAnswer, "description": "The ranking."},
    **ERRORS,
    **UNKNOWN_MODEL,
}


def request_body(kind: type[BaseModel], *others: str) -> dict[str, Any]:
    """Return the OpenAPI description of a body, as JSON or in `others`, which are binary types."""
    reference = {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}
    content: dict[str, Any] = {"application/json": reference, **dict.fromkeys(others, BINARY)}
    return {"requestBody": {"required": True, "content": content}}


def describe(model: ServedModel, options: ServerOptions) -> ModelDescription:
    """Return what clients need to know about a model."""
    return ModelDescription(
        name=model.name,
        version=model.version,
        loaded_at=model.loaded_at.isoformat(timespec="seconds"),
        mode=model.reranker.mode_,
        n_classes=model.n_classes,
        n_candidates=model.reranker.state.n_candidates,
        class_names=None if model.class_names is None else list(model.class_names),
        needs_all_scores=model.needs_all_scores,
        embedding_width=model.embedding_width,
        limits=Limits(max_rows=options.max_rows, max_bytes=options.max_bytes),
    )
