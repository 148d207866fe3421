"""Writing files atomically: a reader sees the old content or the new content, never a mixture."""

import contextlib
import errno
import os
import secrets
import stat
from os import PathLike
from pathlib import Path

from repair._utils.signals import at_sudden_end

__all__ = ["write_atomically"]


def write_atomically(path: "str | PathLike[str]", content: bytes) -> None:
    """Write to a temporary file in the folder of `path`, sync it, and rename it to `path`.

    On any failure, including an interrupt or a signal, the temporary file is removed and `path` is unchanged.
    """
    target = Path(os.path.realpath(path))  # write to the target of a link instead of replacing the link
    if target.exists() and not target.is_file():  # renaming onto a device or a pipe would replace it
        raise OSError(errno.EINVAL, "this is not a regular file; choose another path to write to", os.fspath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    with at_sudden_end(lambda: _remove(temporary)):  # registered before the file is created
        try:
            _fill(temporary, content, target)
            os.replace(temporary, target)
        except BaseException as error:
            _remove(temporary)
            if isinstance(error, OSError):
                error.filename, error.filename2 = os.fspath(path), None  # report the user's file, not the temporary one
            raise
    _sync_folder(target.parent)


def _fill(temporary: Path, content: bytes, target: Path) -> None:
    """Write and sync the temporary file, with the permissions of the file that it will replace."""
    # O_EXCL fails if somebody else has created the file.  The umask restricts 0o666.
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as stream:
        if target.exists():
            # chmod by path is safe here because nobody else knows it.  `os.fchmod` needs Python 3.13 on Windows.
            os.chmod(temporary, target.stat().st_mode & 0o7777)
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _remove(temporary: Path) -> None:
    """Remove the temporary file.  Windows does not remove read-only files, so it is made writable there first."""
    with contextlib.suppress(OSError):
        if os.name == "nt":
            os.chmod(temporary, stat.S_IWRITE)
        os.unlink(temporary)


def _sync_folder(folder: Path) -> None:
    """Make the rename durable, on systems that can sync a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
