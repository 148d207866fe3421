"""Reading a folder of results."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from repair.bench.registry import benchmarks
from repair.errors import InputError

__all__ = ["Results", "read_results"]


@dataclass(frozen=True)
class Results:
    """What a folder holds.

    Attributes
    ----------
    benchmarks : dict from name to record
        In the order of the list of benchmarks.
    studies : dict from name to record
        Records that are no benchmark's: they have the key ``study``.
    """

    benchmarks: dict[str, dict[str, Any]]
    studies: dict[str, dict[str, Any]]


def read_results(folder: "str | PathLike[str]", names: Iterable[str] = ()) -> Results:
    """Read every JSON document of a run in a folder, or those of some benchmarks only.

    Parameters
    ----------
    folder : path
    names : iterable of str, optional
        Benchmarks; one whose result is not there is refused.
    """
    place = Path(folder)
    paths = sorted(place.glob("*.json")) if place.is_dir() else []
    if not paths:
        raise InputError(f"{place} holds no results; make some with `repair bench run NAME --out {place}`")
    found, studies = {}, {}
    for path in paths:
        record = _read(path)
        if "study" in record:
            studies[str(record["study"])] = record
        elif "benchmark" in record:
            found[str(record["benchmark"])] = record
    order = [one.name for one in benchmarks()]
    ordered = {name: found[name] for name in sorted(found, key=lambda one: (_place(one, order), one))}
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in ordered:
            raise InputError(f"{place} has no result of {name!r}; there are {', '.join(ordered) or 'none'}")
    return Results({name: ordered[name] for name in wanted or ordered}, studies)


def _place(name: str, order: list[str]) -> int:
    return order.index(name) if name in order else len(order)


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); run that benchmark again") from None
    if not isinstance(record, dict):
        raise InputError(f"{path} is no result of a run; take it out of the folder")
    return record
