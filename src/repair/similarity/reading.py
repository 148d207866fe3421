"""Reading the text files that similarities are built from."""

import gzip
import io
import zlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from repair.errors import InputError

__all__ = ["file_of", "read_text"]

GZIP_START = b"\x1f\x8b"


def read_text(path: "str | PathLike[str]", file_name: str = "") -> str:
    """Return the content of a UTF-8 text file, gzip-compressed or not.

    Parameters
    ----------
    path : path
        The file, or the folder that contains `file_name`.
    file_name : str, default ''
        Name of the file to read if `path` is a folder.

    Returns
    -------
    str

    Raises
    ------
    OSError
        If the file cannot be opened.
    InputError
        If the content is not UTF-8 text, or a compressed file is damaged or incomplete.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt.gz").write_bytes(gzip.compress(b"plain text"))
    >>> read_text(folder, "a.txt.gz")
    'plain text'
    """
    file = Path(path)
    if file_name and file.is_dir():
        file /= file_name
    content = file.read_bytes()
    try:
        if content.startswith(GZIP_START):
            content = gzip.decompress(content)
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read()
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"{file} cannot be read as text ({error}); check that the download is complete") from None


def file_of(path: "str | PathLike[str]", names: Sequence[str]) -> Path:
    """Return `path` or, if it is a folder, the first of the named files in it, gzip-compressed or not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "b.txt").write_text("plain text")
    >>> file_of(folder, ("a.txt", "b.txt")).name
    'b.txt'
    """
    place = Path(path)
    if not place.is_dir():
        return place
    found = (place / f"{name}{end}" for name in names for end in (".gz", ""))
    # Without any, the first name is returned, and opening it says that there is no such file.
    return next((file for file in found if file.is_file()), place / f"{names[0]}.gz")
