"""The server does what its OpenAPI description says, for requests that schemathesis makes up from it."""

import pytest

pytest.importorskip("schemathesis")
pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("typer")
pytest.importorskip("pyarrow")

import schemathesis
from hypothesis import given
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

pytestmark = pytest.mark.system("POSIX signals")

#: Valid data may be refused: a description cannot say that lists must be equally long, or which classes the model has.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


ROUTES = {
    "/rerank": "POST", "/health": "GET", "/health/ready": "GET", "/health/live": "GET", "/model": "GET",
    "/metrics": "GET", "/v2": "GET", "/v2/health/live": "GET", "/v2/health/ready": "GET", "/v2/models/{name}": "GET",
    "/v2/models/{name}/ready": "GET", "/v2/models/{name}/infer": "POST",
}  # fmt: skip


@pytest.fixture(scope="module")
def description(server):
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


#: Wrong requests are made up only for routes with a body, because any text can be in a path.
MADE_UP = [(path, GenerationMode.POSITIVE) for path in ROUTES] + [
    (path, GenerationMode.NEGATIVE) for path, method in ROUTES.items() if method == "POST"
]


@pytest.mark.parametrize(("path", "mode"), MADE_UP)
def test_requests_made_up_from_the_description(description, path, mode):
    operation = description[path][ROUTES[path]]

    @given(operation.as_strategy(generation_mode=mode))
    def check(case):
        case.call_and_validate(checks=CHECKS)

    check()


def test_every_route_is_described(server):
    _, described = server.get("/openapi.json")
    assert {path: [*methods] for path, methods in described["paths"].items()} == {
        path: [method.lower()] for path, method in ROUTES.items()
    }
    body = described["paths"]["/rerank"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "application/vnd.apache.arrow.stream"}
    for paths in described["paths"].values():
        for operation in paths.values():
            assert operation["description"]
