"""The format of a file by its name, and one kind of error for every problem with its content."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from stat import S_ISDIR, S_ISREG
from typing import Any

from repair.errors import InputError, MissingExtraError

__all__ = [
    "FileFormat",
    "Path",
    "first_line",
    "format_of",
    "in_file",
    "needs_arrow",
    "parsing",
    "read_content",
    "refuse_inflation",
]

Path = str | PathLike[str]


@dataclass(frozen=True)
class FileFormat:
    """How a file is read or written, which depends on the ending of its name."""

    kind: str
    delimiter: str = ","
    compressed: bool = False
    decimal: str = "."

    @property
    def is_text(self) -> bool:
        """Whether the file is text, so errors can name a line."""
        return self.kind in ("csv", "jsonl")

    @property
    def is_arrays(self) -> bool:
        """Whether the file contains numpy arrays."""
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
    ".xlsx": FileFormat("xlsx"),
    ".csv.gz": FileFormat("csv", compressed=True),
    ".tsv.gz": FileFormat("csv", "\t", compressed=True),
    ".jsonl.gz": FileFormat("jsonl", compressed=True),
}

#: Decompressed sizes up to this one are accepted whatever the compression.
HARMLESS = 1 << 30
#: Scores and text do not compress better than this.  A file that does was probably made to exhaust the memory.
STRONGEST_COMPRESSION = 200
CHUNK = 1 << 24


def format_of(path: Path) -> FileFormat:
    """Return the format of a file from the ending of its name."""
    name = os.path.basename(fspath(path)).lower()
    for suffix in sorted(FORMATS, key=len, reverse=True):
        if name.endswith(suffix):
            return FORMATS[suffix]
    raise InputError(f"{fspath(path)}: the ending of the name is not a known format; use one of {', '.join(FORMATS)}")


@contextmanager
def in_file(path: Path) -> Iterator[None]:
    """Add the name of the file to the front of every `InputError`."""
    try:
        yield
    except InputError as error:
        raise error.within(fspath(path)) from None


@contextmanager
def parsing(kind: str) -> Iterator[None]:
    """Turn any error that a parser raises on damaged content into `InputError`.

    Parsers may raise any error on damaged or malicious content (their own errors, OSError, KeyError,
    MemoryError, …), so this catches all of them.  Put only the call of the parser inside.
    """
    try:
        yield
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        raise InputError(
            f"not a readable {kind} file ({first_line(error)}); it may be damaged or have another format"
        ) from None


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, shortened, or its type if there is no message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def check_regular(path: Path) -> None:
    """Raise an error for pipes and devices.  A missing or unreadable file raises an `OSError`."""
    mode = os.stat(path).st_mode
    if not S_ISDIR(mode) and not S_ISREG(mode):
        raise InputError("not a regular file; save it to disk first")
    with open(path, "rb"):
        pass


def read_content(path: Path, format_: FileFormat) -> bytes:
    """Return the decompressed content of a text file, without a byte-order mark."""
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
    """Raise an error if content is far larger than its compressed size allows for real data."""
    if size > HARMLESS and size > STRONGEST_COMPRESSION * packed:
        raise InputError(f"{packed} bytes decompress to {size} or more; if you trust the file, decompress it yourself")


def needs_arrow(kind: str) -> Any:
    """Return pyarrow, or raise an error that says what to install."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(
            f"{kind} files need the extra 'arrow': pip install 'repair-rerank[arrow]'; .npz and .npy do not need it"
        ) from None
    return pyarrow
