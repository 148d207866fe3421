"""Caltech-101: features of a frozen network, a long-tailed training part, and balanced logistic regression."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from repair_bench.bases.base_scores import FeatureBase
from repair_bench.data.feature_files import long_tailed_training, read_features
from repair_bench.data.parts import CALIBRATION, PAPER_SEED, TEST, stratified_parts
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark

__all__ = ["BENCHMARKS"]


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Thin the training rows to a long tail, and split the published test rows 60/40 within each class."""
    rows = read_features(folders["caltech101"])
    part = rows.part.copy()
    testing = np.flatnonzero(part == TEST)
    part[testing] = np.array([CALIBRATION, TEST])[stratified_parts(rows.labels[testing], (0.6, 0.4), seed)]
    return long_tailed_training(rows, part, seed)


BENCHMARKS = (
    Benchmark(
        name="caltech101",
        title="Caltech-101 objects, EfficientNet-Lite0 features, cRT",
        home="data.caltech.edu/records/mzrjq-6wc02",
        folders=("caltech101",),
        read=read,
        base=FeatureBase(),
        seed=PAPER_SEED,
        note="It stands in for Places-LT: frozen features and class-balanced logistic regression. We made the long "
        "tail (100 : 1) by leaving out training rows.",
    ),
)
