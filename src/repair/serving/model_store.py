"""The model that is being served, and its replacement when the file changes."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from repair.errors import RemediableError
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.loading import load

__all__ = ["ModelStore", "ServedModel"]

#: Digits of the version, which is the beginning of the file's SHA-256.
VERSION_DIGITS = 16

Outcome = Literal["unchanged", "loaded", "failed"]


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A loaded model.  A request uses the same one from beginning to end."""

    name: str
    reranker: ShortlistReranker
    version: str
    loaded_at: datetime

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """The names of the classes in the order of the scores, if the model has names."""
        return self.reranker.state.correction.table.class_names

    @property
    def n_classes(self) -> int:
        """The number of classes K."""
        return self.reranker.state.correction.table.n_classes

    @property
    def needs_all_scores(self) -> bool:
        """Whether a term reads the scores of all classes, so candidates do not suffice."""
        return any(term.row_width is not None for term in self.reranker.state.correction.terms)

    @property
    def embedding_width(self) -> int | None:
        """The width of the embeddings that the model reads, or None."""
        return self.reranker.state.correction.embedding_width


class ModelStore:
    """Loads a model file, and loads it again when it changes.  A damaged file leaves the old model in place.

    Parameters
    ----------
    path : path
        The model file.
    name : str, optional
        Name of the model.  By default that of the file.

    Attributes
    ----------
    current : ServedModel
        The model to use for the next request.
    failure : str or None
        Why the file that is there now cannot be used.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.name = path.stem if name is None else name
        self.failure: str | None = None
        self._seen = _signature(path)
        self.current = self._load()

    def refresh(self, *, force: bool = False) -> Outcome:
        """Load the file if it has changed since it was last looked at, or in any case with `force`."""
        found = _signature(self.path)
        if found == self._seen and not force:
            return "unchanged"
        try:
            fresh = self._load()
        except Exception as error:  # whatever is wrong with the new file, the old model still works
            if _signature(self.path) != found:
                return "unchanged"  # it is still being written, so the next check tries again
            self._seen, self.failure = found, _reason(error)
            return "failed"
        if _signature(self.path) != found:
            return "unchanged"
        self._seen, self.failure = found, None
        if fresh.version == self.current.version:
            return "unchanged"
        self.current = fresh
        return "loaded"

    def _load(self) -> ServedModel:
        with open(self.path, "rb") as stream:
            digest = sha256(stream.read()).hexdigest()
        return ServedModel(self.name, load(self.path), digest[:VERSION_DIGITS], datetime.now(UTC))


def _signature(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is written or replaced, or None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _reason(error: Exception) -> str:
    if isinstance(error, RemediableError):
        return str(error)
    if isinstance(error, OSError):
        return f"the model file cannot be read: {error.strerror or error}"
    return f"the model file cannot be loaded: {type(error).__name__}: {error}"
