"""Short texts with long-tailed labels: GoEmotions (emotions) and MASSIVE (intents).

The published training part trains the base (TF-IDF, logistic regression), the published
development part calibrates, the published test part tests.
"""

import json
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from repair.arrays import IntArray
from repair.bench.parts import CALIBRATION, TEST, TRAINING
from repair.bench.places import data_folder
from repair.bench.problem import Problem
from repair.errors import InputError, MissingExtraError
from repair.score_set import ScoreSet
from repair.similarity import cosine_similarity
from repair.similarity.reading import read_text

__all__ = ["TextData", "TextSplit", "read_goemotions", "read_massive", "text_problem", "tfidf_split"]

GOEMOTIONS_HOME = "github.com/google-research/google-research/tree/master/goemotions"
MASSIVE_HOME = "github.com/alexa/massive"


@dataclass(frozen=True, eq=False)
class TextData:
    """Texts and labels in three parts: training, calibration, test.

    Attributes
    ----------
    class_names : tuple of str
    texts : tuple of three tuples of str
    labels : tuple of three ndarrays of int
    """

    class_names: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    labels: tuple[IntArray, ...]


@dataclass(frozen=True, eq=False)
class TextSplit:
    """What a reranker is fitted on and tested on."""

    calibration: ScoreSet
    test: ScoreSet


def read_goemotions(path: "str | PathLike[str] | None" = None) -> TextData:
    """Read GoEmotions' simplified files, keeping the rows with one label.

    Parameters
    ----------
    path : path, optional
        The folder with ``train.tsv.gz``, ``dev.tsv.gz``, ``test.tsv.gz`` and ``labels.txt``; by
        default ``goemotions`` under ``$REPAIR_DATA``.

    Returns
    -------
    TextData
    """
    folder = data_folder("goemotions", GOEMOTIONS_HOME, path)
    names = tuple(read_text(folder / "labels.txt").split())
    parts = []
    for part in ("train", "dev", "test"):
        lines = read_text(folder / f"{part}.tsv.gz").split("\n")
        cells = [line.rstrip("\r").split("\t") for line in lines if line]
        parts.append([(cell[0], int(cell[1])) for cell in cells if "," not in cell[1]])
    return _data(names, parts)


def read_massive(path: "str | PathLike[str] | None" = None) -> TextData:
    """Read MASSIVE's intents, one JSON object a line with ``text``, ``label`` and ``label_text``.

    Parameters
    ----------
    path : path, optional
        The folder with ``train.jsonl.gz``, ``validation.jsonl.gz`` and ``test.jsonl.gz``; by
        default ``massive_en_us`` under ``$REPAIR_DATA``.

    Returns
    -------
    TextData
    """
    folder = data_folder("massive_en_us", MASSIVE_HOME, path)
    parts: list[list[tuple[str, int]]] = []
    names: dict[int, str] = {}
    for part in ("train", "validation", "test"):
        rows = [json.loads(line) for line in read_text(folder / f"{part}.jsonl.gz").split("\n") if line]
        names |= {int(row["label"]): str(row["label_text"]) for row in rows}
        parts.append([(row["text"], int(row["label"])) for row in rows])
    return _data(tuple(names[label] for label in sorted(names)), parts)


def _data(names: tuple[str, ...], parts: list[list[tuple[str, int]]]) -> TextData:
    labels = tuple(np.array([label for _, label in part], dtype=np.int32) for part in parts)
    for part in labels:
        if len(part) and (part.min() < 0 or part.max() >= len(names)):
            raise InputError(
                f"label {part.max()} has no name; there are {len(names)} names, so ids go to {len(names) - 1}"
            )
    return TextData(names, tuple(tuple(text for text, _ in part) for part in parts), labels)


def text_problem(data: TextData) -> Problem:
    """Return the published parts as a benchmark's problem."""
    return Problem(
        data.class_names,
        np.concatenate(data.labels),
        np.repeat([TRAINING, CALIBRATION, TEST], [len(part) for part in data.labels]).astype(np.int32),
        texts=tuple(text for part in data.texts for text in part),
    )


def tfidf_split(data: TextData, *, c: float = 1.0, class_weight: str | None = None) -> TextSplit:
    """Train TF-IDF and logistic regression, and score the calibration and test rows.

    Parameters
    ----------
    data : TextData
        Every class must occur in training.
    c : float, default 1
        Inverse penalty of the logistic regression.
    class_weight : {None, "balanced"}
        Whether rare classes weigh more in training: the paper's class-balanced base.

    Returns
    -------
    TextSplit
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("this benchmark needs the extra 'bench': pip install 'repair-rerank[bench]'") from None
    counts = np.bincount(data.labels[TRAINING], minlength=len(data.class_names))
    if not counts.all():
        missing = data.class_names[int(np.argmin(counts))]
        raise InputError(f"class {missing!r} has no training row; leave it out")
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit(data.texts[TRAINING])
    model = LogisticRegression(C=c, class_weight=class_weight, max_iter=300)
    model.fit(vectorizer.transform(data.texts[TRAINING]), data.labels[TRAINING])
    weights = _one_row_per_class(model)
    known: dict[str, Any] = {
        "class_counts": counts,
        "similarity": cosine_similarity(weights),
        "class_names": data.class_names,
        "weight_norms": np.linalg.norm(weights, axis=1),
    }
    calibration, test = (
        ScoreSet(vectorizer.transform(data.texts[part]) @ weights.T + model.intercept_, data.labels[part], **known)
        for part in (CALIBRATION, TEST)
    )
    return TextSplit(calibration, test)


def _one_row_per_class(model: Any) -> Any:
    """Return the weight rows; of two classes the library keeps one row, the negative is the other."""
    return np.concatenate([-model.coef_, model.coef_]) if len(model.classes_) == 2 else model.coef_
