"""Running the application: the socket, the signals, and a stop that loses no request."""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from types import FrameType
from typing import Any

import uvicorn

from repair.serving.app import build_app, service_of
from repair.serving.options import ServerOptions
from repair.serving.protocol import TimedProtocol
from repair.serving.service import Service

__all__ = ["serve"]

#: Seconds that clients have to send the request on a connection that was accepted in the last moment.
LAST_REQUESTS = 0.5
#: An idle connection is closed after this many seconds.  Proxies that reuse connections should close them earlier.
IDLE_SECONDS = 75
BACKLOG = 2048

log = logging.getLogger("repair.serving")


def serve(
    model: str | PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    options: ServerOptions | None = None,
    announce: Callable[[str], object] = print,
) -> None:
    """Serve a model over HTTP until SIGTERM or Ctrl-C.

    Parameters
    ----------
    model : path
        The model file.
    host : str, default "127.0.0.1"
        Address to listen at.  With the default, only this machine can connect.
    port : int, default 8080
        Port to listen at.  0 takes a free one.
    options : ServerOptions, optional
        Limits and times.
    announce : callable, default print
        Called with one line of text when the server accepts connections.
    """
    options = ServerOptions() if options is None else options
    app = build_app(model, options)
    service = service_of(app)
    listener = _listen(host, port)
    config = uvicorn.Config(
        app,
        http=type("Protocol", (TimedProtocol,), {"header_seconds": options.body_seconds}),
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=options.max_connections,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=max(1, round(options.grace_seconds)),
        backlog=BACKLOG,
    )
    shown, bound = listener.getsockname()[:2]
    address = f"[{shown}]" if ":" in shown else shown
    ready = f"Serving model {service.store.name!r} on http://{address}:{bound}"
    server = GracefulServer(config, service, lambda: announce(ready))
    with _log_to_standard_error():
        server.run([listener])


def _listen(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    try:
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        error.filename = f"{host}:{port}"
        raise


@contextmanager
def _log_to_standard_error() -> Iterator[None]:
    """Print log messages of the server and of uvicorn to standard error, unless the program configures logging."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    levels = {"repair.serving": logging.INFO, "uvicorn": logging.WARNING}
    for name, level in levels.items():
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(level)
    try:
        yield
    finally:
        for name in levels:
            logging.getLogger(name).removeHandler(handler)


class GracefulServer(uvicorn.Server):
    """uvicorn's server, which stops without losing a request and loads the model again at SIGHUP.

    Parameters
    ----------
    config : uvicorn.Config
    service : Service
    announce : callable
        Called when the server accepts connections.
    """

    def __init__(self, config: uvicorn.Config, service: Service, announce: Callable[[], object]) -> None:
        super().__init__(config)
        self.service = service
        self.announce = announce
        self.loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop in four steps: not ready, no new connections, last requests, end."""
        self.service.drain()
        log.info("stopping: finishing the requests in progress")
        if not self.force_exit:
            await self._pause(self.service.options.drain_seconds)
        await self._accept_waiting(sockets or [])
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        if not self.force_exit:
            await self._pause(LAST_REQUESTS)
        await super().shutdown(sockets)
        if self.force_exit:  # uvicorn would leave the application's own tasks running
            await self.lifespan.shutdown()
        log.info("stopped after %d reranking requests", self.service.answered)

    async def _pause(self, seconds: float) -> None:
        """Wait, unless a second Ctrl-C ends the server at once."""
        end = asyncio.get_running_loop().time() + seconds
        while not self.force_exit and (left := end - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(min(left, 0.05))

    async def _accept_waiting(self, listeners: list[socket.socket]) -> None:
        """Accept the connections that wait in the system's queue.  Closing the socket would reset them."""
        loop = asyncio.get_running_loop()
        for listener in listeners:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:  # nobody waits
                    break
                await loop.connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> Any:
        protocol: Any = self.config.http_protocol_class
        return protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the server runs.  A server that was told to stop ends with exit code 0."""
        handlers: dict[int, Callable[[int, FrameType | None], None]] = {
            signal.SIGINT: self.handle_exit, signal.SIGTERM: self.handle_exit
        }  # fmt: skip
        if hasattr(signal, "SIGHUP"):
            handlers[signal.SIGHUP] = self._on_hangup
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_hangup(self, number: int, frame: FrameType | None) -> None:
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.service.request_reload)
