"""Measure, print ratios, write results.md."""

import argparse
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import plain

from repair import Reranker, Shortlist
from repair.tables import text_table

HERE = Path(__file__).parent
PENALTY = {"lambda_a": 0.001, "lambda_theta": 0.001}


def best_of(function, repeats=3):
    """Shortest of several runs, in seconds, after one to warm up; and the last result."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def make_problem(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    counts = np.maximum(np.round(1280 * (np.arange(n_classes) + 1.0) ** -0.7), 5)
    labels = rng.integers(0, n_classes, size=n)
    scores = rng.normal(size=(n, n_classes)).astype(np.float32) + 0.4 * np.log(counts).astype(np.float32)
    scores[np.arange(n), labels] += 3.0
    similarity = rng.random((n_classes, n_classes))
    return scores, labels, counts, similarity


def measure_fit(n, n_classes, k):
    scores, labels, counts, similarity = make_problem(n, n_classes)
    shortlist = Shortlist.from_scores(scores, k)

    def ours():
        return Reranker(k, **PENALTY).fit(shortlist, labels, class_counts=counts, similarity=similarity)

    def theirs():
        return plain.fit(
            shortlist.ids, shortlist.scores, labels, counts, similarity, PENALTY["lambda_a"], PENALTY["lambda_theta"]
        )

    our_time, model = best_of(ours)
    their_time, (_, _, objective, _) = best_of(theirs, repeats=1)
    name = f"features + fit, {n:,}×{n_classes:,}, k={k}, 5 features"
    note = f"objective {model.objective_ - objective:+.1e}"
    return [name, f"{our_time * 1e3:.0f} ms", f"{their_time * 1e3:.0f} ms", f"{their_time / our_time:.1f}×", note]


def measure_top_k(n, n_classes, k):
    scores = np.random.default_rng(0).normal(size=(n, n_classes)).astype(np.float32)
    our_time, _ = best_of(lambda: Shortlist.from_scores(scores, k))
    their_time, _ = best_of(lambda: plain.top_k(scores, k))
    return [
        f"top-{k} of {n:,}×{n_classes:,} float32",
        f"{our_time * 1e3:.0f} ms",
        f"{their_time * 1e3:.0f} ms",
        f"{their_time / our_time:.1f}×",
        "NaN check and tie rule included",
    ]


def measure_rerank(n, n_classes, k):
    scores, labels, counts, similarity = make_problem(n, n_classes)
    shortlist = Shortlist.from_scores(scores, k)
    model = Reranker(k, **PENALTY).fit(shortlist, labels, class_counts=counts, similarity=similarity)
    weights = np.zeros(5)  # the work does not depend on their values
    our_time, _ = best_of(lambda: model.rerank(shortlist))
    their_time, _ = best_of(
        lambda: plain.rerank(shortlist.ids, shortlist.scores, model.offsets_, weights, counts, similarity), repeats=1
    )
    return [
        f"rerank {n:,} given shortlists, k={k}",
        f"{n / our_time / 1e6:.2f} M rows/s",
        f"{n / their_time / 1e6:.2f} M rows/s",
        f"{their_time / our_time:.1f}×",
        "dense similarity",
    ]


def measure_one_row(n_classes, k):
    scores, labels, counts, similarity = make_problem(5000, n_classes)
    model = Reranker(k, **PENALTY).fit(scores, labels, class_counts=counts, similarity=similarity)
    row = scores[:1]
    times = []
    for _ in range(2000):
        start = time.perf_counter()
        model.rerank(row)
        times.append(time.perf_counter() - start)
    return [f"one row, K={n_classes:,}, k={k}", f"{np.median(times) * 1e6:.0f} µs", "", "", "median, dense scores in"]


def measure_start(n_classes, k):
    """A new process: what importing, and importing, loading and reranking one row, cost beyond bare Python."""
    scores, labels, counts, similarity = make_problem(5000, n_classes)
    model = Reranker(k, **PENALTY).fit(scores, labels, class_counts=counts, similarity=similarity)
    program = "import time; t = time.perf_counter(); {} ; print(time.perf_counter() - t)"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        use = f"from repair import load; load({str(path)!r}).rerank([[0.5] * {n_classes}])"
        times = [
            min(
                float(subprocess.run([sys.executable, "-c", program.format(work)], capture_output=True).stdout)
                for _ in range(5)
            )
            for work in ("import repair", "import numpy", use)
        ]
    note = f"import repair alone {times[0] * 1e3:.0f} ms, import numpy alone {times[1] * 1e3:.0f} ms"
    return [f"new process: import, load, rerank a row, K={n_classes:,}", f"{times[2] * 1e3:.0f} ms", "", "", note]


def describe_machine():
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE)
    names = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    cpu = next((line.partition(":")[2].strip() for line in names if line.startswith("model name")), platform.machine())
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    cores = sum(line.startswith("processor") for line in names)
    return f"{cpu}, {cores} cores; Python {platform.python_version()}, {versions}; commit {commit.stdout.strip()}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="a few seconds instead of a minute; writes nothing")
    small = parser.parse_args().small
    scale = 20 if small else 1
    rows = [
        measure_fit(20_000 // scale, 1_000, 10),
        measure_top_k(20_000 // scale, 1_000, 10),
        measure_top_k(5_000 // scale, 8_142, 10),
        measure_top_k(500 // scale, 100_000, 10),
        measure_rerank(100_000 // scale, 1_000, 10),
        measure_one_row(1_000, 10),
        measure_start(1_000, 10),
    ]
    table = text_table(["what", "repair", "plain", "ratio", "note"], rows, text_columns=(0, 4))
    print(table)
    if not small:
        text = f"# Results\n\nWritten by `make bench`. {describe_machine()}.\n\n```\n{table}\n```\n"
        (HERE / "results.md").write_text(text)


if __name__ == "__main__":
    main()
