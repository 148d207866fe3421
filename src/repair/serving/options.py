"""The limits and times of a server."""

import re
from dataclasses import dataclass

from repair.errors import InputError
from repair.validation.checks import check_count, check_number

__all__ = ["ServerOptions"]

#: A model's name is part of paths and of metrics.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class ServerOptions:
    """The limits and times of a server.

    Parameters
    ----------
    name : str, optional
        Name of the model in paths and metrics.  By default the file name without its ending.
    max_rows : int, default 10000
        Largest number of rows per request.
    max_bytes : int, default 16777216
        Largest size of a request's body.  All bodies that are being received at the same time may
        together be eight times as large.
    max_connections : int, default 1000
        Largest number of connections.  Requests on further ones get status 503.
    body_seconds : float, default 10.0
        Longest time that a client may take to send the header of a request, and again for its body.
    reload_seconds : float, default 2.0
        Time between two checks whether the model file has changed.  With 0, only SIGHUP reloads it.
    drain_seconds : float, default 1.0
        How long the server still accepts connections after SIGTERM, when it is already reported as
        not ready.  Raise it to the time that your load balancer takes to notice.
    grace_seconds : float, default 30.0
        How long requests in progress may then take.

    Examples
    --------
    >>> from repair.serving import ServerOptions
    >>> ServerOptions(max_rows=100).max_bytes
    16777216
    """

    name: str | None = None
    max_rows: int = 10_000
    max_bytes: int = 16 << 20
    max_connections: int = 1_000
    body_seconds: float = 10.0
    reload_seconds: float = 2.0
    drain_seconds: float = 1.0
    grace_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.name is not None and not NAME.fullmatch(self.name):
            raise InputError(
                f"name is {self.name!r}; use up to 100 letters, digits, dots, dashes and underscores, "
                "and begin with a letter or digit"
            )
        for count in ("max_rows", "max_bytes", "max_connections"):
            check_count(getattr(self, count), count)
        check_number(self.body_seconds, "body_seconds", 0.0, open_low=True)
        for seconds in ("reload_seconds", "drain_seconds", "grace_seconds"):
            check_number(getattr(self, seconds), seconds, 0.0)

    @property
    def max_buffered_bytes(self) -> int:
        """Largest total size of the bodies that are being received or processed."""
        return 8 * self.max_bytes

    @property
    def max_slots(self) -> int:
        """Largest number of rows times the longest list.  A body of this size has no more numbers than this."""
        return max(self.max_bytes // 2, self.max_rows)
