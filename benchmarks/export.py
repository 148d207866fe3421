"""Latency of a model in numpy and numba, PyTorch and onnxruntime, in turns on one thread each.

python benchmarks/export.py          # prints a table; takes about a minute
python benchmarks/export.py --small  # small sizes, to see that it works

It is not a part of run.py, because it needs the extras torch and onnx.
"""

import argparse
import os
from functools import partial

import numpy as np
from measure import times_in_turns

from repair import Reranker
from repair._utils.text_tables import text_table
from repair.export import to_onnx, to_torch

BATCHES, CLASSES, CANDIDATES = (1, 32, 1024), (1_000, 8_142), 10
TURNS = 15


def fitted(n_classes):
    """Return a pairwise model without similarity, which would make the files large."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, size=2_000)
    scores = rng.normal(size=(2_000, n_classes)).astype(np.float32)
    scores[np.arange(2_000), labels] += 3.0
    counts = np.round(500 / np.arange(1, n_classes + 1) ** 0.7) + 1
    return Reranker("pairwise", n_candidates=CANDIDATES).fit(scores, labels, class_counts=counts)


def runtimes(model):
    """Return a function of the scores for each runtime, all with probabilities."""
    import onnxruntime
    import torch

    torch.set_num_threads(1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    graph = to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    module = to_torch(model)

    def in_torch(scores):
        with torch.inference_mode():
            return module(torch.from_numpy(scores))

    return {
        "repair": lambda scores: model.rerank(scores).probabilities,
        "torch": in_torch,
        "ONNX": lambda scores: session.run(None, {"scores": scores}),
    }


def measure_export(batches, classes, turns):
    """Yield lines of the table: sizes, the time of our own path, and the ratios with their range."""
    for n_classes in classes:
        run = runtimes(fitted(n_classes))
        for n_rows in batches:
            scores = np.random.default_rng(1).normal(size=(n_rows, n_classes)).astype(np.float32)
            times = times_in_turns({name: partial(call, scores) for name, call in run.items()}, turns)
            ratios = {name: times[name] / times["repair"] for name in ("torch", "ONNX")}
            shown = [f"{np.median(values):.2f} ({min(values):.2f}–{max(values):.2f})" for values in ratios.values()]
            yield [f"{n_classes:,}", f"{n_rows:,}", f"{1e3 * np.median(times['repair']):.3g} ms", *shown]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    os.environ["REPAIR_NUM_THREADS"] = "1"
    lines = measure_export((1, 8) if small else BATCHES, (50,) if small else CLASSES, 2 if small else TURNS)
    print(text_table(["K", "batch", "repair", "torch", "ONNX"], list(lines)))


if __name__ == "__main__":
    main()
