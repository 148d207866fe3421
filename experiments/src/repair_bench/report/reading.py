"""Reading the results in a folder."""

import gzip
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from repair.errors import InputError
from repair_bench.sets.registry import benchmarks

__all__ = ["Results", "read_results"]


@dataclass(frozen=True)
class Results:
    """The results in a folder.

    Attributes
    ----------
    benchmarks : dict from name to record
        Results of benchmarks, in the order of `repair bench list`.
    studies : dict from name to record
        Results of studies, which have the key ``study``.
    """

    benchmarks: dict[str, dict[str, Any]]
    studies: dict[str, dict[str, Any]]


def read_results(folder: "str | PathLike[str]", names: Iterable[str] = ()) -> Results:
    """Read the JSON files of all runs in a folder, or those of some benchmarks only.

    Parameters
    ----------
    folder : path
        Folder with files ``NAME.json``, or ``NAME.json.gz`` to save space.
    names : iterable of str, optional
        Names of benchmarks.  It is an error if the folder has no result of one of them.
    """
    given = Path(folder)
    paths = sorted([*given.glob("*.json"), *given.glob("*.json.gz")]) if given.is_dir() else []
    if not paths:
        raise InputError(f"{given} has no results; make some with `repair bench run NAME --out {given}`")
    unordered, studies = {}, {}
    for path in paths:
        record = _read(path)
        if "study" in record:
            studies[str(record["study"])] = record
        elif "benchmark" in record:
            unordered[str(record["benchmark"])] = record
    order = [benchmark.name for benchmark in benchmarks()]
    ordered = {name: unordered[name] for name in sorted(unordered, key=lambda name: (_rank(name, order), name))}
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in ordered:
            raise InputError(f"{given} has no result of {name!r}; there are {', '.join(ordered) or 'none'}")
    return Results({name: ordered[name] for name in wanted or ordered}, studies)


def _rank(name: str, order: list[str]) -> int:
    return order.index(name) if name in order else len(order)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
        record = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is not JSON ({error}); run that benchmark again") from None
    if not isinstance(record, dict):
        raise InputError(f"{path} is not the result of a run; remove it from the folder")
    return record
