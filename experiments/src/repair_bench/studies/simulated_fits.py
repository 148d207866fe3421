"""The fits on one simulated problem: the mode that `auto` returned, the true gains, and the reported interval."""

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, Protocol

import numpy as np

from repair import InputWarning, Reranker
from repair._utils.arrays import FloatArray, IntArray
from repair._utils.parallel import THREADS_VARIABLE
from repair.data.score_set import ScoreSet
from repair_bench.harness.stages import one_thread
from repair_bench.studies.simulated_problems import N_CANDIDATES, SimulatedProblem, draw_problem

__all__ = ["Measure", "fit_problem", "measuring"]

#: Rows that are reranked at once.
BLOCK = 5_000
#: A reported interval that ends at the true gain holds it, whatever the last bit is.
ROUNDING = 1e-9

Task = tuple[str, int, int, int]


class Measure(Protocol):
    """A function that solves several problems, perhaps in other processes."""

    def __call__(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Return one record per problem, in their order."""
        ...


def fit_problem(task: Task) -> dict[str, Any]:
    """Fit `auto` and Extended on one problem, and compute their true gains over Base.

    Parameters
    ----------
    task : tuple
        Arguments of `draw_problem`: the kind, the numbers of calibration and fresh rows, and the
        number of the problem.

    Returns
    -------
    dict
        ``mode``, the gains of ``auto`` and ``extended`` in points, each with the standard error that
        an evaluation on labelled rows has, the reported ``interval`` in points (None without one),
        whether it ``holds`` the gain, and the core seconds of both fits.

    Notes
    -----
    The gain is the mean difference in the true probability of the first-ranked class.  This is the
    expected accuracy on the fresh rows.  It has far less noise than counting hits does.
    """
    problem = draw_problem(*task)
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore", InputWarning)
        auto, auto_seconds = _fitted(Reranker(n_candidates=N_CANDIDATES), problem)
        extended, extended_seconds = _fitted(Reranker("extended", n_candidates=N_CANDIDATES), problem)
        found = {"auto": _gain(auto, problem), "extended": _gain(extended, problem)}
    assert auto.auto_ is not None
    reported = auto.auto_.gain
    interval = None if reported is None else [100 * float(end) for end in reported.interval()]
    holds = None
    if interval is not None:
        holds = interval[0] - ROUNDING <= found["auto"]["gain"] <= interval[1] + ROUNDING
    return {
        "number": task[3],
        "mode": auto.auto_.chosen.mode,
        **found,
        "base_accuracy": 100 * float(_expected(problem, problem.fresh.scores.argmax(axis=1)).mean()),
        "reported": None if reported is None else 100 * float(reported.gain),
        "interval": interval,
        "holds": holds,
        "seconds": {"auto": auto_seconds, "extended": extended_seconds},
    }


def _fitted(model: Reranker, problem: SimulatedProblem) -> tuple[Reranker, float]:
    rows, start = problem.calibration, time.process_time()
    known = ScoreSet(
        rows.scores,
        rows.labels,
        class_counts=problem.class_counts,
        similarity=problem.similarity,
        embeddings=rows.embeddings,
    )
    model.fit(known)
    return model, time.process_time() - start


def _gain(model: Reranker, problem: SimulatedProblem) -> dict[str, float]:
    """Return the true gain in points, and the standard error of the paired gain in hits."""
    fresh = problem.fresh
    first: list[IntArray] = []
    for start in range(0, len(fresh.labels), BLOCK):
        block = slice(start, start + BLOCK)
        embeddings = None if fresh.embeddings is None else fresh.embeddings[block]
        first.append(model.rerank(fresh.scores[block], embeddings=embeddings).best)
    best, before = np.concatenate(first), fresh.scores.argmax(axis=1)
    change = (best == fresh.labels).astype(float) - (before == fresh.labels)
    return {
        "gain": 100 * float(np.mean(_expected(problem, best) - _expected(problem, before))),
        "error": 100 * float(change.std(ddof=1)) / float(np.sqrt(len(change))),
    }


def _expected(problem: SimulatedProblem, chosen: IntArray) -> FloatArray:
    """Return the true probability of the chosen class of each fresh row."""
    posterior = problem.fresh.posterior
    values: FloatArray = posterior[np.arange(len(posterior)), chosen]
    return values


@contextmanager
def measuring(processes: int) -> Iterator[Measure]:
    """Yield a function that solves problems in this process, or in several that use one thread each."""
    if processes == 1:
        yield lambda tasks: [fit_problem(task) for task in tasks]
        return
    # Started afresh instead of forked: a fork would copy thread pools in an unknown state.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_use_one_thread) as pool:
        yield lambda tasks: list(pool.map(fit_problem, tasks))


def _use_one_thread() -> None:
    os.environ[THREADS_VARIABLE] = "1"
