"""The metrics of a server, in the text format of Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, generate_latest

from repair.serving.model_store import ServedModel

__all__ = ["METRICS_TYPE", "Metrics"]

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Upper ends of the latency buckets in seconds, from one row to the largest batches.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("repair_requests", "Answered requests.", ["route", "status"], registry=self.registry)
        self.seconds = Histogram(
            "repair_request_seconds",
            "Time from the end of a request's header to the end of its answer.",
            ["route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.in_progress = Gauge("repair_requests_in_progress", "Requests being answered.", registry=self.registry)
        self.aborted = Counter(
            "repair_requests_aborted", "Requests whose client went away before the answer.", registry=self.registry
        )
        self.rows = Counter("repair_rows", "Reranked rows.", registry=self.registry)
        self.warned = Counter("repair_warnings", "Answers that contain a warning.", registry=self.registry)
        self.reloads = Counter(
            "repair_reloads", "Attempts to load a changed model file.", ["outcome"], registry=self.registry
        )
        self.reload_failing = Gauge(
            "repair_reload_failing",
            "1 if the model file cannot be loaded and an older model is being served.",
            registry=self.registry,
        )
        self.ready = Gauge("repair_ready", "1 if the server accepts requests.", registry=self.registry)
        self.model = Info("repair_model", "The model that is being served.", registry=self.registry)
        self.loaded_at = Gauge(
            "repair_model_loaded_timestamp_seconds", "When the model was loaded.", registry=self.registry
        )
        for outcome in ("loaded", "failed"):
            self.reloads.labels(outcome)  # otherwise a series is missing until the first event

    def show_model(self, model: ServedModel) -> None:
        """Report another model."""
        self.model.info({"name": model.name, "version": model.version})
        self.loaded_at.set(model.loaded_at.timestamp())

    def text(self) -> bytes:
        """Return all metrics as text."""
        return generate_latest(self.registry)
