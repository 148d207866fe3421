"""Oxford Flowers-102: features of a frozen network, a long-tailed training part, balanced logistic regression."""

from collections.abc import Mapping
from pathlib import Path

from repair_bench.bases.base_scores import FeatureBase
from repair_bench.data.feature_files import long_tailed_training, read_features
from repair_bench.data.parts import PAPER_SEED
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark

__all__ = ["BENCHMARKS"]


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Thin the training rows to a long tail, and use the validation rows for calibration."""
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
        note="It stands in for Places-LT: frozen features and class-balanced logistic regression. We made the long "
        "tail (100 : 1) by leaving out training rows.",
    ),
)
