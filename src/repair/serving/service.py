"""What a running server holds: the model, the limits, the metrics and whether it accepts requests."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from repair._utils.parallel import thread_count
from repair.serving.batch import Answer
from repair.serving.bodies import BodyReader
from repair.serving.metrics import Metrics
from repair.serving.model_store import ModelStore
from repair.serving.options import ServerOptions

__all__ = ["Service"]

Result = TypeVar("Result")

log = logging.getLogger("repair.serving")


class Service:
    """The state of a running server.

    Attributes
    ----------
    draining : bool
        Whether the server is about to stop.
    answered : int
        Number of reranking requests that were answered with a ranking.
    """

    def __init__(self, store: ModelStore, options: ServerOptions) -> None:
        self.store = store
        self.options = options
        self.metrics = Metrics()
        self.bodies = BodyReader(options)
        self.draining = False
        self.answered = 0
        self._wanted = asyncio.Event()
        self._threads = anyio.CapacityLimiter(max(2, thread_count()))
        self.metrics.show_model(store.current)
        self.metrics.ready.set(1)

    def drain(self) -> None:
        """Report from now on that the server is not ready."""
        self.draining = True
        self.metrics.ready.set(0)

    def request_reload(self) -> None:
        """Load the model file soon, whether it has changed or not.  Call this in the thread of the event loop."""
        self._wanted.set()

    async def watch(self) -> None:
        """Load the model file whenever it has changed, until cancelled."""
        seconds = self.options.reload_seconds or None
        while True:
            forced = True
            try:
                await asyncio.wait_for(self._wanted.wait(), seconds)
            except TimeoutError:
                forced = False
            self._wanted.clear()
            await self.reload(force=forced)

    async def reload(self, *, force: bool) -> None:
        """Load the model file if it has changed, and report what happened."""
        outcome = await anyio.to_thread.run_sync(lambda: self.store.refresh(force=force))
        self.metrics.reload_failing.set(0 if self.store.failure is None else 1)
        if outcome == "unchanged":
            return
        self.metrics.reloads.labels(outcome).inc()
        if outcome == "failed":
            log.warning("the changed model file is not used: %s", self.store.failure)
            return
        self.metrics.show_model(self.store.current)
        log.info("now serving version %s", self.store.current.version)

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Run work in a thread, so a large batch does not delay other requests.  As many run as there are cores."""
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    def count(self, answer: Answer) -> None:
        """Count the rows and warnings of an answer."""
        self.metrics.rows.inc(len(answer.ranking))
        if answer.warnings:
            self.metrics.warned.inc()
