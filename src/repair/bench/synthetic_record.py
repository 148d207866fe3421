"""The synthetic study through the same door as the benchmarks: cached whole, kept as JSON."""

import json
import platform
import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import repair
from repair.bench.cache import Cache, Made
from repair.bench.stages import code_mark, library_versions
from repair.bench.synthetic_study import QUICK, run_study
from repair.files import write_atomically

__all__ = ["NAME", "TITLE", "run_synthetic"]

NAME = "synthetic"
TITLE = "The paper's synthetic experiments, with the oracle"
#: Code that the study does not depend on.
WITHOUT = ("cli/*", "demo/*", "io/*", "bench/report/*", "bench/studies/*", "bench/sets/*", "bench/many_runs.py")


def run_synthetic(
    *,
    cache: "str | PathLike[str]",
    out: "str | PathLike[str] | None" = None,
    quick: bool = False,
    progress: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Run the synthetic study, or take it from the cache.

    Parameters
    ----------
    cache : path
    out : path, optional
        Folder for ``synthetic.json`` and ``synthetic.md``.
    quick : bool, default False
        Fewer seeds and readings: about twenty seconds.
    progress : callable, optional
        Called with a line of text at the end.

    Returns
    -------
    dict
        With the key ``study``; the Markdown is its ``document``.
    """
    kept = Cache(cache)

    def make() -> Made:
        start = time.perf_counter()
        document = run_study(QUICK if quick else None)
        record = {
            "study": NAME,
            "title": TITLE,
            "library": "repair",
            "version": repair.__version__,
            "versions": {"python": platform.python_version(), **library_versions()},
            "settings": {"quick": quick},
            "seconds": time.perf_counter() - start,
            "document": document,
        }
        return {}, record

    mark = {"library": code_mark((".",), WITHOUT), "libraries": library_versions(), "quick": quick}
    _, record = kept.get(f"{NAME}/study{'-quick' if quick else ''}", mark, make)
    if progress is not None:
        progress(f"{NAME}: study {kept.last}")
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(folder / f"{NAME}.json", text.encode())
        write_atomically(folder / f"{NAME}.md", record["document"].encode())
    return record
