"""HuffPost categories: the whole data set, and two approximations of it.

The data set has no published parts.  The approximations, natural articles split by time and headlines
thinned to the true class shares, are for those who do not have the whole of it.
"""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from repair.errors import InputError
from repair.similarity.reading import read_text
from repair_bench.bases.base_scores import TextBase
from repair_bench.bases.sentence_base import SentenceBase
from repair_bench.data.parts import PAPER_SEED, keep_per_class, parts_in_order, stratified_parts
from repair_bench.data.problem import Problem
from repair_bench.data.sizes import HUFFPOST, with_sizes
from repair_bench.data.sources import found
from repair_bench.data.texts import read_huffpost, read_json_lines
from repair_bench.harness.benchmark import Benchmark, Published, with_sentences

__all__ = ["BENCHMARKS"]

HOME = "kaggle.com/datasets/rmisra/news-category-dataset"
SHARES = (0.6, 0.2, 0.2)
NUMBERS = {
    "Base": {"hit@1": 66.51, "hit@3": 86.87, "rare": 41.15, "frequent": 81.90},
    "LogitAdj": {"hit@1": 66.62, "hit@3": 87.19, "rare": 42.61, "frequent": 81.20, "hfr": 0.026},
    "τ-norm": {"hit@1": 66.47, "hit@3": 86.82, "rare": 41.12, "frequent": 81.85, "hfr": 0.002},
    "Classwise": {"hit@1": 66.14, "hit@3": 86.58, "rare": 43.39, "frequent": 80.60, "hfr": 0.060},
    "REPAIR": {"hit@1": 66.98, "hit@3": 87.53, "rare": 45.43, "frequent": 80.07, "hfr": 0.062},
}
PUBLISHED = Published("Qwen3.5-2B with LoRA", numbers=NUMBERS)


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the whole data set, shuffled and cut into 60/20/20 (see `repair_bench.data.texts.read_huffpost`)."""
    return with_sizes(read_huffpost(folders["huffpost"], seed), HUFFPOST)


def read_natural(folders: Mapping[str, Path], seed: int) -> Problem:
    """Split by time: the oldest 60 % for training, the newest 20 % for the test.  Nothing is random."""
    rows = sorted(
        read_json_lines(found("huffpost_natural", folders["huffpost_natural"]).files["natural_long_tail"]), key=_when
    )
    return _problem(rows, "category", parts_in_order(len(rows), SHARES)).without_untrained_classes()


def read_41(folders: Mapping[str, Path], seed: int) -> Problem:
    """Thin the balanced headlines to the class shares of the whole data set, then split each class 60/20/20."""
    files = found("huffpost_41", folders["huffpost_41"]).files
    rows = read_json_lines(files["headlines_41x900"])
    rows = list({row["text"]: row for row in rows}.values())  # the same text must not be in two parts
    true = _true_counts(files["counts"])
    names = sorted({row["class_name"] for row in rows})
    for name in names:
        if name not in true:
            raise InputError(f"class {name!r} is not in category_counts_v2.csv; complete that file")
    labels = np.array([names.index(row["class_name"]) for row in rows])
    share = np.array([true[name] for name in names]) / max(true[name] for name in names)
    wanted = np.maximum(np.round(np.bincount(labels).max() * share), len(SHARES))
    kept = np.flatnonzero(keep_per_class(labels, wanted, seed))
    rows = [rows[index] for index in kept]
    return _problem(rows, "class_name", stratified_parts(labels[kept], SHARES, seed))


def _when(row: Mapping[str, Any]) -> tuple[int, int, str]:
    """Return a key that increases with time: older rows count back from the newest of them, newer rows have dates."""
    if row["order"] is not None:
        return 0, -int(row["order"]), ""
    return 1, 0, str(row["date"])


def _true_counts(path: Path) -> dict[str, int]:
    return {row["category"].lower(): int(row["count"]) for row in csv.DictReader(io.StringIO(read_text(path)))}


def _problem(rows: list[dict[str, Any]], column: str, part: Any) -> Problem:
    names = sorted({row[column] for row in rows})
    label_of = {name: label for label, name in enumerate(names)}
    labels = np.array([label_of[row[column]] for row in rows], dtype=np.int32)
    return Problem(tuple(names), labels, part, texts=tuple(row["text"] for row in rows))


TFIDF = (
    Benchmark(
        name="huffpost",
        title="HuffPost categories, all articles",
        home=HOME,
        folders=("huffpost",),
        read=read,
        base=TextBase(sentences=SentenceBase()),
        seed=PAPER_SEED,
        published=PUBLISHED,
        note="The data set has no published parts, and the paper does not describe its own. These are 60/20/20 at "
        "random.",
    ),
    Benchmark(
        name="huffpost_natural",
        title="HuffPost categories, newest articles, cut in time",
        home=HOME,
        folders=("huffpost_natural",),
        read=read_natural,
        base=TextBase(sentences=SentenceBase()),
        published=PUBLISHED,
        note="It has only the newest articles, so its class mix is not that of the whole set and drifts between parts.",
    ),
    Benchmark(
        name="huffpost_41",
        title="HuffPost headlines, 41 classes in their true shares",
        home=HOME,
        folders=("huffpost_41",),
        read=read_41,
        base=TextBase(sentences=SentenceBase()),
        seed=PAPER_SEED,
        published=PUBLISHED,
        note="A balanced set, thinned to the true class shares. It has few rows, and none is longer than a headline.",
    ),
)
BENCHMARKS = (*TFIDF, *(with_sentences(one, SentenceBase()) for one in TFIDF))
