"""MASSIVE intents: the published parts, and a variant with a training part that is made long-tailed."""

from collections.abc import Mapping
from pathlib import Path

from repair_bench.bases.base_scores import TextBase
from repair_bench.bases.sentence_base import SentenceBase
from repair_bench.data.parts import PAPER_SEED, TRAINING, keep_per_class, long_tail_counts
from repair_bench.data.problem import Problem
from repair_bench.data.sizes import MASSIVE, with_sizes
from repair_bench.data.texts import MASSIVE_HOME, read_massive
from repair_bench.harness.benchmark import Benchmark, Published, with_sentences

__all__ = ["BENCHMARKS"]

#: The long-tailed training part: rows of the largest class, and its ratio to the smallest class.
LARGEST_CLASS, IMBALANCE = 200, 100.0
NUMBERS = {
    "Base": {"hit@1": 55.26, "hit@3": 77.65, "rare": 32.06, "frequent": 68.55},
    "LogitAdj": {"hit@1": 56.39, "hit@3": 78.86, "rare": 40.07, "frequent": 68.55, "hfr": 0.133},
    "τ-norm": {"hit@1": 55.26, "hit@3": 77.65, "rare": 32.06, "frequent": 68.55, "hfr": 0.0},
    "Classwise": {"hit@1": 56.65, "hit@3": 78.71, "rare": 40.26, "frequent": 67.70, "hfr": 0.122},
    "REPAIR": {"hit@1": 58.43, "hit@3": 80.79, "rare": 45.79, "frequent": 71.30, "hfr": 0.217},
}


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the published parts.  Nothing is random, so the seed is not used."""
    return with_sizes(read_massive(folders["massive_en_us"]).without_untrained_classes(), MASSIVE)


def read_long_tailed(folders: Mapping[str, Path], seed: int) -> Problem:
    """Thin the training part to a long tail.  Calibration and test stay as published."""
    problem = read(folders, seed)
    kept = problem.part != TRAINING
    wanted = long_tail_counts(problem.counts, IMBALANCE, LARGEST_CLASS)
    kept[~kept] = keep_per_class(problem.labels[~kept], wanted, seed)
    return problem.take(kept)


TFIDF = (
    Benchmark(
        name="massive",
        title="MASSIVE (en-US), intents",
        home=MASSIVE_HOME,
        folders=("massive_en_us",),
        read=read,
        base=TextBase(sentences=SentenceBase()),
        published=Published("Qwen3.5-2B with LoRA", numbers=NUMBERS),
    ),
    Benchmark(
        name="massive_lt",
        title="MASSIVE (en-US), intents, long-tailed training part",
        home=MASSIVE_HOME,
        folders=("massive_en_us",),
        read=read_long_tailed,
        base=TextBase(sentences=SentenceBase()),
        seed=PAPER_SEED,
        note="The training part is thinned to an exponential tail (200 : 2). The paper does not say how it trained.",
    ),
)
BENCHMARKS = (*TFIDF, *(with_sentences(one, SentenceBase()) for one in TFIDF))
