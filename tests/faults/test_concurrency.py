"""Threads, forks and thread counts: the same bits, and no deadlock."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from repair import InputError, Reranker


def big_problem():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 50, size=20_000)
    scores = (rng.normal(size=(20_000, 50)) + 2 * np.eye(50)[labels]).astype(np.float32)
    return scores, labels, {"class_counts": rng.integers(1, 99, 50), "similarity": rng.random((50, 50))}


@pytest.fixture(scope="module")
def fitted():
    scores, labels, known = big_problem()
    return Reranker("pairwise", n_candidates=10).fit(scores, labels, **known), scores


def test_thirty_two_threads_on_one_model_agree(fitted):
    model, scores = fitted
    expected = model.rerank(scores).scores.tobytes()
    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(lambda _: model.rerank(scores).scores.tobytes(), range(64)))
    assert set(results) == {expected}


def test_thirty_two_threads_on_a_model_just_loaded_agree(fitted, tmp_path):
    """Nothing is computed yet that the threads could share by accident."""
    from repair import load

    model, scores = fitted
    model.save(tmp_path / "model")
    fresh = load(tmp_path / "model")
    expected = model.rerank(scores[:50], dial=0.5).scores.tobytes()
    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(lambda _: fresh.rerank(scores[:50], dial=0.5).scores.tobytes(), range(64)))
    assert set(results) == {expected}


def answer_of_a_fork(question, deadline=60):
    """Ask a forked child; it never outlives the deadline, and never goes on as a second pytest."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is the very point
        child = os.fork()
    if child == 0:
        try:
            os.write(writer, question().encode())
        finally:
            os._exit(0)
    os.close(writer)
    end = time.monotonic() + deadline
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
            return "hung"
        time.sleep(0.01)
    with os.fdopen(reader, "rb") as stream:
        return stream.read().decode()


@pytest.mark.system("forking with threads")
def test_a_fork_after_first_use_works(fitted):
    model, scores = fitted
    expected = model.rerank(scores).scores.tobytes()
    assert answer_of_a_fork(lambda: str(model.rerank(scores).scores.tobytes() == expected)) == "True"


@pytest.mark.system("forking with threads")
def test_a_fork_while_other_threads_are_at_work_works(fitted):
    model, scores = fitted
    stop = threading.Event()

    def work():
        while not stop.is_set():
            model.rerank(scores[:8000])

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        answers = [answer_of_a_fork(lambda: str(len(model.rerank(scores[:8000]))), 20) for _ in range(12)]
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert answers == ["8000"] * 12


def test_a_similarity_function_may_use_the_library_itself(monkeypatch):
    """Work inside a block must not wait for the pool that runs the block."""
    monkeypatch.setenv("REPAIR_NUM_THREADS", "2")
    scores, labels, _ = big_problem()
    inner = Reranker("classwise", n_candidates=5).fit(scores, labels)

    def similarity(left, right):
        inner.rerank(scores)
        return (left % 7 == right % 7).astype(float)

    outer = Reranker("pairwise", n_candidates=3, terms=("similarity",)).fit(
        scores[:400], labels[:400], similarity=similarity
    )
    answers = []
    worker = threading.Thread(target=lambda: answers.append(len(outer.rerank(scores))), daemon=True)
    worker.start()
    worker.join(120)
    assert answers == [20_000]


def test_the_number_of_threads_never_changes_a_bit(monkeypatch):
    scores, labels, known = big_problem()
    results = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("REPAIR_NUM_THREADS", threads)
        model = Reranker("pairwise", n_candidates=10, shrinkage="eb").fit(scores, labels, **known)
        results.append((model.offsets_.tobytes(), model.objective_, model.rerank(scores).scores.tobytes()))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("value", ["0", "-1", "many", "", "²"])
def test_a_nonsensical_thread_count_is_named(monkeypatch, value):
    monkeypatch.setenv("REPAIR_NUM_THREADS", value)
    scores, labels, known = big_problem()
    with pytest.raises(InputError, match=f"REPAIR_NUM_THREADS is '{value}'"):
        Reranker("pairwise", n_candidates=10).fit(scores, labels, **known)


def test_a_read_only_installation_without_a_cache_folder_works(tmp_path):
    """Numba must not find a folder for its cache; kernels then live in memory only."""
    program = (
        "import numpy as np, numba.core.caching as c\n"
        "c._CacheLocator.ensure_cache_path = lambda self: (_ for _ in ()).throw(OSError('read-only'))\n"
        "from repair import Shortlist\n"
        "print(Shortlist.from_scores(np.eye(300), 3).ids[:, 0].tolist() == list(range(300)))\n"
    )
    environment = {**os.environ, "HOME": str(tmp_path / "nobody")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout == "True\n", done.stderr


def test_the_number_of_blas_threads_never_changes_a_bit(tmp_path):
    program = (
        "import numpy as np\n"
        "from repair import Reranker, Shortlist\n"
        "rng = np.random.default_rng(0)\n"
        "ids = np.sort(rng.integers(0, 40_000, size=(6000, 5)), axis=1); ids += np.arange(5)\n"
        "scores = rng.normal(size=ids.shape)\n"
        "labels = ids[np.arange(6000), rng.integers(0, 5, size=6000)]\n"
        "shortlist = Shortlist.from_candidates(ids, scores, 50_000)\n"
        'model = Reranker("pairwise").fit(shortlist, labels, class_counts=np.ones(50_000))\n'
        "import hashlib; print(hashlib.sha256(model.offsets_.tobytes()).hexdigest(), model.objective_.hex())\n"
    )
    answers = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        answers.add(done.stdout)
    assert len(answers) == 1
