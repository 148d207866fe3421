"""CIFAR-100: real outputs of a network on balanced images, as if its training set had a long tail.

This benchmark is semi-synthetic.  The network was trained on balanced classes.  The log prior of a
made-up long tail is added to its log-probabilities, which is what a perfectly fitted classifier
would have learned.  The scores are then wrong by one number per class, in addition to the errors of
the network itself.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from repair.similarity.reading import file_of, read_text
from repair_bench.bases.base_scores import GivenScores
from repair_bench.data.feature_files import read_arrays
from repair_bench.data.parts import CALIBRATION, PAPER_SEED, TEST, long_tail_counts, stratified_parts
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark

__all__ = ["BENCHMARKS"]

OUTPUTS = "wideresnet-16-4_test_logprobs.npz"
LARGEST_CLASS, IMBALANCE = 500, 100.0


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Add the log prior of a long tail over randomly ordered classes, and split the rows 60/40 within each class."""
    log_probs, labels = read_arrays(folders["cifar100_outputs"] / OUTPUTS, ("log_probs", "labels"))
    listed = json.loads(read_text(file_of(folders["cifar100_outputs"], ("class_names.json",))))
    classes = sorted(listed, key=lambda one: one["index"])
    tail = long_tail_counts(np.full(len(classes), LARGEST_CLASS), IMBALANCE)
    counts = tail[np.random.default_rng(seed).permutation(len(classes))]
    superclass = np.array([one["superclass"] for one in classes])
    return Problem(
        tuple(one["name"] for one in classes),
        labels.astype(np.int32),
        np.array([CALIBRATION, TEST], dtype=np.int32)[stratified_parts(labels, (0.6, 0.4), seed)],
        features=log_probs.astype(np.float64) + np.log(counts / counts.sum()),
        similarity=(superclass[:, None] == superclass).astype(np.float64),
        class_counts=counts,
    )


BENCHMARKS = (
    Benchmark(
        name="cifar100",
        title="CIFAR-100, WideResNet-16-4 outputs with a simulated prior",
        home="github.com/EFS-OpenSource/calibration-framework",
        folders=("cifar100_outputs",),
        read=read,
        base=GivenScores(),
        seed=PAPER_SEED,
        note="Semi-synthetic: the outputs of the network are real, but the long tail is simulated by adding its log "
        "prior. LogitAdj with τ = 1 undoes this exactly.",
    ),
)
