"""Places-LT: the published lists, and scores or features of a network; or the authors' score file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from repair_bench.bases.base_scores import ScoresOrHead
from repair_bench.data.author_files import PLACES_SHARE, read_author_scores
from repair_bench.data.image_lists import read_list
from repair_bench.data.image_sets import ImageSet
from repair_bench.data.layouts import AUTHORS
from repair_bench.data.parts import PAPER_SEED, published_halves_per_class
from repair_bench.data.problem import Problem
from repair_bench.data.sizes import PLACES_LT, with_sizes
from repair_bench.data.sources import found
from repair_bench.harness.benchmark import Benchmark, Published
from repair_bench.sets.imagenet_lt import class_folders, compared_counts

__all__ = ["BENCHMARKS", "read"]

PUBLISHED = Published(
    "ResNet-152, cRT",
    {"lambda_a": 0.001, "lambda_theta": 0.001, "alpha": 0.3, "tau": 0.0},
    {
        "Base": {"coverage": 75.3, "hit@1": 44.7, "hit@3": 72.1, "mrr": 0.617, "rare": 46.3, "frequent": 37.9},
        "LogitAdj": {"hit@1": 44.5, "hit@3": 71.5, "mrr": 0.613, "rare": 47.9, "frequent": 30.4, "hfr": 0.072},
        "τ-norm": {"hit@1": 19.7, "hit@3": 45.5, "mrr": 0.397, "rare": 24.5, "frequent": 0.0, "hfr": 0.405},
        "Classwise": {"hit@1": 45.1, "hit@3": 72.4, "mrr": 0.620, "rare": 46.9, "frequent": 37.4, "hfr": 0.028},
        "REPAIR": {"hit@1": 45.5, "hit@3": 72.5, "mrr": 0.622, "rare": 48.2, "frequent": 34.1, "hfr": 0.072},
    },
)


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the lists.  Of each class of the test part, 60 % of the images calibrate, as in the paper."""
    place = found("places_lt", folders["places_lt"])
    if place.layout == AUTHORS:
        return with_sizes(read_author_scores(place).problem, PLACES_LT)
    training, evaluated = read_list(place.files["train"]), read_list(place.files["test"])
    names = class_folders(training, "Places_LT_train.txt")
    notes = compared_counts(place, np.bincount(training.labels, minlength=len(names)))
    part = published_halves_per_class(evaluated.labels, PLACES_SHARE, len(names), seed)
    images = ImageSet(names, training, evaluated, part, notes=notes)
    return with_sizes(images.problem(place), PLACES_LT)


BENCHMARKS = (
    Benchmark(
        name="places_lt",
        title="Places-LT, scenes",
        home="github.com/zhmiao/OpenLongTailRecognition-OLTR",
        folders=("places_lt",),
        read=read,
        base=ScoresOrHead(),
        seed=PAPER_SEED,
        published=PUBLISHED,
        note="Scores come from a file next to the lists. With features, the base is the paper's: class-balanced "
        "logistic regression on frozen features.",
    ),
)
