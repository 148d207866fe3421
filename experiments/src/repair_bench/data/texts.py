"""Short texts with long-tailed labels: GoEmotions (emotions), MASSIVE (intents) and the HuffPost news categories.

The published training part is used to train the base, the published development part for
calibration, and the published test part for the test.  HuffPost has no published parts.
"""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair.errors import InputError
from repair.similarity.reading import read_text
from repair_bench.data.layouts import OFFICIAL
from repair_bench.data.parts import CALIBRATION, PAPER_SHARES, TEST, TRAINING, shuffled_parts
from repair_bench.data.problem import Problem
from repair_bench.data.sources import found

__all__ = ["read_goemotions", "read_huffpost", "read_json_lines", "read_massive"]

GOEMOTIONS_HOME = "github.com/google-research/google-research/tree/master/goemotions"
MASSIVE_HOME = "github.com/alexa/massive"


def read_goemotions(path: "str | PathLike[str] | None" = None) -> Problem:
    """Read the simplified files of GoEmotions, and keep the rows with one label.

    Parameters
    ----------
    path : path, optional
        The folder with ``train.tsv``, ``dev.tsv``, ``test.tsv`` and ``emotions.txt`` (or ``labels.txt``), plain or
        compressed.  By default ``goemotions`` under ``$REPAIR_DATA``.

    Returns
    -------
    Problem
    """
    files = found("goemotions", path).files
    names = tuple(read_text(files["names"]).split())
    parts = []
    for part in ("train", "dev", "test"):
        lines = read_text(files[part]).split("\n")
        cells = [line.rstrip("\r").split("\t") for line in lines if line]
        parts.append([(cell[0], int(cell[1])) for cell in cells if "," not in cell[1]])
    return _problem(names, parts)


def read_massive(path: "str | PathLike[str] | None" = None) -> Problem:
    """Read the intents of MASSIVE.

    Parameters
    ----------
    path : path, optional
        The folder with ``1.0/data/en-US.jsonl`` as published (``partition``, ``intent``, ``utt``), or with
        ``train.jsonl.gz``, ``validation.jsonl.gz`` and ``test.jsonl.gz`` (``text``, ``label``, ``label_text``).  By
        default ``massive_en_us`` under ``$REPAIR_DATA``.

    Returns
    -------
    Problem
    """
    place = found("massive_en_us", path)
    if place.layout == OFFICIAL:
        return _official_massive(place.files["rows"])
    parts: list[list[tuple[str, int]]] = []
    names: dict[int, str] = {}
    for part in ("train", "validation", "test"):
        rows = read_json_lines(place.files[part])
        names |= {int(row["label"]): str(row["label_text"]) for row in rows}
        parts.append([(row["text"], int(row["label"])) for row in rows])
    return _problem(tuple(names[label] for label in sorted(names)), parts)


def _official_massive(path: Path) -> Problem:
    """Classes are in alphabetical order, which is also that of the usual label ids."""
    rows = read_json_lines(path)
    names = sorted({row["intent"] for row in rows})
    label_of = {name: label for label, name in enumerate(names)}
    parts: dict[str, list[tuple[str, int]]] = {"train": [], "dev": [], "test": []}
    for number, row in enumerate(rows, 1):
        if row["partition"] not in parts:
            raise InputError(f"line {number} of {path} is of partition {row['partition']!r}, not train, dev or test")
        parts[row["partition"]].append((row["utt"], label_of[row["intent"]]))
    return _problem(tuple(names), list(parts.values()))


def read_huffpost(path: "str | PathLike[str] | None" = None, seed: int = 42) -> Problem:
    """Read the whole news category data set: version 3 has 42 categories, version 2 has 41.

    The data set has no published parts, and the paper does not say how it made them.  Articles with the same text and
    category count once.  They are shuffled by ``numpy.random.RandomState(seed).permutation`` and cut into 60 % for
    training, 20 % for calibration and 20 % for the test.

    Parameters
    ----------
    path : path, optional
        The folder with ``News_Category_Dataset_v3.json``.  By default ``huffpost`` under ``$REPAIR_DATA``.
    seed : int, default 42

    Returns
    -------
    Problem
    """
    rows = read_json_lines(found("huffpost", path).files["rows"])
    texts = [" ".join(part for part in (row["headline"], row["short_description"]) if part) for row in rows]
    articles = list(dict.fromkeys(zip(texts, (row["category"] for row in rows), strict=True)))
    kept = [(text, category) for text, category in articles if text]
    names = sorted({category for _, category in kept})
    label_of = {name: label for label, name in enumerate(names)}
    problem = Problem(
        tuple(names),
        np.array([label_of[category] for _, category in kept], dtype=np.int32),
        shuffled_parts(len(kept), PAPER_SHARES, seed),
        texts=tuple(text for text, _ in kept),
        notes=(
            f"of {len(rows)} articles, {len(rows) - len(kept)} without a text or with one that came before left out",
        ),
    )
    return problem.without_untrained_classes()


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file with one JSON object per line, or raise an error that names the line."""
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise InputError(f"line {number} of {path} is not JSON ({error}); get the file again") from None
    return rows


def _problem(names: tuple[str, ...], parts: list[list[tuple[str, int]]]) -> Problem:
    """Join the published parts: training, calibration and test."""
    rows = [row for part in parts for row in part]
    labels = np.array([label for _, label in rows], dtype=np.int32)
    if len(labels) and (labels.min() < 0 or labels.max() >= len(names)):
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise InputError(f"label {wrong} has no name; there are {len(names)} names, so ids go to {len(names) - 1}")
    part = np.repeat([TRAINING, CALIBRATION, TEST], [len(one) for one in parts]).astype(np.int32)
    return Problem(names, labels, part, texts=tuple(text for text, _ in rows))
