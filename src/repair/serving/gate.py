"""The outermost layer of the application: it counts requests and closes connections while the server stops."""

import asyncio
import time

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from repair.serving.service import Service

__all__ = ["Gate"]

#: The metrics' name of paths that do not exist, which a client could make up without end.
OTHER = "other"


class Gate:
    """ASGI middleware around the whole application.

    Parameters
    ----------
    app : ASGI application
    service : Service
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        metrics, start = self.service.metrics, time.perf_counter()
        status, complete, gone = 0, False, False

        async def watched_receive() -> Message:
            nonlocal gone
            message = await receive()
            gone = message["type"] == "http.disconnect"
            return message

        async def counted_send(message: Message) -> None:
            nonlocal status, complete
            if message["type"] == "http.response.start":
                status = message["status"]
                # The rest of a body that was not received would be taken for the next request.
                if self.service.draining or status in (408, 413, 503):
                    message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)
            complete = message["type"] == "http.response.body" and not message.get("more_body", False)

        with metrics.in_progress.track_inprogress():
            try:
                await self.app(scope, watched_receive, counted_send)
            except asyncio.CancelledError:  # the time for requests in progress is over
                if not status:
                    late = JSONResponse({"error": "the server is stopping; send the request again"}, 503)
                    await late(scope, receive, counted_send)
            finally:
                route = getattr(scope.get("route"), "path", OTHER)
                if complete and not gone:
                    metrics.requests.labels(route, str(status)).inc()
                    metrics.seconds.labels(route).observe(time.perf_counter() - start)
                    self.service.answered += scope["method"] == "POST" and status == 200
                else:
                    metrics.aborted.inc()
