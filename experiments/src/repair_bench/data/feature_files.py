"""Reading images as features of a frozen network: one npz file, and one JSON file with the class names."""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.errors import InputError
from repair.similarity.reading import file_of, read_text
from repair_bench.data.parts import TRAINING, keep_per_class, long_tail_counts
from repair_bench.data.problem import Problem

__all__ = ["long_tailed_training", "read_arrays", "read_features"]

FEATURES = "features_efficientnet_lite0.npz"
#: The training part after thinning: rows of the largest class, and its ratio to the smallest class.
LARGEST_CLASS, IMBALANCE = 100, 100.0


def read_features(folder: Path) -> Problem:
    """Read features, labels, parts and class names.

    Parameters
    ----------
    folder : Path
        It contains ``features_efficientnet_lite0.npz`` (``features``, ``labels``, and ``split`` with 0 for
        training, 1 for validation, 2 for test) and ``meta.json`` (``class_names``).

    Returns
    -------
    Problem
    """
    features, labels, split = read_arrays(folder / FEATURES, ("features", "labels", "split"))
    names = tuple(json.loads(read_text(file_of(folder, ("meta.json",))))["class_names"])
    return Problem(names, labels.astype(np.int32), split.astype(np.int32), features=features)


def read_arrays(path: Path, names: Sequence[str]) -> list[AnyArray]:
    """Return some arrays of an npz file, or raise an error that says what the file should contain."""
    try:
        # Read from memory, because numpy leaves the file of a damaged archive open.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return [arrays[name] for name in names]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"cannot read {path}: {error}; it should contain {', '.join(names)}") from error


def long_tailed_training(rows: Problem, part: IntArray, seed: int) -> Problem:
    """Assign the rows to the given parts, and thin the training part to an exponential tail."""
    cut = replace(rows, part=part)
    kept = part != TRAINING
    kept[~kept] = keep_per_class(cut.labels[~kept], long_tail_counts(cut.counts, IMBALANCE, LARGEST_CLASS), seed)
    return cut.take(kept)
