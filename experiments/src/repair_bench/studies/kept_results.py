"""The cache as studies use it: base scores of the benchmarks, and parts of a study that a later run can reuse."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from repair_bench.bases.base_scores import BaseScores
from repair_bench.harness.benchmark import Benchmark
from repair_bench.harness.cache import Cache, file_marks
from repair_bench.harness.stages import ALL_CODE, Stages, code_mark, library_versions
from repair_bench.studies.parts import scored

__all__ = ["cached_base_scores", "keep", "kept_folder"]

#: Code that the studies of `auto` do not depend on.
WITHOUT = (
    "repair/cli/*",
    "repair/report/*",
    "repair/io/*",
    "repair_bench/command.py",
    "repair_bench/report/*",
    "repair_bench/rivals/*",
    "repair_bench/running/*",
    "repair_bench/synthetic/*",
)


def kept_folder(vectors: Path | None) -> Path | None:
    """Return the folder of the cache, which is the parent of the folder of sentence vectors."""
    return None if vectors is None else vectors.parent


def cached_base_scores(
    benchmark: Benchmark,
    data: "str | PathLike[str] | None",
    quick: bool,
    say: Callable[[str], object],
    folder: Path | None,
) -> BaseScores:
    """Return the base scores of a benchmark, from the cache in `folder` if it is given."""
    if folder is None:
        return scored(benchmark.name, data, quick=quick).base
    stages = Stages(benchmark, benchmark.find(data), Cache(folder), benchmark.seed, quick, say)
    return stages.base_scores()[0]


def keep(
    name: str, settings: dict[str, Any], files: list[Path], folder: Path | None, make: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Return a part of a study, computed by `make` unless the cache has it for the same code, files and settings.

    An interrupted study thus continues where it stopped.

    Parameters
    ----------
    name : str
        Path below the folder ``studies`` of the cache.
    settings : dict
        All that `make` depends on besides the code and the files, as JSON values.
    files : list of Path
        The data folders.
    folder : Path or None
        The folder of the cache.  With None, nothing is kept.
    make : callable
        Function that returns JSON values.
    """
    if folder is None:
        return make()
    mark = {
        "code": code_mark(ALL_CODE, WITHOUT),
        "libraries": library_versions(),
        "files": file_marks(files),
        **settings,
    }
    return Cache(folder).get(f"studies/{name}", mark, lambda: ({}, make()))[1]
