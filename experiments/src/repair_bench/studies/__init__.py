"""Small studies on the data of the benchmarks.  Each file computes one record and turns it into Markdown."""

from collections.abc import Callable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from repair.errors import InputError
from repair_bench.sets.registry import get

__all__ = ["STUDIES", "run_study", "study_folders", "study_page", "study_title"]

#: One file per study in this folder.  It defines ``TITLE``, ``SETS`` (the benchmarks whose data it reads),
#: ``NEEDS_ALL_SETS``, ``run(data, quick, say, vectors)`` and ``body(record)``.
STUDIES = (
    "hpo_ablation",
    "case_study",
    "rarebench_subsets",
    "term_ablation",
    "vector_ablation",
    "learning_curve",
    "auto_simulation",
)


def run_study(
    name: str,
    *,
    data: "str | PathLike[str] | None" = None,
    quick: bool = False,
    vectors: "str | PathLike[str] | None" = None,
    progress: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Run one study.

    Parameters
    ----------
    name : str
        One of `STUDIES`.
    data : path, optional
        The folder with the data sets, instead of ``$REPAIR_DATA``.
    quick : bool, default False
        Use few rows and resamples, only to see whether the study runs.
    vectors : path, optional
        Folder in which sentence vectors are kept for later runs.
    progress : callable, optional
        Called with a line of text after each step.

    Returns
    -------
    dict
        The record, from which `study_page` makes a page.
    """
    study = _study(name)
    results = study.run(data, quick, progress or (lambda line: None), None if vectors is None else Path(vectors))
    return {"study": name, "title": study.TITLE, **results}


def study_title(name: str) -> str:
    """Return the title of a study."""
    return str(_study(name).TITLE)


def study_folders(name: str, data: "str | PathLike[str] | None" = None) -> list[Path]:
    """Return the data folders that a study reads, or raise an error if it cannot run without a missing one."""
    study = _study(name)
    benchmarks = [get(one) for one in study.SETS]
    ready = [one for one in benchmarks if one.state(data) == "ready"]
    needed = benchmarks if study.NEEDS_ALL_SETS or not ready else ready
    return list(dict.fromkeys(folder for one in needed for folder in one.find(data).values()))


def study_page(record: dict[str, Any]) -> str:
    """Return a page of Markdown: heading, command, tables, and a comparison with the paper."""
    if "document" in record:  # the synthetic study writes its own page
        return str(record["document"])
    name = record["study"]
    body: str = _study(name).body(record)
    return f"# {record['title']}\n\n`repair bench run {name}`\n\n{body}\n"


def _study(name: str) -> Any:
    if name not in STUDIES:
        raise InputError(f"there is no study {name!r}; choose from {', '.join(STUDIES)}")
    return import_module(f"repair_bench.studies.{name}")
