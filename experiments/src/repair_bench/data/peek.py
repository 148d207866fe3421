"""Looking at the beginning and the end of a file, without reading all of it."""

import gzip
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from repair.errors import InputError
from repair.similarity.reading import GZIP_START

__all__ = ["array_shapes", "first_lines", "last_line", "npy_shape"]

#: Bytes read at each end of a file.
WINDOW = 1 << 16
#: Compressed files up to this size are unpacked to see whether they are complete, which takes at most a second.
SMALL = 1 << 25


def first_lines(path: Path) -> list[str]:
    """Return the complete lines at the beginning of a text file, gzip-compressed or not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("one" + chr(10) + "two")
    >>> first_lines(path), last_line(path)
    (['one', 'two'], 'two')
    """
    with path.open("rb") as file:
        packed = file.read(len(GZIP_START)) == GZIP_START
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            content = file.read(WINDOW)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path.name} is not a complete gzip file ({error})") from None
    text = _decoded(content, path)
    lines = text.splitlines()
    # The last line of the window may be cut.
    return lines[:-1] if len(content) == WINDOW and len(lines) > 1 else lines


def last_line(path: Path) -> str | None:
    """Return the last line that is not empty, or None if the file is compressed and too large to unpack here."""
    with path.open("rb") as file:
        if file.read(len(GZIP_START)) == GZIP_START:
            return _last_line_unpacked(path)
        file.seek(max(0, file.seek(0, os.SEEK_END) - WINDOW))
        return _last(file.read())


def _last_line_unpacked(path: Path) -> str | None:
    if path.stat().st_size > SMALL:
        return None
    end = b""
    try:
        with gzip.open(path) as file:
            while block := file.read(1 << 20):
                end = (end + block)[-WINDOW:]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path.name} is not a complete gzip file ({error})") from None
    return _last(end)


def _last(content: bytes) -> str:
    lines = [line for line in content.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(content) == WINDOW and error.start > len(content) - 4:  # a character that the window cuts
            return content[: error.start].decode("utf-8-sig")
        raise InputError(f"{path.name} is not UTF-8 text") from None


def array_shapes(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[np.generic]]]:
    """Return shape and dtype of every array of an npz file.  Only the headers are read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.npz"
    >>> np.savez(path, scores=np.zeros((3, 2)))
    >>> array_shapes(path)["scores"][0]
    (3, 2)
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name for name in archive.namelist() if name.endswith(".npy")]
            return {name.removesuffix(".npy"): _header(archive.open(name)) for name in members}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path.name} is not a complete npz file ({error})") from None


def npy_shape(path: Path) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    """Return shape and dtype of an npy file, or raise an error if it is cut."""
    try:
        with path.open("rb") as file:
            shape, dtype = _header(file, close=False)
            start = file.tell()
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path.name} is not an npy file ({error})") from None
    expected = start + int(np.prod(shape)) * dtype.itemsize
    if not dtype.hasobject and path.stat().st_size < expected:
        raise InputError(f"{path.name} is cut: it has {path.stat().st_size} of {expected} bytes")
    return shape, dtype


def _header(file: Any, *, close: bool = True) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
    finally:
        if close:
            file.close()
    return shape, dtype
