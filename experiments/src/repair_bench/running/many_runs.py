"""Running several benchmarks, one after the other or each in its own process.

Each process runs one benchmark on one thread, so as many benchmarks run at a time as there are
cores.  If one of them fails or is killed, the others continue.  When the process that started them
ends, for whatever reason, they end too.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from repair._utils.parallel import THREADS_VARIABLE
from repair._utils.signals import end_at_signals
from repair.errors import InputError, MissingExtraError
from repair_bench.running.benchmark_run import CACHE, RESULTS, run
from repair_bench.running.study_runs import find_study, list_studies, run_cached_study
from repair_bench.sets.registry import benchmarks, get

__all__ = ["EVERYTHING", "RunOptions", "choose_runs", "run_many", "run_one"]

EVERYTHING = "all"
#: Environment variables that keep the libraries in a new process on one thread.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", THREADS_VARIABLE)
#: Seconds to wait for a process that was asked to end.
PATIENCE = 5.0

Say = Callable[[str], object]


@dataclass(frozen=True)
class RunOptions:
    """The arguments of `repair_bench.run` that are the same for all benchmarks."""

    cache: str = CACHE
    out: str | None = RESULTS
    data: str | None = None
    methods: tuple[str, ...] | None = None
    trials: int = 5
    seed: int | None = None
    quick: bool = False
    lengths: tuple[int, ...] | None = None


def choose_runs(names: Sequence[str], data: str | None = None) -> tuple[str, ...]:
    """Return the names to run: the given names, or with "all" every benchmark and study that has its data.

    A name that cannot be run raises an error before anything starts.

    Examples
    --------
    >>> from repair_bench.running.many_runs import choose_runs
    >>> choose_runs(["synthetic", "synthetic"])
    ('synthetic',)
    """
    chosen: list[str] = []
    studies = list_studies(data)
    for name in names:
        if name == EVERYTHING:
            chosen += [
                study for study, _, state in studies if state == "ready"
            ]  # first, because one of them takes longest
            chosen += [one.name for one in benchmarks() if one.state(data) == "ready"]
        else:
            if any(name == study for study, _, _ in studies):
                find_study(name, data)
            elif any(name == one.name for one in benchmarks()):
                get(name).find(data)
            else:
                choices = [*(one.name for one in benchmarks()), *(study for study, _, _ in studies), EVERYTHING]
                raise InputError(f"there is no benchmark or study {name!r}; choose one of {', '.join(choices)}")
            chosen.append(name)
    return tuple(dict.fromkeys(chosen))


def run_one(name: str, options: RunOptions, say: Say) -> dict[str, Any]:
    """Run one benchmark or study and return its record."""
    if any(name == study for study, _, _ in list_studies(options.data)):
        return run_cached_study(
            name, cache=options.cache, data=options.data, out=options.out, quick=options.quick, progress=say
        )
    return run(name, **asdict(options), progress=say)


def run_many(names: Sequence[str], options: RunOptions, jobs: int, say: Say) -> dict[str, str]:
    """Run benchmarks, and return the reasons for failures by name.

    Parameters
    ----------
    names : sequence of str
        Names as returned by `choose_runs`.
    options : RunOptions
        Options for all runs.  Results are written to its ``out`` folder.
    jobs : int
        Number of processes.  With 1, all benchmarks run in this process.
    say : callable
        Called with a line of text after each step.
    """
    if jobs == 1 or len(names) < 2:
        return _one_by_one(names, options, say)
    waiting, failed = list(names), {}
    running: dict[Any, _Child] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                started = _Child.start(waiting.pop(0), options)
                running[started.pipe] = started
            for pipe in wait(list(running)):
                child = running[pipe]
                for line in child.lines():
                    say(line)
                if child.ended:
                    del running[child.pipe]
                    done = len(names) - len(waiting) - len(running)
                    outcome = "failed" if child.failure else "done"
                    say(f"{child.name}: {outcome} ({done} of {len(names)})")
                    if child.failure:
                        failed[child.name] = child.failure
    finally:
        for child in running.values():  # on an interrupt; finished stages are in the cache
            child.process.terminate()
            child.process.join(PATIENCE)
    return {name: failed[name] for name in names if name in failed}


def _one_by_one(names: Sequence[str], options: RunOptions, say: Say) -> dict[str, str]:
    failed = {}
    for name in names:
        try:
            run_one(name, options, say)
        except Exception as error:
            if len(names) == 1:
                raise
            failed[name] = _reason(error)
    return failed


@dataclass(eq=False)
class _Child:
    """A process that runs one benchmark and reports through a pipe."""

    name: str
    process: Any
    pipe: Connection
    ended: bool = False
    failure: str = ""

    @classmethod
    def start(cls, name: str, options: RunOptions) -> "_Child":
        # Spawned, because a fork would copy threads and locks in an unknown state.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(name, options, theirs), daemon=True)
        with _one_thread_in_children():
            process.start()
        theirs.close()
        return cls(name, process, ours)

    def lines(self) -> Iterator[str]:
        """Yield the lines that the child has sent.  At the end of the pipe, record how it ended."""
        try:
            while self.pipe.poll():
                kind, text = self.pipe.recv()
                if kind == "failed":
                    self.failure = text
                else:
                    yield text
        except EOFError:
            self.ended = True
            self.process.join()
            if self.process.exitcode and not self.failure:
                self.failure = f"its process ended with code {self.process.exitcode}"


def _work(name: str, options: RunOptions, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the parent, which ends this process
    end_at_signals()
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def say(line: str) -> None:
        if not line.startswith(" "):  # progress of single fits is not forwarded: benchmarks would mix
            pipe.send(("said", line))

    try:
        with _warnings_to(lambda text: say(f"{name}: {text}")):
            run_one(name, options, say)
    except Exception as error:
        pipe.send(("failed", _reason(error)))
    finally:
        pipe.close()


def _end_with_parent() -> None:
    """Wait until the parent process is gone, then end this one as SIGTERM does.

    The parent cannot do this.  It runs no code after SIGKILL, and a signal may arrive after a child has started but
    before the parent has recorded it.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)  # its handler runs on the main thread


@contextlib.contextmanager
def _warnings_to(say: Say) -> Iterator[None]:
    """Pass each warning to `say` as a line, once."""
    said: set[str] = set()

    def line(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            say(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = line
        yield


def _reason(error: Exception) -> str:
    expected = isinstance(error, InputError | MissingExtraError | OSError)
    return str(error) if expected else f"unexpected {type(error).__name__}: {error}"


@contextlib.contextmanager
def _one_thread_in_children() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
