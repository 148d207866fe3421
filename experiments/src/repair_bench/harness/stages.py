"""The three stages of a run, each cached: data, base scores, and the fit and evaluation of every method."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import repair
from repair._utils.arrays import AnyArray
from repair.rerankers.rivals.rival import ScoreRival
from repair_bench.bases.base_scores import BaseScores
from repair_bench.data.packing import pack, unpack
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark
from repair_bench.harness.cache import Cache, Made
from repair_bench.harness.methods import METHODS
from repair_bench.harness.one_method import Say, measure_method

__all__ = ["Outcome", "Stages", "code_mark", "library_versions", "one_thread"]

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "lightgbm", "torch", "transformers")
#: The packages whose code affects results, by name.
PACKAGES = {"repair": Path(repair.__file__).parent, "repair_bench": Path(__file__).parents[1]}
#: Code that does not affect the results of benchmarks: it prints, draws, or computes something else.
NOT_RESULTS = (
    "repair/cli/*",
    "repair/report/*",
    "repair_bench/command.py",
    "repair_bench/published/*",
    "repair_bench/report/*",
    "repair_bench/studies/*",
    "repair_bench/synthetic/*",
    "repair_bench/running/many_runs.py",
    "repair_bench/running/study_runs.py",
)
#: Code of our own fits, which the rivals in `repair_bench.rivals` do not run.  So they are not run again if it changes.
OUR_FITS = (
    *(f"repair/{folder}/*" for folder in ("terms", "fitting", "tuning", "rerankers/modes", "persistence", "diagnosis")),
    *(f"repair/{name}.py" for name in ("model/correction", "model/explanation", "model/new_classes")),
    *(f"repair/rerankers/{name}.py" for name in ("parameters", "reranker", "methods", "baselines", "loading")),
    *(f"repair/kernels/*/{name}.py" for name in ("fit", "neighbours", "pairs", "vectors", "__init__")),
    "repair/data/adjusted_shortlist.py",
    "repair_bench/harness/lambdarank.py",
    "repair_bench/harness/methods.py",
)
#: Code of later stages, which does not affect data and base scores.
NOT_DATA = (
    *NOT_RESULTS,
    "repair_bench/running/*",
    "repair_bench/rivals/*",
    *(
        f"repair_bench/harness/{name}.py"
        for name in ("methods", "lambdarank", "one_method", "held_out", "trade_off", "results")
    ),
)
#: The code that makes data and base scores.
DATA_CODE = ("repair_bench", "repair/similarity", "repair/demo")
ALL_CODE = ("repair", "repair_bench")
#: Folder in the cache in which bases keep vectors of texts.
EMBEDDINGS = "embeddings"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of one method.

    Attributes
    ----------
    trials : ndarray (trials, metrics)
        Metrics of each trial, in the order of `COMPARED`.
    full : ndarray (metrics,)
        Metrics of the fit on all calibration rows.
    rows : dict of ndarray (n,)
        One value per test row, as in ``Comparison.rows``.
    account : dict
        What `repair_bench.harness.one_method.measure_method` says about the method.
    """

    trials: AnyArray
    full: AnyArray
    rows: dict[str, AnyArray]
    account: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Stages:
    """The stages of one benchmark.

    Attributes
    ----------
    benchmark : Benchmark
    folders : mapping from str to Path
    cache : Cache
    seed : int
        Seed for the parts.
    quick : bool
        Whether to use few rows.
    say : callable
        Called with a line of text after each step.
    """

    benchmark: Benchmark
    folders: Mapping[str, Path]
    cache: Cache
    seed: int
    quick: bool
    say: Say

    def problem(self) -> Problem:
        """Read the data and split them into parts."""
        arrays, _ = self._cached("data", self._data_mark(), self._make_problem)
        return unpack(Problem, arrays)

    def base_scores(self) -> tuple[BaseScores, float]:
        """Train the base model.  Return its scores of the calibration and test rows, and the core seconds it took."""
        arrays, account = self._cached("base", self._base_mark(), self._make_scores)
        scores = unpack(BaseScores, arrays)
        for note in scores.notes:
            self.say(f"{self.benchmark.name}: note: {note}")
        return scores, account["seconds"]

    def outcome(self, name: str, base: BaseScores, n_candidates: int, trials: int, seed: int) -> Outcome:
        """Fit and evaluate one method, on all calibration rows and in every trial."""
        wanted = len(base.class_names) if METHODS[name].all_classes else n_candidates
        model = METHODS[name].make(wanted, self.benchmark.hyperparameters)
        settings = {"method": repr(model), "n_candidates": n_candidates, "trials": trials, "protocol_seed": seed}

        def make() -> tuple[dict[str, AnyArray], dict[str, Any]]:
            return measure_method(METHODS[name], model, base, trials, seed, self.say)

        without = (*NOT_RESULTS, *OUR_FITS) if isinstance(model, ScoreRival) else NOT_RESULTS
        mark = self._method_mark(without) | settings | METHODS[name].labels
        arrays, account = self._cached(f"method-{name}-k{n_candidates}", mark, make)
        rows = {key.removeprefix("rows."): value for key, value in arrays.items() if key.startswith("rows.")}
        return Outcome(arrays["trials"], arrays["full"], rows, account)

    def record(self, settings: dict[str, Any], make: Callable[[], Made]) -> Made:
        """Return the outputs per row and the document of a run, made by `make` unless they are in the cache."""
        made: Made = self._cached("record", self._method_mark() | settings, make)
        return made

    def _cached(self, stage: str, mark: dict[str, Any], make: Callable[[], Any]) -> Any:
        kind = f"{type(self.benchmark.base).__name__}-seed{self.seed}" + ("-quick" if self.quick else "")
        result = self.cache.get(f"{self.benchmark.name}/{kind}/{stage}", mark, make)
        self.say(f"{self.benchmark.name}: {stage} {self.cache.last}")
        return result

    def _data_mark(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark.name,
            "files": self.benchmark.data_marks(self.folders),
            "code": code_mark(DATA_CODE, NOT_DATA),
            "seed": self.seed,
            "quick": self.quick,
        }

    def _base_mark(self) -> dict[str, Any]:
        base = {**self.benchmark.base_settings, "base_files": self.benchmark.base_files}
        return {**self._data_mark(), **base, "libraries": library_versions()}

    def _method_mark(self, without: tuple[str, ...] = NOT_RESULTS) -> dict[str, Any]:
        return {**self._base_mark(), "library": code_mark(ALL_CODE, without)}

    def _make_problem(self) -> tuple[dict[str, AnyArray], dict[str, Any]]:
        assert self.benchmark.read is not None
        problem = self.benchmark.read(self.folders, self.seed)
        if self.quick:
            problem = problem.quick(self.seed).without_untrained_classes()
        return pack(problem), {"notes": list(problem.notes)}

    def _make_scores(self) -> tuple[dict[str, AnyArray], dict[str, Any]]:
        assert self.benchmark.base is not None
        problem = self.problem()
        base = self.benchmark.base
        if hasattr(base, "keeping"):  # its slow part does not depend on the seed, so all runs share it
            base = base.keeping(self.cache.folder / EMBEDDINGS)
        start = time.process_time()
        with one_thread():
            scores = base(problem)
        return pack(scores), {"seconds": time.process_time() - start}


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra on one thread, so that its sums do not depend on the number of free cores."""
    try:
        from threadpoolctl import threadpool_limits  # scikit-learn installs it
    except ImportError:
        yield
        return
    with threadpool_limits(limits=1):
        yield


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that results depend on, or "missing" if one is not installed."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "missing"
    return versions


@cache
def code_mark(folders: tuple[str, ...], without: tuple[str, ...]) -> str:
    """Return a digest of the Python files below some folders, so that results are stale when code changes.

    It is computed once per process, because a running process keeps the code it started with.
    """
    digest = hashlib.sha256()
    for folder in folders:
        package, _, below = folder.partition("/")
        for path in sorted((PACKAGES[package] / below).rglob("*.py")):
            name = f"{package}/{path.relative_to(PACKAGES[package]).as_posix()}"
            if not any(fnmatch(name, pattern) for pattern in without):
                digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
