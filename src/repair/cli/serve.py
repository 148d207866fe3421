"""``repair serve``."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["serve"]


def serve(
    model: Annotated[Path, typer.Argument(help="A model written by `repair fit`.", show_default=False)],
    host: Annotated[
        str, typer.Option(help="Address to listen at. With the default, only this machine can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at. 0 takes a free one.")] = 8080,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the model in paths and metrics. Default: the file name without its ending."),
    ] = None,
    max_rows: Annotated[int, typer.Option(min=1, help="Largest number of rows per request.")] = 10_000,
    max_bytes: Annotated[int, typer.Option(min=1, help="Largest size of a request's body.")] = 16 << 20,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Largest number of connections. Further requests get status 503.")
    ] = 1_000,
    body_seconds: Annotated[
        float, typer.Option(help="Longest time for sending the header of a request, and again for its body.")
    ] = 10.0,
    reload_seconds: Annotated[
        float,
        typer.Option(
            min=0, help="Time between checks whether the model file has changed. With 0, only SIGHUP reloads it."
        ),
    ] = 2.0,
    drain_seconds: Annotated[
        float,
        typer.Option(
            min=0,
            help="How long to accept connections after SIGTERM, while /health already says not ready. Raise it to the "
            "time that your load balancer takes to notice.",
        ),
    ] = 1.0,
    grace_seconds: Annotated[
        float, typer.Option(min=0, help="How long requests in progress may take after that.")
    ] = 30.0,
) -> None:
    """Serve a model over HTTP, until SIGTERM or Ctrl-C."""
    from repair.cli.output import flush, show
    from repair.serving import ServerOptions
    from repair.serving import serve as run

    options = ServerOptions(
        name=name,
        max_rows=max_rows,
        max_bytes=max_bytes,
        max_connections=max_connections,
        body_seconds=body_seconds,
        reload_seconds=reload_seconds,
        drain_seconds=drain_seconds,
        grace_seconds=grace_seconds,
    )

    def announce(line: str) -> None:
        show(line)
        flush()

    run(model, host=host, port=port, options=options, announce=announce)
