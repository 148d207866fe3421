"""Arrays of npz and npy files.  Nothing is unpickled."""

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.errors import InputError
from repair_bench.data.peek import array_shapes, npy_shape

__all__ = ["check_labels", "read_npy", "read_npz"]


def read_npz(path: Path, names: Sequence[str]) -> dict[str, AnyArray]:
    """Return some arrays of an npz file.

    Parameters
    ----------
    path : Path
    names : sequence of str
        Names that end in "?" may be missing.

    Raises
    ------
    InputError
        If an array is missing, is not numbers or text, or the file is damaged.
    """
    shapes = array_shapes(path)
    wanted = [name.removesuffix("?") for name in names]
    missing = [name for name in names if not name.endswith("?") and name not in shapes]
    if missing:
        raise InputError(f"{path} has no array {missing[0]!r}, only {', '.join(shapes) or 'nothing'}")
    for name in wanted:
        if name in shapes and shapes[name][1].hasobject:
            raise InputError(
                f"{name} of {path} is an array of Python objects, which only pickle can read. If you trust the file, "
                f"save it again with {name} as text or numbers, for example: a = dict(np.load(F, allow_pickle=True)); "
                f"a[{name!r}] = a[{name!r}].astype(str); np.savez(F, **a)"
            )
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in wanted if name in shapes}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}); check that the download is complete") from error


def read_npy(path: Path) -> AnyArray:
    """Return the array of an npy file of numbers."""
    _, dtype = npy_shape(path)
    if dtype.hasobject:
        raise InputError(f"{path} is an array of Python objects; save it again as numbers: np.save(F, a.astype(float))")
    try:
        array: AnyArray = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path} cannot be read ({error}); check that the download is complete") from error
    return array


def check_labels(labels: AnyArray, scores: AnyArray, where: str) -> IntArray:
    """Return labels as class ids, or raise an error if they do not fit to the scores."""
    if labels.shape != (len(scores),):
        raise InputError(f"{where}: there are {len(scores)} rows of scores, but labels have shape {labels.shape}")
    ids = labels.astype(np.int64)
    if (ids != labels).any() or ids.min(initial=0) < 0 or ids.max(initial=0) >= scores.shape[1]:
        row = int(np.argmax((ids != labels) | (ids < 0) | (ids >= scores.shape[1])))
        raise InputError(f"{where}: label {row} is {labels[row]}; there are {scores.shape[1]} classes")
    return ids.astype(np.int32)
