"""Oxford Flowers-102: features of a frozen network, a long-tailed training part, a balanced logistic base."""

from collections.abc import Mapping
from pathlib import Path

from repair.bench.base_scores import FeatureBase
from repair.bench.benchmark import Benchmark
from repair.bench.feature_files import long_tailed_training, read_features
from repair.bench.parts import PAPER_SEED
from repair.bench.problem import Problem

__all__ = ["BENCHMARKS"]


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Thin the training rows to a long tail; validation rows calibrate, test rows test."""
    rows = read_features(folders["flowers102"])
    return long_tailed_training(rows, rows.part, seed)


BENCHMARKS = (
    Benchmark(
        name="flowers102",
        title="Flowers-102, EfficientNet-Lite0 features, cRT",
        home="robots.ox.ac.uk/~vgg/data/flowers/102",
        folders=("flowers102",),
        read=read,
        base=FeatureBase(),
        seed=PAPER_SEED,
        note="Stands for Places-LT: frozen features, class-balanced logistic regression; the tail (100 : 1) is made.",
    ),
)
