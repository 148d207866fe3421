"""The sizes of the published training lists."""

import csv
import gzip
import io

import numpy as np
import pytest

from repair_bench.data.sizes import IMAGENET_LT, INAT2018, PLACES_LT, Sizes


@pytest.mark.parametrize(("name", "sizes"), [("imagenet_lt", IMAGENET_LT), ("places_lt", PLACES_LT)])
def test_they_are_those_of_the_real_class_counts(shared_data, name, sizes):
    text = (shared_data("longtail_class_counts") / f"{name}.csv").read_text(encoding="utf-8")
    counts = np.array([int(row["train"]) for row in csv.DictReader(io.StringIO(text))])
    assert (sizes.classes, sizes.training) == (len(counts), counts.sum())
    assert (sizes.largest, sizes.smallest) == (counts.max(), counts.min())


def test_the_species_are_those_of_the_real_taxonomy(shared_data):
    folder = shared_data("longtail_class_counts")
    content = gzip.decompress((folder / "inat2018_taxonomy.csv.gz").read_bytes()).decode()
    assert len(list(csv.DictReader(io.StringIO(content)))) == INAT2018.classes
    rows = list(csv.DictReader((folder / "inat2018_supercategory_totals.csv").read_text().splitlines()))
    assert sum(int(row["train_images"]) for row in rows) == INAT2018.training
    assert "24,426" in INAT2018.remark
    assert sum(int(row["val_images"]) for row in rows) == 24_426


def test_only_known_numbers_are_compared():
    sizes = Sizes(3, test=5, remark="known")
    assert sizes.disagreements(3, 99, 5, np.array([7, 7, 7])) == []
    assert sizes.disagreements(3, 99, 6, np.array([7, 7, 7])) == ["test rows: 6 here, 5 in the paper", "known"]
