"""Results of long computations on disk: used again while nothing they came from has changed.

Each result is one npz file without pickle and one JSON file beside it with its fingerprint.  A
fingerprint that differs, a damaged file or a half-written pair means: compute again.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import repair
from repair.arrays import AnyArray
from repair.bench.packing import npz_bytes
from repair.files import write_atomically

__all__ = ["Cache", "Made", "file_marks"]

Made = tuple[dict[str, AnyArray], dict[str, Any]]


class Cache:
    """A folder of results.

    Parameters
    ----------
    folder : path

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from repair.bench.cache import Cache
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
        """Return the arrays and the account called `name`, computed by `make` unless they are there.

        Parameters
        ----------
        name : str
            Path below the folder, without an ending.
        fingerprint : mapping
            Everything the result depends on, as JSON can write it; the library's version is added.
        make : callable
            Returns arrays by name, and a small account as JSON can write it.
        """
        place = self.folder / name
        wanted = json.loads(json.dumps({"version": repair.__version__, **fingerprint}))
        found = _read(place, wanted)
        if found is not None:
            self.last = "from the cache"
            return found
        made = make()
        _write(place, wanted, *made)
        self.last = "computed"  # now, because `make` may have asked this cache for what it needs
        return made


def _write(place: Path, fingerprint: dict[str, Any], arrays: dict[str, AnyArray], account: dict[str, Any]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    content = npz_bytes(arrays)
    write_atomically(place.with_name(place.name + ".npz"), content)
    # Last, and with the digest: an interrupt between the two leaves a pair that does not match.
    record = {"fingerprint": fingerprint, "sha256": hashlib.sha256(content).hexdigest(), "account": account}
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(place.with_name(place.name + ".json"), text.encode())


def _read(place: Path, fingerprint: dict[str, Any]) -> Made | None:
    try:
        record = json.loads(place.with_name(place.name + ".json").read_bytes())
        content = place.with_name(place.name + ".npz").read_bytes()
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


def file_marks(folders: Iterable[Path]) -> dict[str, list[int]]:
    """Return the size and time of change of every data file, by name: cheap, and changes with the content.

    Examples
    --------
    >>> from repair.bench.cache import file_marks
    >>> file_marks([])
    {}
    """
    marks = {}
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.is_file() and not path.name.startswith((".", "README")):
                status = path.stat()
                marks[f"{folder.name}/{path.name}"] = [status.st_size, status.st_mtime_ns]
    return marks
