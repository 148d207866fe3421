"""iNaturalist 2018: the published JSON files with the taxonomy, and scores or features; or the authors' score file."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from repair.errors import InputError
from repair.similarity import taxonomy_similarity
from repair.similarity.reading import read_text
from repair_bench.bases.base_scores import ScoresOrHead
from repair_bench.data.author_files import read_author_scores
from repair_bench.data.image_lists import ImageRows
from repair_bench.data.image_sets import ImageSet
from repair_bench.data.layouts import AUTHORS
from repair_bench.data.parts import PAPER_SEED, published_halves
from repair_bench.data.problem import Problem
from repair_bench.data.sizes import INAT2018, with_sizes
from repair_bench.data.sources import found
from repair_bench.harness.benchmark import Benchmark, Published

__all__ = ["BENCHMARKS", "lineages", "read"]

#: The levels of the taxonomy, from the root to the species.
LEVELS = ("kingdom", "phylum", "class", "order", "family", "genus", "name")
#: The paper calibrates on 30,000 of 100,000 rows.
CALIBRATION_SHARE = 0.3
PUBLISHED = Published(
    "ResNet-50",
    {"lambda_a": 0.01, "lambda_theta": 0.005, "alpha": 0.3, "tau": 1.0},
    {
        "Base": {"coverage": 37.8, "hit@1": 47.0, "hit@3": 71.7, "mrr": 0.627, "rare": 37.5, "frequent": 60.0},
        "LogitAdj": {"hit@1": 49.0, "hit@3": 74.7, "mrr": 0.648, "rare": 41.7, "frequent": 58.9, "hfr": 0.097},
        "τ-norm": {"hit@1": 48.1, "hit@3": 73.7, "mrr": 0.640, "rare": 40.0, "frequent": 59.2, "hfr": 0.105},
        "Classwise": {"hit@1": 48.8, "hit@3": 74.5, "mrr": 0.646, "rare": 41.1, "frequent": 59.3, "hfr": 0.074},
        "REPAIR": {"hit@1": 49.0, "hit@3": 75.6, "mrr": 0.652, "rare": 42.2, "frequent": 58.4, "hfr": 0.138},
    },
)


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the JSON files.  Of the validation images, 30 % calibrate, which is the paper's share, and 70 % test."""
    place = found("inat2018", folders["inat2018"])
    if place.layout == AUTHORS:
        return with_sizes(read_author_scores(place).problem, INAT2018)
    training, evaluated = (_document(place.files[name]) for name in ("train", "val"))
    listed = _document(place.files["categories"]) if "categories" in place.files else training["categories"]
    categories = sorted(listed, key=lambda one: int(one["id"]))
    label_of = {int(one["id"]): label for label, one in enumerate(categories)}
    paths = lineages(categories)
    notes: tuple[str, ...] = ()
    if paths is None and "taxonomy" in place.files:
        paths = lineages(list(csv.DictReader(io.StringIO(read_text(place.files["taxonomy"])))))
        notes = ("the taxonomy is that of longtail_class_counts",)
    elif paths is None:
        notes = ("the categories have no taxonomy, so the similarity is not the paper's; get categories.json",)
    rows = [_rows(one, label_of, place.files[name]) for one, name in ((training, "train"), (evaluated, "val"))]
    part = published_halves(len(rows[1]), round(CALIBRATION_SHARE * len(rows[1])), seed)
    similarity = None if paths is None else taxonomy_similarity(paths, sparse=False)
    names = tuple(str(one["name"]) for one in categories)
    images = ImageSet(names, rows[0], rows[1], part, "val", similarity, notes)
    return with_sizes(images.problem(place), INAT2018)


def lineages(categories: list[dict[str, Any]]) -> list[tuple[str, ...]] | None:
    """Return the path of each category from its kingdom to its name, or None if the categories have no taxonomy.

    Examples
    --------
    >>> from repair_bench.sets.inat2018 import lineages
    >>> one = dict(kingdom="Animalia", phylum="P", order="O", family="F", genus="G", name="G s")
    >>> lineages([one | {"class": "C"}])
    [('Animalia', 'P', 'C', 'O', 'F', 'G', 'G s')]
    >>> lineages([{"name": "0", "supercategory": "Aves"}]) is None
    True
    """
    if not all(level in one for one in categories for level in LEVELS):
        return None
    return [tuple(str(one[level]) for level in LEVELS) for one in categories]


def _document(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); check that the download is complete") from None


def _rows(document: Any, label_of: Mapping[int, int], path: Path) -> ImageRows:
    try:
        category = {int(one["image_id"]): int(one["category_id"]) for one in document["annotations"]}
        images = [(str(one["file_name"]), category[int(one["id"])]) for one in document["images"]]
        labels = np.array([label_of[one] for _, one in images], dtype=np.int32)
    except KeyError as error:
        raise InputError(f"{path}: an image, annotation or category has no {error}; get the file again") from None
    return ImageRows(tuple(name for name, _ in images), labels)


BENCHMARKS = (
    Benchmark(
        name="inat2018",
        title="iNaturalist 2018, species",
        home="github.com/visipedia/inat_comp/tree/master/2018",
        folders=("inat2018",),
        read=read,
        base=ScoresOrHead(),
        seed=PAPER_SEED,
        published=PUBLISHED,
        note="Scores come from a file next to the published ones. With features, the base is class-balanced logistic "
        "regression.",
    ),
)
