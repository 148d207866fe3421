"""Receiving the body of a request, within limits of size and time."""

import asyncio

from starlette.requests import Request

from repair.serving.errors import RequestError
from repair.serving.options import ServerOptions

__all__ = ["BodyReader", "check_content_type"]

#: A body that is too large is still received up to this many times the limit.  Many clients read the answer only after
#: they have sent everything.
RECEIVED = 2


class BodyReader:
    """Receives bodies, and counts the bytes of all bodies that are in memory.

    Parameters
    ----------
    options : ServerOptions
    """

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.held = 0

    async def read(self, request: Request) -> bytes:
        """Return the body.  When it has been processed, pass its length to `release`."""
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > RECEIVED * self.options.max_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(self.options.body_seconds):
                return await self._receive(request)
        except TimeoutError:
            raise RequestError(
                408, f"the body did not arrive within {self.options.body_seconds:g} seconds; send it faster"
            ) from None

    def release(self, size: int) -> None:
        """Report that a body is no longer in memory."""
        self.held -= size

    async def _receive(self, request: Request) -> bytes:
        parts, size = [], 0
        try:
            async for part in request.stream():
                size += len(part)
                self.held += len(part)
                if self.held > self.options.max_buffered_bytes:
                    raise RequestError(503, "the server is receiving too many large bodies; try again later")
                if size <= self.options.max_bytes:
                    parts.append(part)
                elif size > RECEIVED * self.options.max_bytes:
                    break
                else:
                    parts.clear()
            if size > self.options.max_bytes:
                raise self._too_large()
        except BaseException:
            self.held -= size
            raise
        return b"".join(parts)

    def _too_large(self) -> RequestError:
        return RequestError(413, f"the body is larger than {self.options.max_bytes} bytes; send fewer rows per request")


def check_content_type(request: Request, *allowed: str) -> str:
    """Return the type of the body, which must be one of `allowed`."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in allowed:
        raise RequestError(415, f"the Content-Type is {given[:100] or 'missing'}; send {' or '.join(allowed)}")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestError(415, "the body has a Content-Encoding; send it without compression")
    return given
