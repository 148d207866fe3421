"""Which format a file has, and one name for whatever is wrong with it."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from stat import S_ISDIR, S_ISREG
from typing import Any

from repair.errors import InputError, MissingExtraError

__all__ = ["FileFormat", "Path", "format_of", "in_file", "needs_arrow", "parsing", "read_content", "refuse_inflation"]

Path = str | PathLike[str]


@dataclass(frozen=True)
class FileFormat:
    """How a file is to be read or written, told by its name."""

    kind: str
    delimiter: str = ","
    compressed: bool = False

    @property
    def is_text(self) -> bool:
        """Whether errors can name a line."""
        return self.kind in ("csv", "jsonl")

    @property
    def is_arrays(self) -> bool:
        """Whether numpy reads it."""
        return self.kind in ("npz", "npy")


FORMATS = {
    ".npz": FileFormat("npz"),
    ".npy": FileFormat("npy"),
    ".csv": FileFormat("csv"),
    ".tsv": FileFormat("csv", "\t"),
    ".parquet": FileFormat("parquet"),
    ".arrow": FileFormat("arrow"),
    ".feather": FileFormat("arrow"),
    ".jsonl": FileFormat("jsonl"),
    ".csv.gz": FileFormat("csv", compressed=True),
    ".tsv.gz": FileFormat("csv", "\t", compressed=True),
    ".jsonl.gz": FileFormat("jsonl", compressed=True),
}

#: Below this size nobody needs protection from a file that unpacks to many times its size.
HARMLESS = 1 << 30
#: Scores and text do not shrink this much; what does was made to fill the memory.
STRONGEST_COMPRESSION = 200
CHUNK = 1 << 24


def format_of(path: Path) -> FileFormat:
    """Return the format that the file's name tells."""
    name = os.path.basename(fspath(path)).lower()
    for suffix in sorted(FORMATS, key=len, reverse=True):
        if name.endswith(suffix):
            return FORMATS[suffix]
    raise InputError(f"{fspath(path)}: the ending tells no known format; use one of {', '.join(FORMATS)}")


@contextmanager
def in_file(path: Path) -> Iterator[None]:
    """Put the file's name before every `InputError`, so that nothing inside has to."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{fspath(path)}: {error}") from None


@contextmanager
def parsing(kind: str) -> Iterator[None]:
    """Turn whatever a parser raises on damaged bytes into `InputError`.

    Parsers raise what they like on hostile content (their own errors, OSError, KeyError,
    MemoryError, …), so this catches everything; put nothing but the parser's call inside.
    """
    try:
        yield
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
        raise InputError(f"not a readable {kind} file ({reason}); it may be damaged, or of another format") from None


def check_regular(path: Path) -> None:
    """Refuse pipes and devices; a missing or unreadable file is the system's own error."""
    mode = os.stat(path).st_mode
    if not S_ISDIR(mode) and not S_ISREG(mode):
        raise InputError("not a regular file; save it to disk first")
    with open(path, "rb"):
        pass


def read_content(path: Path, format_: FileFormat) -> bytes:
    """Return a text file's bytes, unpacked, without a byte-order mark."""
    check_regular(path)
    if format_.compressed:
        with parsing("gzip"):
            content = _unpack(path)
    else:
        with open(path, "rb") as stream:
            content = stream.read()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("the text is UTF-16; save it as UTF-8")
    return content.removeprefix(b"\xef\xbb\xbf")


def _unpack(path: Path) -> bytes:
    packed, parts, size = os.path.getsize(path), [], 0
    with gzip.open(path, "rb") as stream:
        while chunk := stream.read(CHUNK):
            parts.append(chunk)
            size += len(chunk)
            refuse_inflation(size, packed)
    return b"".join(parts)


def refuse_inflation(size: int, packed: int) -> None:
    """Refuse content that is far larger than any honest file of its packed size."""
    if size > HARMLESS and size > STRONGEST_COMPRESSION * packed:
        raise InputError(f"{packed} bytes unpack to {size} or more; unpack the file yourself if you trust it")


def needs_arrow(kind: str) -> Any:
    """Return pyarrow, or say what to install."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(
            f"{kind} files need the extra 'arrow': pip install 'repair-rerank[arrow]'; .npz and .npy work without"
        ) from None
    return pyarrow
