"""HTTP connections with a time limit for the header of each request."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from repair.serving.json_bodies import json_bytes

__all__ = ["TimedProtocol"]


class TimedProtocol(H11Protocol):
    """uvicorn's connection, which also closes if a header does not arrive in time.

    uvicorn limits only the time between two requests.  A client that sends its header byte by byte
    would keep a connection for as long as it likes.
    """

    header_seconds: float
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time for the first header."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.header_seconds, self._close_late)

    def data_received(self, data: bytes) -> None:
        """Receive bytes, and start or stop the time according to whether a header is incomplete."""
        super().data_received(data)
        waiting = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not waiting:
            self._stop_clock()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self._close_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop_clock()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP in the format of all errors."""
        self._refuse(400, f"{msg.rstrip('.')}; check the request line and the headers")

    def _close_late(self) -> None:
        if self.conn.our_state is h11.IDLE:
            self._refuse(408, f"the header did not arrive within {self.header_seconds:g} seconds; send it faster")
        elif not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json_bytes({"error": message})
            headers = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
            start = h11.Response(status_code=status, headers=list(headers.items()))
            events: list[Any] = [start, h11.Data(data=body), h11.EndOfMessage()]
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
