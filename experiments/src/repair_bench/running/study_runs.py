"""Running a study.  Its record is cached and written as JSON, like that of a benchmark."""

import platform
import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import repair
from repair._utils.atomic_write import write_atomically
from repair._utils.json import json_text
from repair.errors import InputError, MissingExtraError
from repair_bench.harness.cache import Cache, Made, file_marks
from repair_bench.harness.stages import ALL_CODE, EMBEDDINGS, code_mark, library_versions
from repair_bench.studies import STUDIES, run_study, study_folders, study_title
from repair_bench.synthetic.study import QUICK, run_synthetic_study

__all__ = ["SYNTHETIC", "find_study", "list_studies", "run_cached_study"]

SYNTHETIC = "synthetic"
SYNTHETIC_TITLE = "The paper's synthetic experiments, with the oracle"
#: Code that no study depends on: changing it does not invalidate their cache.
WITHOUT = (
    "repair/cli/*",
    "repair/report/*",
    "repair/io/*",
    "repair_bench/command.py",
    "repair_bench/report/*",
    "repair_bench/running/many_runs.py",
)


def list_studies(data: "str | PathLike[str] | None" = None) -> list[tuple[str, str, str]]:
    """Return the name, title and state of every study.

    Examples
    --------
    >>> from repair_bench.running.study_runs import list_studies
    >>> list_studies()[0][::2]
    ('synthetic', 'ready')
    """
    found = [(SYNTHETIC, SYNTHETIC_TITLE, "ready")]
    for name in STUDIES:
        title = study_title(name)
        try:
            find_study(name, data)
            found.append((name, f"Study: {title}", "ready"))
        except (InputError, MissingExtraError) as error:
            found.append((name, f"Study: {title}", f"data not here: {error}"))
    return found


def find_study(name: str, data: "str | PathLike[str] | None" = None) -> dict[str, str]:
    """Return the marks of the files that a study reads, or raise an error if files are missing."""
    if name == SYNTHETIC:
        return {}
    return file_marks(study_folders(name, data))


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
        Name of the study.
    cache : path
        Folder of the cache.
    data : path, optional
        The folder with the data sets, instead of ``$REPAIR_DATA``.
    out : path, optional
        Folder for ``NAME.json``.
    quick : bool, default False
        Run a small version, only to see whether the study runs.
    progress : callable, optional
        Called with a line of text after each step.

    Returns
    -------
    dict
        The record, with the key ``study``.  The synthetic study has its Markdown under ``document``.
    """
    say = progress or (lambda line: None)
    kept = Cache(cache)

    def make() -> Made:
        start = time.process_time()
        results = _synthetic(quick) if name == SYNTHETIC else _other(name, data, quick, say, kept.folder / EMBEDDINGS)
        about = {
            "library": "repair",
            "version": repair.__version__,
            "versions": {"python": platform.python_version(), **library_versions()},
            "settings": {"quick": quick},
        }
        return {}, {**about, **results, "seconds": time.process_time() - start}

    without = (*WITHOUT, "repair_bench/sets/*", "repair_bench/studies/*") if name == SYNTHETIC else WITHOUT
    code = code_mark(ALL_CODE, without)
    mark = {"library": code, "libraries": library_versions(), "quick": quick, "files": find_study(name, data)}
    _, record = kept.get(f"studies/{name}{'-quick' if quick else ''}", mark, make)
    say(f"{name}: study {kept.last}")
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{name}.json", json_text(record).encode())
    return record


def _synthetic(quick: bool) -> dict[str, Any]:
    return {"study": SYNTHETIC, "title": SYNTHETIC_TITLE, "document": run_synthetic_study(QUICK if quick else None)}


def _other(
    name: str, data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path
) -> dict[str, Any]:
    return run_study(name, data=data, quick=quick, vectors=vectors, progress=lambda line: say(f"  {line}"))
