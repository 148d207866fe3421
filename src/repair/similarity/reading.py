"""Reading the text files that similarities are built from."""

import gzip
import io
import zlib
from os import PathLike
from pathlib import Path

from repair.errors import InputError

__all__ = ["read_text"]

GZIP_START = b"\x1f\x8b"


def read_text(path: "str | PathLike[str]", file_name: str = "") -> str:
    """Return a UTF-8 text file's content, gzip-compressed or not.

    Parameters
    ----------
    path : path
        The file, or the folder that holds `file_name`.  What cannot be opened is an `OSError`.
    file_name : str, default ''
        The file to take where `path` is a folder.

    Returns
    -------
    str

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt.gz").write_bytes(gzip.compress(b"plain text"))
    >>> read_text(folder, "a.txt.gz")
    'plain text'
    """
    place = Path(path)
    if file_name and place.is_dir():
        place /= file_name
    content = place.read_bytes()
    try:
        if content.startswith(GZIP_START):
            content = gzip.decompress(content)
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read()
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"{place} cannot be read as text ({error}); is the download complete?") from None
