"""Threads, forks and thread counts: the same bits, and no deadlock."""

import os
import subprocess
import sys
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
    return Reranker(10).fit(scores, labels, **known), scores


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_after_first_use_works(fitted):
    model, scores = fitted
    expected = model.rerank(scores).scores
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        same = model.rerank(scores).scores.tobytes() == expected.tobytes()
        os.write(writer, b"same" if same else b"other")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"same"
    os.close(reader)
    os.close(writer)


def test_the_number_of_threads_never_changes_a_bit(monkeypatch):
    scores, labels, known = big_problem()
    results = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("REPAIR_NUM_THREADS", threads)
        model = Reranker(10, shrinkage="eb").fit(scores, labels, **known)
        results.append((model.offsets_.tobytes(), model.objective_, model.rerank(scores).scores.tobytes()))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("value", ["0", "-1", "many", ""])
def test_a_nonsensical_thread_count_is_named(monkeypatch, value):
    monkeypatch.setenv("REPAIR_NUM_THREADS", value)
    scores, labels, known = big_problem()
    with pytest.raises(InputError, match=f"REPAIR_NUM_THREADS is '{value}'"):
        Reranker(10).fit(scores, labels, **known)


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
