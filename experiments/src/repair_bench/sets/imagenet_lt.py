"""ImageNet-LT: the published lists, and scores or features of a network; or the authors' score file."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError
from repair.similarity import read_wordnet, wordnet_similarity
from repair.similarity.reading import read_text
from repair_bench.bases.base_scores import ScoresOrHead
from repair_bench.data.author_files import IMAGENET_CALIBRATION, read_author_scores
from repair_bench.data.image_lists import ImageRows, read_list
from repair_bench.data.image_sets import ImageSet
from repair_bench.data.layouts import AUTHORS, Found
from repair_bench.data.parts import PAPER_SEED, published_halves
from repair_bench.data.problem import Problem
from repair_bench.data.sizes import IMAGENET_LT, with_sizes
from repair_bench.data.sources import found
from repair_bench.harness.benchmark import Benchmark, Published

__all__ = ["BENCHMARKS", "class_folders", "compared_counts", "read"]

PUBLISHED = Published(
    "ResNet-50",
    {"lambda_a": 0.001, "lambda_theta": 0.001, "alpha": 0.0, "tau": 1.0},
    {
        "Base": {"coverage": 76.7, "hit@1": 54.4, "hit@3": 78.6, "mrr": 0.689, "rare": 47.4, "frequent": 76.7},
        "LogitAdj": {"hit@1": 61.5, "hit@3": 85.3, "mrr": 0.748, "rare": 59.5, "frequent": 68.1, "hfr": 0.321},
        "τ-norm": {"hit@1": 60.5, "hit@3": 84.8, "mrr": 0.741, "rare": 58.1, "frequent": 68.2, "hfr": 0.299},
        "Classwise": {"hit@1": 61.8, "hit@3": 85.4, "mrr": 0.750, "rare": 59.9, "frequent": 67.8, "hfr": 0.336},
        "REPAIR": {"hit@1": 62.0, "hit@3": 85.4, "mrr": 0.751, "rare": 60.8, "frequent": 65.7, "hfr": 0.378},
    },
)


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the lists.  Of the test part, 20,000 random images calibrate, as in the paper, and the others test."""
    place = found("imagenet_lt", folders["imagenet_lt"])
    if place.layout == AUTHORS:
        return with_sizes(read_author_scores(place).problem, IMAGENET_LT)
    training, evaluated = read_list(place.files["train"]), read_list(place.files["test"])
    names = class_folders(training, "ImageNet_LT_train.txt")
    similarity = None
    notes = compared_counts(place, np.bincount(training.labels, minlength=len(names)))
    if "wordnet" in place.files:
        similarity = wordnet_similarity(names, read_wordnet(place.files["wordnet"]))
    else:
        notes = (*notes, "no file of WordNet hypernyms is there, so the similarity is not the paper's")
    part = published_halves(len(evaluated), round(IMAGENET_CALIBRATION * len(evaluated)), seed)
    images = ImageSet(names, training, evaluated, part, similarity=similarity, notes=notes)
    return with_sizes(images.problem(place), IMAGENET_LT)


def class_folders(rows: ImageRows, list_name: str) -> tuple[str, ...]:
    """Return the name of each class: the folder of its training images.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.data.image_lists import ImageRows
    >>> from repair_bench.sets.imagenet_lt import class_folders
    >>> class_folders(ImageRows(("train/n01/a.JPEG", "train/n02/b.JPEG"), np.array([0, 1])), "list.txt")
    ('n01', 'n02')
    """
    names: dict[int, str] = {}
    for path, label in zip(rows.paths, rows.labels.tolist(), strict=True):
        name = PurePosixPath(path).parent.name
        if names.setdefault(label, name) != name:
            raise InputError(f"class {label} of {list_name} has images in the folders {names[label]} and {name}")
    missing = next((label for label in range(max(names) + 1) if label not in names), None)
    if missing is not None:
        raise InputError(f"{list_name} has no image of class {missing}; get the file again")
    return tuple(names[label] for label in range(len(names)))


def compared_counts(place: Found, counts: AnyArray) -> tuple[str, ...]:
    """Return a note on how the training counts compare with those of ``longtail_class_counts``, if they are there."""
    if "counts" not in place.files:
        return ()
    listed = {
        int(row["class_index"]): int(row["train"])
        for row in csv.DictReader(io.StringIO(read_text(place.files["counts"])))
    }
    differing = [label for label, count in enumerate(counts.tolist()) if listed.get(label) != count]
    extra = sorted(set(listed) - set(range(len(counts))))
    if not differing and not extra:
        return ("the training counts are those of longtail_class_counts",)
    first = (differing or extra)[0]
    here = int(counts[first]) if first < len(counts) else 0
    return (
        f"the training counts of {len(differing) + len(extra)} classes differ from longtail_class_counts (class "
        f"{first}: {here} here, {listed.get(first, 0)} there)",
    )


BENCHMARKS = (
    Benchmark(
        name="imagenet_lt",
        title="ImageNet-LT, objects",
        home="github.com/facebookresearch/classifier-balancing",
        folders=("imagenet_lt",),
        read=read,
        base=ScoresOrHead(),
        seed=PAPER_SEED,
        published=PUBLISHED,
        note="Scores come from a file next to the lists. With features, the base is balanced logistic regression.",
    ),
)
