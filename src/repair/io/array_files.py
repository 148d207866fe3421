"""Reading arrays from ``.npz`` and ``.npy`` files.  Declared sizes are checked, and pickled data is never loaded."""

import math
import zipfile
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError
from repair.io.formats import Path, check_regular, parsing, refuse_inflation

__all__ = ["read_archive", "read_array"]

#: Floats, integers, booleans and text.  Other dtypes need pickle, or are there by mistake.
USABLE_KINDS = "fiubUS"


def read_array(path: Path) -> AnyArray:
    """Return the array of a ``.npy`` file, memory-mapped instead of copied."""
    check_regular(path)
    with parsing("npy"):
        with open(path, "rb") as stream:
            shape, dtype = _header(stream)
        _check_kind(dtype, "the array")
        if 0 in shape:
            return np.empty(shape, dtype)  # an empty array cannot be memory-mapped
        return np.lib.format.open_memmap(path, mode="r")


def read_archive(path: Path) -> dict[str, AnyArray]:
    """Return the arrays of a ``.npz`` file by name."""
    check_regular(path)
    arrays: dict[str, AnyArray] = {}
    with parsing("npz"), zipfile.ZipFile(path) as archive:
        refuse_inflation(
            sum(entry.file_size for entry in archive.infolist()),
            sum(entry.compress_size for entry in archive.infolist()),
        )
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if name in arrays:
                raise InputError(f"the file contains the array {name!r} twice; keep one of them")
            with archive.open(entry) as stream:
                shape, dtype = _header(stream)
            _check_kind(dtype, f"array {name!r}")
            # numpy allocates what the header declares before it reads, so a few bytes could claim terabytes.
            if math.prod(shape) * dtype.itemsize > entry.file_size:
                raise InputError(
                    f"array {name!r} declares shape {shape}, which is more than the file contains; the file is damaged"
                )
            with archive.open(entry) as stream:
                arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
    return arrays


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise InputError(f"the array has format version {version}; save it again with numpy.savez")
    if any(extent < 0 for extent in shape):
        raise InputError(f"the array declares shape {shape}; the file is damaged")
    return shape, dtype


def _check_kind(dtype: np.dtype[Any], what: str) -> None:
    if dtype.kind == "O":
        raise InputError(f"{what} contains Python objects, which are never loaded; save numbers or text (dtype str)")
    if dtype.kind not in USABLE_KINDS:
        raise InputError(f"{what} has dtype {dtype}; save numbers or text")
