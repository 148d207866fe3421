"""Vectors of texts on disk, because embedding is slow and runs with other seeds use the same texts.

The folder contains blocks.  Each is an npz file without pickle, written as soon as it is finished,
so an interrupted embedding continues from there.  A damaged block is ignored.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from repair._utils.arrays import AnyArray
from repair._utils.atomic_write import write_atomically

__all__ = ["VectorStore"]

#: Texts per block.  An interrupt loses at most about a minute of work.
BLOCK = 2048
DIGEST_BYTES = 16

Embed = Callable[[Sequence[str]], AnyArray]


class VectorStore:
    """A store of vectors by text.

    Parameters
    ----------
    folder : Path or None
        Folder with the vectors of one model.  Another model needs another folder.  It is created when
        the first block is written.  With None, nothing is kept.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from repair_bench.bases.vector_store import VectorStore
    >>> store = VectorStore(Path(tempfile.mkdtemp()))
    >>> store.get(["a", "bcd", "a"], lambda texts: np.array([[len(text)] for text in texts])).tolist()
    [[1.0], [3.0], [1.0]]
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, texts: Sequence[str], embed: Embed) -> AnyArray:
        """Return one vector per text.  Texts that are not in any block are embedded.

        Parameters
        ----------
        texts : sequence of n str
        embed : callable
            Function from texts to an array with one row per text.  It gets the texts sorted by length,
            because texts of equal length need no padding.

        Returns
        -------
        ndarray of float16 (n, d)
            Vectors are always rounded to float16, so a run that reads them from disk gives the same bits.
        """
        stored = self._read()
        keys = [_digest(text) for text in texts]
        missing = sorted({text for text, key in zip(texts, keys, strict=True) if key not in stored}, key=_by_length)
        for start in range(0, len(missing), BLOCK):
            block = missing[start : start + BLOCK]
            vectors = np.asarray(embed(block)).astype(np.float16)
            digests = [_digest(text) for text in block]
            self._write(digests, vectors)
            stored.update(zip(digests, vectors, strict=True))
        return np.stack([stored[key] for key in keys])

    def _read(self) -> dict[bytes, AnyArray]:
        stored: dict[bytes, AnyArray] = {}
        for path in sorted(self.folder.glob("*.npz")) if self.folder is not None else ():
            try:
                with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                    digests, vectors = arrays["digests"], arrays["vectors"]
                    stored.update(zip(map(bytes, digests), vectors, strict=True))
            except (OSError, KeyError, ValueError, zipfile.BadZipFile):
                continue
        return stored

    def _write(self, digests: list[bytes], vectors: AnyArray) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        joined = b"".join(digests)
        stream = io.BytesIO()
        np.savez(stream, digests=np.frombuffer(joined, np.uint8).reshape(-1, DIGEST_BYTES), vectors=vectors)
        # The name is a digest of the texts, so two runs at the same time write the same block under the same name.
        write_atomically(self.folder / f"{hashlib.sha256(joined).hexdigest()[:16]}.npz", stream.getvalue())


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text
