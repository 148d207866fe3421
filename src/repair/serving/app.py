"""The application: its routes, and what errors look like."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from repair._utils.version import __version__
from repair.errors import InputError, MissingExtraError
from repair.serving.options import ServerOptions

try:
    import fastapi
    import prometheus_client as _  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ImportError:
    raise MissingExtraError("serving needs the extra 'serve': pip install 'repair-rerank[serve]'") from None

from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from repair.serving.arrow_bodies import ARROW, arrow_answer, batch_of_arrow
from repair.serving.batch import rerank_batch
from repair.serving.bodies import check_content_type
from repair.serving.descriptions import (
    ANSWERS,
    INFER_ANSWERS,
    UNKNOWN_MODEL,
    Health,
    ModelDescription,
    describe,
    request_body,
)
from repair.serving.errors import RequestError, in_fields
from repair.serving.gate import Gate
from repair.serving.inference_protocol import (
    InferRequest,
    ModelMetadata,
    batch_of_tensors,
    metadata_of,
    tensor_answer,
)
from repair.serving.json_bodies import RerankRequest, batch_of_json, json_answer
from repair.serving.metrics import METRICS_TYPE
from repair.serving.model_store import ModelStore, ServedModel
from repair.serving.service import Service

__all__ = ["build_app", "service_of"]

JSON = "application/json"


def build_app(model: str | PathLike[str], options: ServerOptions | None = None) -> fastapi.FastAPI:
    """Return the ASGI application that serves a model file.

    Use this to run the application under an ASGI server of your own.  ``repair serve`` adds a graceful
    stop, a limit on connections, and a time limit for headers.

    Parameters
    ----------
    model : path
        The model file.  The application loads it again when it changes.
    options : ServerOptions, optional
        Limits and times.

    Returns
    -------
    fastapi.FastAPI

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from repair import Base
    >>> from repair.serving import build_app
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     Base(n_candidates=2).fit(np.eye(3), [0, 1, 2]).save(path)
    ...     app = build_app(path)
    >>> "/rerank" in app.openapi()["paths"]
    True
    """
    options = ServerOptions() if options is None else options
    path = Path(model)
    service = Service(ModelStore(path, options.name), options)
    app = fastapi.FastAPI(
        title="REPAIR",
        version=__version__,
        description="Reranks the shortlists of a classifier.",
        lifespan=_lifespan(service),
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.add_middleware(Gate, service=service)
    _add_error_handlers(app)
    _add_rerank(app, service)
    _add_descriptions(app, service)
    _add_inference_protocol(app, service)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def service_of(app: fastapi.FastAPI) -> Service:
    """Return the state of an application that `build_app` returned."""
    service: Service = app.state.service
    return service


def _lifespan(service: Service) -> Callable[[fastapi.FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(_: fastapi.FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(service.watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    return lifespan


def _add_rerank(app: fastapi.FastAPI, service: Service) -> None:
    @app.post("/rerank", responses=ANSWERS, openapi_extra=request_body(RerankRequest, ARROW), tags=["rerank"])
    async def rerank(request: Request) -> Response:
        """Rerank rows, given as JSON or as an Arrow IPC stream.  The answer has the same format."""
        given = check_content_type(request, JSON, ARROW)
        wanted = _wanted_type(request, given)

        def work(body: bytes) -> bytes:
            parse = batch_of_arrow if given == ARROW else batch_of_json
            model = service.store.current
            answer = rerank_batch(model, parse(body, model, service.options))
            service.count(answer)
            return arrow_answer(answer) if wanted == ARROW else json_answer(answer)

        return Response(await _with_body(request, service, work), media_type=wanted)


def _wanted_type(request: Request, given: str) -> str:
    """Return the type of the answer: what the client accepts, by default the type of the request."""
    accepted = [entry.partition(";")[0].strip().lower() for entry in request.headers.get("accept", "").split(",")]
    return next((kind for kind in accepted if kind in (JSON, ARROW)), given)


async def _with_body(request: Request, service: Service, work: Callable[[bytes], bytes]) -> bytes:
    """Receive the body, and process it in a thread."""
    body = await service.bodies.read(request)
    try:
        return await service.in_thread(lambda: work(body))
    finally:
        service.bodies.release(len(body))


def _add_descriptions(app: fastapi.FastAPI, service: Service) -> None:
    def health() -> Health:
        store = service.store
        return Health(
            live=True,
            ready=not service.draining,
            model=store.current.name,
            version=store.current.version,
            reload_error=store.failure,
        )

    not_ready: dict[int | str, dict[str, Any]] = {503: {"model": Health, "description": "The server is stopping."}}

    @app.get("/health", response_model=Health, responses=not_ready, tags=["health"])
    async def ready() -> Response:
        """Return whether the server accepts requests, and what is wrong with the model file, if anything."""
        return JSONResponse(health().model_dump(), 503 if service.draining else 200)

    @app.get("/health/ready", response_model=Health, responses=not_ready, tags=["health"])
    async def ready_alone() -> Response:
        """Return the same as /health, under the usual name of this probe."""
        return await ready()

    @app.get("/health/live", tags=["health"])
    async def live() -> Health:
        """Return status 200 as long as the process works, also while it stops."""
        return health()

    @app.get("/model", tags=["model"])
    async def model() -> ModelDescription:
        """Return the model that is being served, its classes in order, and what rows need."""
        return describe(service.store.current, service.options)

    @app.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}}, tags=["health"])
    async def metrics() -> Response:
        """Return the metrics in the text format of Prometheus."""
        return Response(service.metrics.text(), headers={"content-type": METRICS_TYPE})


def _add_inference_protocol(app: fastapi.FastAPI, service: Service) -> None:
    def served(name: str) -> ServedModel:
        if name != service.store.name:
            raise RequestError(404, f"there is no model {name[:100]!r}; this server has {service.store.name!r}")
        return service.store.current

    ready_answers: dict[int | str, dict[str, Any]] = {503: {"description": "The server is stopping."}}

    def readiness() -> Response:
        return JSONResponse({"ready": not service.draining}, 503 if service.draining else 200)

    @app.get("/v2", tags=["Open Inference Protocol"])
    async def server_metadata() -> dict[str, str | list[str]]:
        """Return the name and version of the server."""
        return {"name": "repair", "version": __version__, "extensions": []}

    @app.get("/v2/health/live", tags=["Open Inference Protocol"])
    async def server_live() -> dict[str, bool]:
        """Return status 200 as long as the process works."""
        return {"live": True}

    @app.get("/v2/health/ready", responses=ready_answers, tags=["Open Inference Protocol"])
    async def server_ready() -> Response:
        """Return status 200 if the server accepts requests."""
        return readiness()

    @app.get("/v2/models/{name}", responses=UNKNOWN_MODEL, tags=["Open Inference Protocol"])
    async def model_metadata(name: str) -> ModelMetadata:
        """Return the tensors of the model."""
        return metadata_of(served(name))

    @app.get("/v2/models/{name}/ready", responses={**UNKNOWN_MODEL, **ready_answers}, tags=["Open Inference Protocol"])
    async def model_ready(name: str) -> Response:
        """Return status 200 if the model can be used."""
        served(name)
        return readiness()

    @app.post(
        "/v2/models/{name}/infer",
        responses=INFER_ANSWERS,
        openapi_extra=request_body(InferRequest),
        tags=["Open Inference Protocol"],
    )
    async def infer(name: str, request: Request) -> Response:
        """Rerank rows, given as tensors."""
        served(name)
        check_content_type(request, JSON)

        def work(body: bytes) -> bytes:
            model = service.store.current
            batch, wanted = batch_of_tensors(body, model, service.options)
            answer = rerank_batch(model, batch)
            service.count(answer)
            return tensor_answer(answer, wanted)

        return Response(await _with_body(request, service, work), media_type=JSON)


def _add_error_handlers(app: fastapi.FastAPI) -> None:
    def answer(status: int, message: str) -> JSONResponse:
        return JSONResponse({"error": message}, status)

    @app.exception_handler(RequestError)
    async def on_request_error(_: Request, error: RequestError) -> Response:
        return answer(error.status, error.message)

    @app.exception_handler(InputError)
    async def on_input_error(_: Request, error: InputError) -> Response:
        return answer(422, in_fields(error))

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, error: HTTPException) -> Response:
        text = {
            404: "there is nothing at this path; /openapi.json lists the paths",
            405: f"{request.method[:20]} is not possible here; /openapi.json lists the methods of each path",
        }
        response = answer(error.status_code, text.get(error.status_code, str(error.detail)))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(MemoryError)
    async def on_memory_error(_: Request, __: MemoryError) -> Response:
        return answer(503, "there is not enough memory for this request; send fewer rows")

    @app.exception_handler(ClientDisconnect)
    async def on_disconnect(_: Request, __: ClientDisconnect) -> Response:
        return answer(400, "the client closed the connection")  # nobody reads this

    @app.exception_handler(Exception)
    async def on_defect(_: Request, __: Exception) -> Response:
        return answer(500, "an error in the server; its log says more")


def _openapi(app: fastapi.FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description, with the bodies that the routes read themselves."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        parts = schema["components"]["schemas"]
        for kind in (RerankRequest, InferRequest):
            described = kind.model_json_schema(ref_template="#/components/schemas/{model}")
            parts.update(described.pop("$defs", {}))
            parts[kind.__name__] = described
        app.openapi_schema = schema
    return app.openapi_schema
