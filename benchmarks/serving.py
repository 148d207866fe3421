"""Latency of one row in Python and over HTTP.

python benchmarks/serving.py           # about a minute; prints two tables, writes nothing
python benchmarks/serving.py --small   # a few seconds, to see that it works
"""

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
from measure import PENALTY, make_scores

from repair import Reranker, ScoreSet, kernels, load
from repair._utils.text_tables import markdown_table

PROGRAM = [sys.executable, "-c", "from repair.cli.entry import main; main()"]
K, WIDTH = 1_000, 10


def make_model(folder):
    """Fit a pairwise model with names and similarities, and return its file and some rows."""
    scores, labels, counts, similarity = make_scores(5_000, K)
    names = [f"class {number}" for number in range(K)]
    rows = ScoreSet(scores, labels, class_counts=counts, similarity=similarity, class_names=names)
    path = Path(folder) / "model.safetensors"
    Reranker("pairwise", n_candidates=WIDTH, **PENALTY).fit(rows).save(path)
    return path, scores[:200].astype(np.float64)


def plainly(offsets):
    """Return a function that does in plain numpy what every reranking has to do: add offsets, sort, normalise."""

    def rerank(ids, scores):
        final = scores + offsets[ids]
        order = (-final).argsort(kind="stable")
        shares = np.exp(final[order] - final[order[0]])
        return ids[order], final[order], shares / shares.sum()

    return rerank


def latencies(work, inputs, threads, calls):
    """Return the times of all calls in microseconds, made by several threads at the same time."""
    start = Barrier(threads)

    def measure(first):
        start.wait()
        times = []
        for call in range(calls):
            given = inputs[(first + call) % len(inputs)]
            before = time.perf_counter()
            work(given)
            times.append(time.perf_counter() - before)
        return times

    with ThreadPoolExecutor(threads) as pool:
        return 1e6 * np.concatenate(list(pool.map(measure, range(threads))))


def measure_rows(path, rows, calls, rounds):
    """Measure single rows in one and eight threads, in turns with plain numpy."""
    kernels.loaded = None  # a service that only reranks uses numpy, but the fit has loaded numba
    model = load(path)
    plain = plainly(model.offsets_)
    best = np.argsort(-rows, axis=1)[:, :WIDTH]
    by_id = [dict(zip(ids.tolist(), row[ids].tolist(), strict=True)) for ids, row in zip(best, rows, strict=True)]
    named = [{f"class {i}": score for i, score in row.items()} for row in by_id]
    arrays = [(np.array(list(row)), np.array(list(row.values()))) for row in by_id]
    functions = {
        "plain numpy, ten candidates as arrays": (lambda given: plain(*given), arrays),
        "rerank_one, ten candidates by id": (model.rerank_one, by_id),
        "rerank_one, ten candidates by name": (model.rerank_one, named),
        f"rerank_one, all {K:,} scores": (model.rerank_one, list(rows)),
    }
    for work, inputs in functions.values():
        work(inputs[0])
    lines = []
    for threads in (1, 8):
        times = {name: [] for name in functions}
        for _ in range(rounds):
            for name, (work, inputs) in functions.items():
                times[name].append(latencies(work, inputs, threads, calls // threads))
        medians = {name: float(np.median([np.median(turn) for turn in turns])) for name, turns in times.items()}
        reference = next(iter(medians.values()))
        for name, turns in times.items():
            p99 = float(np.median([np.quantile(turn, 0.99) for turn in turns]))
            lines.append([name, str(threads), f"{medians[name]:.0f}", f"{p99:.0f}", f"{medians[name] / reference:.1f}"])
    return markdown_table(["one row", "threads", "median, µs", "p99, µs", "ratio"], lines)


def measure_http(path, rows, seconds):
    """Measure a server process with one and fifty clients, each over one connection."""
    command = [*PROGRAM, "serve", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            host, port = process.stdout.readline().strip().rpartition("//")[2].split(":")
            lines = []
            for n_rows in (1, 100):
                best = np.argsort(-rows[:n_rows], axis=1)[:, :WIDTH]
                scores = np.take_along_axis(rows[:n_rows], best, axis=1)
                body = json.dumps({"candidate_ids": best.tolist(), "candidate_scores": scores.tolist()}).encode()
                for clients in (1, 50):
                    lines.append(_http_line((host, int(port)), body, n_rows, clients, seconds))
        finally:
            process.terminate()
    header = ["rows per request", "clients", "requests/s", "rows/s", "median, ms", "p99, ms", "errors"]
    return markdown_table(header, lines)


def _http_line(address, body, n_rows, clients, seconds):
    start = Barrier(clients)

    def client(_):
        connection = http.client.HTTPConnection(*address)
        connection.connect()
        start.wait()
        times, errors, end = [], 0, time.perf_counter() + seconds
        while (before := time.perf_counter()) < end:
            connection.request("POST", "/rerank", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            times.append(time.perf_counter() - before)
            errors += response.status != 200
        connection.close()
        return times, errors

    with ThreadPoolExecutor(clients) as pool:
        results = list(pool.map(client, range(clients)))
    times = 1e3 * np.concatenate([times for times, _ in results])
    rate = len(times) / seconds
    numbers = [f"{rate:,.0f}", f"{rate * n_rows:,.0f}", f"{np.median(times):.1f}", f"{np.quantile(times, 0.99):.1f}"]
    return [str(n_rows), str(clients), *numbers, str(sum(errors for _, errors in results))]


def main():
    """Measure both, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="a few calls")
    small = parser.parse_args().small
    with tempfile.TemporaryDirectory() as folder:
        path, rows = make_model(folder)
        print(measure_rows(path, rows, 80 if small else 4_000, 2 if small else 9))
        print()
        print(measure_http(path, rows, 0.2 if small else 8.0))


if __name__ == "__main__":
    main()
