"""Writing files so that a reader sees the old content or the new, never half of it."""

import contextlib
import errno
import os
import secrets
from os import PathLike
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: "str | PathLike[str]", content: bytes) -> None:
    """Write to a temporary file beside `path`, sync it, and rename it into place.

    On any failure, an interrupt included, the temporary file is removed and `path` is untouched.
    """
    target = Path(os.path.realpath(path))  # a link is written through, not replaced
    if target.exists() and not target.is_file():  # renaming onto a device or a pipe would replace it
        raise OSError(errno.EINVAL, "this is no regular file; name another place to write to", os.fspath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        # O_EXCL: never write into a file that somebody else made; 0o666 is narrowed by the umask.
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as stream:
            if target.exists():
                os.fchmod(stream.fileno(), target.stat().st_mode & 0o7777)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename, error.filename2 = os.fspath(path), None  # name the user's file, not ours
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system allows a folder to be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
