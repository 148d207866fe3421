"""The three stages of a run, each cached: data, base scores, and every method under the protocol."""

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

import numpy as np

from repair.arrays import AnyArray
from repair.bench.base_scores import BaseScores
from repair.bench.benchmark import Benchmark
from repair.bench.cache import Cache, Made, file_marks
from repair.bench.methods import METHODS, Method
from repair.bench.packing import pack, unpack
from repair.bench.problem import Problem
from repair.bench.trade_off import trade_off
from repair.comparison_metrics import METRICS
from repair.diagnosis.plain import plain

__all__ = ["Outcome", "Stages", "code_mark", "library_versions", "one_thread"]

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "lightgbm", "torch", "transformers")
PACKAGE = Path(__file__).parents[1]
#: Code that no result depends on: it prints, draws, or computes something else.
NOT_RESULTS = (
    "cli/*",
    "demo/*",
    "bench/report/*",
    "bench/studies/*",
    "bench/many_runs.py",
    "bench/study_runs.py",
    "bench/synthetic_*.py",
)
#: Code of later stages, which data and base scores do not depend on.
NOT_DATA = (*NOT_RESULTS, *(f"bench/{name}.py" for name in ("harness", "methods", "lambdarank", "results")))
#: Where in the cache bases keep vectors of texts.
EMBEDDINGS = "embeddings"

Say = Callable[[str], object]


@dataclass(frozen=True, eq=False)
class Outcome:
    """One method under the protocol.

    Attributes
    ----------
    trials : ndarray (trials, metrics)
        In the order of `METRICS`.
    full : ndarray (metrics,)
        Of the fit on all calibration rows.
    rows : dict of ndarray (n,)
        One value per test row, as ``Comparison.rows``.
    account : dict
        Model, mode, what was chosen, notes, seconds (of one core, so that they do not depend on what
        else the machine does), setup.
    """

    trials: AnyArray
    full: AnyArray
    rows: dict[str, AnyArray]
    account: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Stages:
    """One benchmark's way through the stages.

    Attributes
    ----------
    benchmark : Benchmark
    folders : mapping from str to Path
    cache : Cache
    seed : int
        Of the parts.
    quick : bool
        Whether a small slice of the rows is enough.
    say : callable
        Told, in a line, what was done.
    """

    benchmark: Benchmark
    folders: Mapping[str, Path]
    cache: Cache
    seed: int
    quick: bool
    say: Say

    def problem(self) -> Problem:
        """Read the data and make the parts."""
        arrays, _ = self._cached("data", self._data_mark(), self._make_problem)
        return unpack(Problem, arrays)

    def base_scores(self) -> tuple[BaseScores, float]:
        """Train the base model, score the calibration and test rows, and say how many core seconds it took."""
        arrays, account = self._cached("base", self._base_mark(), self._make_scores)
        return unpack(BaseScores, arrays), account["seconds"]

    def outcome(self, name: str, base: BaseScores, n_candidates: int, trials: int, seed: int) -> Outcome:
        """Fit and score one method: once on all calibration rows, and in every trial."""
        wanted = len(base.class_names) if METHODS[name].all_classes else n_candidates
        model = METHODS[name].make(wanted, self.benchmark.hyperparameters)
        settings = {"method": repr(model), "n_candidates": n_candidates, "trials": trials, "protocol_seed": seed}

        def make() -> tuple[dict[str, AnyArray], dict[str, Any]]:
            return _compared(METHODS[name], model, base, trials, seed, self.say)

        arrays, account = self._cached(f"method-{name}-k{n_candidates}", self._method_mark() | settings, make)
        rows = {key.removeprefix("rows."): value for key, value in arrays.items() if key.startswith("rows.")}
        return Outcome(arrays["trials"], arrays["full"], rows, account)

    def record(self, settings: dict[str, Any], make: Callable[[], Made]) -> Made:
        """Return the rows and the document of a whole run, put together by `make` unless nothing has changed."""
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
            "files": file_marks(self.folders.values()),
            "code": code_mark(("bench", "similarity"), NOT_DATA),
            "seed": self.seed,
            "quick": self.quick,
        }

    def _base_mark(self) -> dict[str, Any]:
        base = {**self.benchmark.base_settings, "base_files": self.benchmark.base_files}
        return {**self._data_mark(), **base, "libraries": library_versions()}

    def _method_mark(self) -> dict[str, Any]:
        return {**self._base_mark(), "library": code_mark((".",), NOT_RESULTS)}

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
        if hasattr(base, "keeping"):  # its slow part depends on no seed, so it has a place for all runs
            base = base.keeping(self.cache.folder / EMBEDDINGS)
        start = time.process_time()
        with one_thread():
            scores = base(problem)
        return pack(scores), {"seconds": time.process_time() - start}


def _compared(
    method: Method, model: Any, base: BaseScores, trials: int, seed: int, say: Say
) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    from repair.protocol import compare

    start, title = time.process_time(), method.title
    calibration, test = base.sets_with_embeddings if method.embeddings else (base.calibration, base.test)
    # The subsamples depend on the seed alone, so methods compared one by one meet the same ones.
    # Resamples are drawn later, for all methods together.
    found = compare(
        {title: model},
        calibration,
        test,
        trials=trials,
        resamples=1,
        seed=seed,
        progress=lambda done, total, label: say(f"  {label} ({done} of {total})"),
    )
    fitted = found.models[title]
    account = {
        "title": title,
        "own_list": method.own_list,
        "model": repr(model),
        "mode": fitted.mode_,
        "chosen": fitted.account_.chosen,
        "notes": list(fitted.account_.notes),
        "seconds": time.process_time() - start,
        "setup": vars(found.setup),
        "trade_off": trade_off(fitted, test, base),
    }
    arrays: dict[str, AnyArray] = {
        "trials": np.stack([found.trials[title][metric] for metric in METRICS], axis=1),
        "full": np.array([found.full[title][metric] for metric in METRICS]),
        **{f"rows.{name}": values for name, values in found.rows[title].items()},
    }
    return arrays, plain(account)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra on one thread: its sums then do not depend on how many cores are free."""
    try:
        from threadpoolctl import threadpool_limits  # scikit-learn brings it; a base without it does no such sums
    except ImportError:
        yield
        return
    with threadpool_limits(limits=1):
        yield


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that results depend on; "missing" where one is not installed."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


@cache
def code_mark(folders: tuple[str, ...], without: tuple[str, ...]) -> str:
    """Return a digest of the Python files below folders of the package: results are stale when their code has changed.

    Taken once a process, which goes on running the code it began with.
    """
    digest = hashlib.sha256()
    for path in sorted(one for folder in folders for one in (PACKAGE / folder).rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not any(fnmatch(name, pattern) for pattern in without):
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
