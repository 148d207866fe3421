"""A small problem in every kind of file, a fitted model, and the command in this very process."""

import os
from pathlib import Path

import numpy as np
import pytest

from repair.datasets import SyntheticSettings, make_synthetic

NAMES = tuple(f"class {place:02}" for place in range(12))
K = len(NAMES)


@pytest.fixture(scope="session")
def problem_files(tmp_path_factory):
    """Write the same rows as long-form CSV, dense parquet and npz, with a class table and its kin."""
    folder = tmp_path_factory.mktemp("data")
    made = make_synthetic(SyntheticSettings(n_classes=K, n_calibration=400, n_test=200, n_pairs=2))
    write_classes(folder, made)
    for part, rows in (("calibration", made.calibration), ("test", made.test)):
        write_part(folder, part, rows.scores, rows.labels)
    return folder


@pytest.fixture
def data(problem_files):
    return problem_files


@pytest.fixture
def names():
    return NAMES


@pytest.fixture(scope="session")
def no_such_file():
    """What the system says about a missing file: Windows has its own words."""
    with pytest.raises(FileNotFoundError) as caught:
        os.stat("no such file")
    return caught.value.strerror


@pytest.fixture
def write_rows():
    return write_part


@pytest.fixture(scope="session")
def fitted(problem_files):
    """A classwise model of the long-form rows."""
    from repair.cli import run

    path = problem_files / "model.safetensors"
    calibration, classes = problem_files / "calibration.csv", problem_files / "classes.csv"
    assert run(["fit", str(calibration), "-o", str(path), "--classes", str(classes), "--mode", "classwise"]) == 0
    return path


def write_classes(folder: Path, made):
    lines = [
        f"{name},{int(made.class_counts[place])},g{place % 3},root/g{place % 3}/{name}"
        for place, name in enumerate(NAMES)
    ]
    (folder / "classes.csv").write_text("\n".join(["class,count,group,path", *lines]) + "\n", encoding="utf-8")
    header = ",".join(["class", *NAMES])
    rows = [f"{name}," + ",".join(f"{one:.6f}" for one in made.similarity[place]) for place, name in enumerate(NAMES)]
    (folder / "similarity.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def write_part(folder: Path, part: str, scores, labels, k: int = 6):
    import pyarrow as pa
    from pyarrow import parquet

    lines = ["query_id,class_name,score,label,group,source"]
    for row, (line, label) in enumerate(zip(scores, labels, strict=True)):
        for place in np.argsort(-line)[:k]:
            lines.append(f"{part[0]}{row},{NAMES[place]},{line[place]:.5f},{NAMES[label]},p{row // 2},s{row % 5}")
    (folder / f"{part}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = {"id": [f"{part[0]}{row}" for row in range(len(scores))]}
    columns |= {name: scores[:, place] for place, name in enumerate(NAMES)}
    columns |= {"label": [NAMES[label] for label in labels]}
    parquet.write_table(pa.table(columns), folder / f"{part}.parquet")
    np.savez(folder / f"{part}.npz", scores=scores, labels=labels, class_names=np.array(NAMES))
