"""Small studies on the benchmarks' data: one file each, from data to a record and from a record to Markdown."""

import json
from collections.abc import Callable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from repair.errors import InputError
from repair.files import write_atomically

__all__ = ["STUDIES", "run_study", "section"]

#: One file each in this folder, with ``TITLE``, ``run(data, quick, say, vectors)`` and ``body(record)``.
STUDIES = ("hpo_ablation", "case_study", "rarebench_subsets", "term_ablation", "vector_ablation")


def run_study(
    name: str,
    *,
    data: "str | PathLike[str] | None" = None,
    out: "str | PathLike[str] | None" = None,
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
    out : path, optional
        Folder for ``NAME.json``, which is made if missing.
    quick : bool, default False
        Few rows and resamples: does it run?
    vectors : path, optional
        Folder in which vectors of sentences are kept from one run to the next.
    progress : callable, optional
        Called with a line of text after each step.

    Returns
    -------
    dict
        The content of ``NAME.json``; `section` makes text of it.
    """
    study = _study(name)
    found = study.run(data, quick, progress or (lambda line: None), None if vectors is None else Path(vectors))
    record: dict[str, Any] = {"study": name, "title": study.TITLE, **found}
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        document = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(folder / f"{name}.json", document.encode())
    return record


def section(record: dict[str, Any]) -> str:
    """Return a section of a Markdown document: heading, how to run it, tables, and what they say of the paper."""
    name = record["study"]
    body: str = _study(name).body(record)
    return f"## {record['title']}\n\n`repair bench run {name}`\n\n{body}\n"


def _study(name: str) -> Any:
    if name not in STUDIES:
        raise InputError(f"there is no study {name!r}; choose from {', '.join(STUDIES)}")
    return import_module(f"repair.bench.studies.{name}")
