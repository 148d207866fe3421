"""Short texts with long-tailed labels: GoEmotions (emotions) and MASSIVE (intents).

The published training part is used to train the base, the published development part for
calibration, and the published test part for the test.
"""

import json
from os import PathLike

import numpy as np

from repair.errors import InputError
from repair.similarity.reading import read_text
from repair_bench.data.parts import CALIBRATION, TEST, TRAINING
from repair_bench.data.places import data_folder
from repair_bench.data.problem import Problem

__all__ = ["read_goemotions", "read_massive"]

GOEMOTIONS_HOME = "github.com/google-research/google-research/tree/master/goemotions"
MASSIVE_HOME = "github.com/alexa/massive"


def read_goemotions(path: "str | PathLike[str] | None" = None) -> Problem:
    """Read the simplified files of GoEmotions, and keep the rows with one label.

    Parameters
    ----------
    path : path, optional
        The folder with ``train.tsv.gz``, ``dev.tsv.gz``, ``test.tsv.gz`` and ``labels.txt``.  By
        default ``goemotions`` under ``$REPAIR_DATA``.

    Returns
    -------
    Problem
    """
    folder = data_folder("goemotions", GOEMOTIONS_HOME, path)
    names = tuple(read_text(folder / "labels.txt").split())
    parts = []
    for part in ("train", "dev", "test"):
        lines = read_text(folder / f"{part}.tsv.gz").split("\n")
        cells = [line.rstrip("\r").split("\t") for line in lines if line]
        parts.append([(cell[0], int(cell[1])) for cell in cells if "," not in cell[1]])
    return _problem(names, parts)


def read_massive(path: "str | PathLike[str] | None" = None) -> Problem:
    """Read the intents of MASSIVE, one JSON object per line with ``text``, ``label`` and ``label_text``.

    Parameters
    ----------
    path : path, optional
        The folder with ``train.jsonl.gz``, ``validation.jsonl.gz`` and ``test.jsonl.gz``.  By
        default ``massive_en_us`` under ``$REPAIR_DATA``.

    Returns
    -------
    Problem
    """
    folder = data_folder("massive_en_us", MASSIVE_HOME, path)
    parts: list[list[tuple[str, int]]] = []
    names: dict[int, str] = {}
    for part in ("train", "validation", "test"):
        rows = [json.loads(line) for line in read_text(folder / f"{part}.jsonl.gz").split("\n") if line]
        names |= {int(row["label"]): str(row["label_text"]) for row in rows}
        parts.append([(row["text"], int(row["label"])) for row in rows])
    return _problem(tuple(names[label] for label in sorted(names)), parts)


def _problem(names: tuple[str, ...], parts: list[list[tuple[str, int]]]) -> Problem:
    """Join the published parts: training, calibration and test."""
    rows = [row for part in parts for row in part]
    labels = np.array([label for _, label in rows], dtype=np.int32)
    if len(labels) and (labels.min() < 0 or labels.max() >= len(names)):
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise InputError(f"label {wrong} has no name; there are {len(names)} names, so ids go to {len(names) - 1}")
    part = np.repeat([TRAINING, CALIBRATION, TEST], [len(one) for one in parts]).astype(np.int32)
    return Problem(names, labels, part, texts=tuple(text for text, _ in rows))
