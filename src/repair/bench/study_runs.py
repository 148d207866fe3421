"""Studies through the same door as the benchmarks: cached whole, kept as JSON.

The synthetic study is one; the others are in ``repair.bench.studies``, where a version has that
folder, which offers ``STUDIES``, ``run_study(name, data=, quick=, vectors=, progress=)`` and ``section(record)``.
"""

import json
import platform
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import repair
from repair.bench.cache import Cache, Made, file_marks
from repair.bench.registry import get
from repair.bench.stages import EMBEDDINGS, code_mark, library_versions
from repair.bench.synthetic_study import QUICK, run_study
from repair.errors import InputError, MissingExtraError
from repair.files import write_atomically

__all__ = ["SYNTHETIC", "find_study", "list_studies", "run_cached_study", "study_module"]

SYNTHETIC = "synthetic"
SYNTHETIC_TITLE = "The paper's synthetic experiments, with the oracle"
#: Code that no study depends on.
WITHOUT = ("cli/*", "demo/*", "io/*", "bench/report/*", "bench/many_runs.py")
#: The benchmarks whose data the other studies read.
READ = ("phenopackets", "rarebench", "rarebench_source")


def study_module() -> Any:
    """Return ``repair.bench.studies``, or None where this version has no such folder."""
    return import_module("repair.bench.studies") if find_spec("repair.bench.studies") is not None else None


def list_studies(data: "str | PathLike[str] | None" = None) -> list[tuple[str, str, str]]:
    """Return name, title and state of every study.

    Examples
    --------
    >>> from repair.bench.study_runs import list_studies
    >>> list_studies()[0][::2]
    ('synthetic', 'ready')
    """
    module = study_module()
    found = [(SYNTHETIC, SYNTHETIC_TITLE, "ready")]
    for name in () if module is None else module.STUDIES:
        title = getattr(import_module(f"{module.__name__}.{name}"), "TITLE", name)
        try:
            find_study(name, data)
            found.append((name, f"Study: {title}", "ready"))
        except (InputError, MissingExtraError) as error:
            found.append((name, f"Study: {title}", f"data not here: {error}"))
    return found


def find_study(name: str, data: "str | PathLike[str] | None" = None) -> dict[str, list[int]]:
    """Return the marks of the files that a study reads, or refuse where they are not here."""
    if name == SYNTHETIC:
        return {}
    return file_marks({folder: None for one in READ for folder in get(one).find(data).values()})


def run_cached_study(
    name: str,
    *,
    cache: "str | PathLike[str]",
    data: "str | PathLike[str] | None" = None,
    out: "str | PathLike[str] | None" = None,
    quick: bool = False,
    progress: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Run a study, or take its record from the cache.

    Parameters
    ----------
    name : str
    cache : path
    data : path, optional
        The folder with the data sets, instead of ``$REPAIR_DATA``.
    out : path, optional
        Folder for ``NAME.json``.
    quick : bool, default False
        A small one: does it run?
    progress : callable, optional
        Called with a line of text after each step.

    Returns
    -------
    dict
        With the key ``study``; the synthetic one's Markdown is its ``document``.
    """
    say = progress or (lambda line: None)
    kept = Cache(cache)

    def make() -> Made:
        start = time.process_time()
        found = _synthetic(quick) if name == SYNTHETIC else _other(name, data, quick, say, kept.folder / EMBEDDINGS)
        about = {
            "library": "repair",
            "version": repair.__version__,
            "versions": {"python": platform.python_version(), **library_versions()},
            "settings": {"quick": quick},
        }
        return {}, {**about, **found, "seconds": time.process_time() - start}

    code = code_mark((".",), (*WITHOUT, "bench/sets/*", "bench/studies/*") if name == SYNTHETIC else WITHOUT)
    mark = {"library": code, "libraries": library_versions(), "quick": quick, "files": find_study(name, data)}
    _, record = kept.get(f"studies/{name}{'-quick' if quick else ''}", mark, make)
    say(f"{name}: study {kept.last}")
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(folder / f"{name}.json", text.encode())
    return record


def _synthetic(quick: bool) -> dict[str, Any]:
    return {"study": SYNTHETIC, "title": SYNTHETIC_TITLE, "document": run_study(QUICK if quick else None)}


def _other(
    name: str, data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path
) -> dict[str, Any]:
    record: dict[str, Any] = study_module().run_study(
        name, data=data, quick=quick, vectors=vectors, progress=lambda line: say(f"  {line}")
    )
    return record
