"""GoEmotions: the published parts, rows with one label."""

from collections.abc import Mapping
from pathlib import Path

from repair_bench.bases.base_scores import TextBase
from repair_bench.bases.sentence_base import SentenceBase
from repair_bench.data.problem import Problem
from repair_bench.data.sizes import GOEMOTIONS, with_sizes
from repair_bench.data.texts import GOEMOTIONS_HOME, read_goemotions
from repair_bench.harness.benchmark import Benchmark, Published, with_sentences

__all__ = ["BENCHMARKS"]

NUMBERS = {
    "Base": {"hit@1": 58.10, "hit@3": 81.23, "rare": 26.90, "frequent": 74.97},
    "LogitAdj": {"hit@1": 58.48, "hit@3": 81.58, "rare": 29.97, "frequent": 73.89, "hfr": 0.042},
    "τ-norm": {"hit@1": 58.27, "hit@3": 81.07, "rare": 27.21, "frequent": 75.08, "hfr": 0.017},
    "Classwise": {"hit@1": 58.82, "hit@3": 81.54, "rare": 34.94, "frequent": 71.93, "hfr": 0.093},
    "REPAIR": {"hit@1": 58.87, "hit@3": 81.53, "rare": 35.45, "frequent": 71.92, "hfr": 0.139},
}


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the published parts.  Nothing is random, so the seed is not used."""
    return with_sizes(read_goemotions(folders["goemotions"]), GOEMOTIONS)


TFIDF = (
    Benchmark(
        name="goemotions",
        title="GoEmotions, emotions of comments",
        home=GOEMOTIONS_HOME,
        folders=("goemotions",),
        read=read,
        base=TextBase(sentences=SentenceBase()),
        published=Published("Qwen3.5-2B with LoRA", numbers=NUMBERS),
    ),
)
BENCHMARKS = (*TFIDF, *(with_sentences(one, SentenceBase()) for one in TFIDF))
