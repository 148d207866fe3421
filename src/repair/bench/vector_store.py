"""Vectors of texts on disk, text by text: embedding is slow, and the same texts come back with other seeds.

A folder of blocks, each an npz file without pickle that is written as soon as it is done, so that an
interrupted embedding goes on from there.  A damaged block counts as none.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from repair.arrays import AnyArray
from repair.files import write_atomically

__all__ = ["VectorStore"]

#: Texts of one block: a minute or less of work is lost by an interrupt.
BLOCK = 2048
DIGEST_BYTES = 16

Embed = Callable[[Sequence[str]], AnyArray]


class VectorStore:
    """Vectors by text.

    Parameters
    ----------
    folder : Path or None
        Made when the first block is written; None to keep nothing.  It holds the vectors of one
        model: another model needs another folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from repair.bench.vector_store import VectorStore
    >>> store = VectorStore(Path(tempfile.mkdtemp()))
    >>> store.get(["a", "bcd", "a"], lambda texts: np.array([[len(text)] for text in texts])).tolist()
    [[1.0], [3.0], [1.0]]
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, texts: Sequence[str], embed: Embed) -> AnyArray:
        """Return one vector for each text, embedding those that no block has.

        Parameters
        ----------
        texts : sequence of n str
        embed : callable
            From texts to an array with one row each.  It gets texts sorted by length, because those
            of one length need no padding.

        Returns
        -------
        ndarray of float16 (n, d)
            Rounded so even if they were embedded just now: a run from the disk must give the same bits.
        """
        known = self._read()
        keys = [_digest(text) for text in texts]
        missing = sorted({text for text, key in zip(texts, keys, strict=True) if key not in known}, key=_by_length)
        for start in range(0, len(missing), BLOCK):
            block = missing[start : start + BLOCK]
            vectors = np.asarray(embed(block)).astype(np.float16)
            own = [_digest(text) for text in block]
            self._write(own, vectors)
            known.update(zip(own, vectors, strict=True))
        return np.stack([known[key] for key in keys])

    def _read(self) -> dict[bytes, AnyArray]:
        known: dict[bytes, AnyArray] = {}
        for path in sorted(self.folder.glob("*.npz")) if self.folder is not None else ():
            try:
                with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                    digests, vectors = arrays["digests"], arrays["vectors"]
                    known.update(zip(map(bytes, digests), vectors, strict=True))
            except (OSError, KeyError, ValueError, zipfile.BadZipFile):
                continue
        return known

    def _write(self, digests: list[bytes], vectors: AnyArray) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        joined = b"".join(digests)
        stream = io.BytesIO()
        np.savez(stream, digests=np.frombuffer(joined, np.uint8).reshape(-1, DIGEST_BYTES), vectors=vectors)
        # Named after its texts: two runs at once write the same block twice, not into each other's.
        write_atomically(self.folder / f"{hashlib.sha256(joined).hexdigest()[:16]}.npz", stream.getvalue())


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text
