"""Results of long computations on disk, reused as long as nothing they depend on has changed.

Each result is one npz file without pickle, and one JSON file with its fingerprint.  If the
fingerprint differs, a file is damaged or the two do not match, the result is computed again.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import repair
from repair._utils.arrays import AnyArray
from repair._utils.atomic_write import write_atomically
from repair._utils.json import json_text
from repair_bench.data.packing import npz_bytes

__all__ = ["Cache", "Made", "file_marks", "marks_of"]

Made = tuple[dict[str, AnyArray], dict[str, Any]]


class Cache:
    """A cache of results in a folder.

    Parameters
    ----------
    folder : path

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from repair_bench.harness.cache import Cache
    >>> cache = Cache(tempfile.mkdtemp())
    >>> def make():
    ...     return {"squares": np.arange(3) ** 2}, {"seconds": 1.0}
    >>> cache.get("squares", {"n": 3}, make)[0]["squares"].tolist(), cache.last
    ([0, 1, 4], 'computed')
    >>> cache.get("squares", {"n": 3}, make)[1], cache.last
    ({'seconds': 1.0}, 'from the cache')
    """

    def __init__(self, folder: "str | os.PathLike[str]") -> None:
        self.folder = Path(folder)
        self.last = ""

    def get(self, name: str, fingerprint: Mapping[str, Any], make: Callable[[], Made]) -> Made:
        """Return the arrays and the account stored under `name`, or compute them with `make`.

        Parameters
        ----------
        name : str
            Path below the folder, without a file ending.
        fingerprint : mapping
            Everything the result depends on, as JSON values.  The version of the library is added.
        make : callable
            Function that returns arrays by name, and an account of JSON values.
        """
        path = self.folder / name
        wanted = json.loads(json.dumps({"version": repair.__version__, **fingerprint}))
        stored = _read(path, wanted)
        if stored is not None:
            self.last = "from the cache"
            return stored
        made = make()
        _write(path, wanted, *made)
        self.last = "computed"  # set last, because `make` may itself use this cache
        return made


def _write(path: Path, fingerprint: dict[str, Any], arrays: dict[str, AnyArray], account: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = npz_bytes(arrays)
    write_atomically(path.with_name(path.name + ".npz"), content)
    # Written last and with the digest, so an interrupt between the two files is noticed.
    record = {"fingerprint": fingerprint, "sha256": hashlib.sha256(content).hexdigest(), "account": account}
    write_atomically(path.with_name(path.name + ".json"), json_text(record).encode())


def _read(path: Path, fingerprint: dict[str, Any]) -> Made | None:
    try:
        record = json.loads(path.with_name(path.name + ".json").read_bytes())
        content = path.with_name(path.name + ".npz").read_bytes()
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(record, dict) or record.get("fingerprint") != fingerprint:
        return None
    if record.get("sha256") != hashlib.sha256(content).hexdigest():
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}, record["account"]
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        return None


def file_marks(folders: Iterable[Path]) -> dict[str, str]:
    """Return a digest of every data file by name.

    The modification time does not count, so a copy of the data on another day or another machine is the same data.

    Examples
    --------
    >>> from repair_bench.harness.cache import file_marks
    >>> file_marks([])
    {}
    """
    files = [(folder, path) for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    return marks_of([(folder, path) for folder, path in files if not path.name.startswith((".", "README"))])


def marks_of(files: Iterable[tuple[Path, Path]]) -> dict[str, str]:
    """Return a digest of each file, by its path inside its folder.

    Examples
    --------
    >>> from repair_bench.harness.cache import marks_of
    >>> marks_of([])
    {}
    """
    marks = {}
    for folder, path in files:
        status = path.stat()
        name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
        marks[name] = _digest(path, status.st_size, status.st_mtime_ns)
    return marks


@cache
def _digest(path: Path, size: int, modified: int) -> str:
    """Return the digest of a file.  It is read again only if its size or its time has changed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]
