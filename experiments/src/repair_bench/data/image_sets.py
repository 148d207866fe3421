"""Image sets as problems: lists of images, next to the scores of a classifier or the features of a network."""

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.errors import InputError
from repair_bench.data.image_lists import ImageRows
from repair_bench.data.layouts import WITH_SCORES, Found
from repair_bench.data.parts import TRAINING
from repair_bench.data.problem import Problem
from repair_bench.data.score_arrays import check_labels, read_npz

__all__ = ["ImageSet"]


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images in a training part, and in a second part that is divided into calibration and test.

    Attributes
    ----------
    class_names : tuple of str
    training, evaluated : ImageRows
    part : ndarray of int
        Part of each evaluated image: calibration (1) or test (2).
    name : str
        Name of the evaluated part in ``features.npz``.
    similarity : ndarray (K, K), or None
    notes : tuple of str
    """

    class_names: tuple[str, ...]
    training: ImageRows
    evaluated: ImageRows
    part: IntArray
    name: str = "test"
    similarity: FloatArray | None = None
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> AnyArray:
        """Training images per class."""
        return np.bincount(self.training.labels, minlength=len(self.class_names))

    def problem(self, found: Found) -> Problem:
        """Return the problem.  With scores it has no training rows, and its features are the scores.

        ``scores.npz`` has ``scores`` (one row per evaluated image in the order of the list, one column per class), and
        optionally ``labels`` and ``weight_norms``.  ``features.npz`` has one array per part, in the order of the lists.
        """
        if found.layout == WITH_SCORES:
            return self._with_scores(found)
        arrays = read_npz(found.files["features"], ("train", self.name))
        for name, rows in (("train", self.training), (self.name, self.evaluated)):
            if arrays[name].ndim != 2 or len(arrays[name]) != len(rows):
                raise InputError(
                    f"{name} in {found.files['features']} has shape {arrays[name].shape}, but the list has {len(rows)} "
                    "images; save one row per image in the order of the list"
                )
        whole = Problem(
            self.class_names,
            np.concatenate([self.training.labels, self.evaluated.labels]),
            np.concatenate([np.full(len(self.training), TRAINING, dtype=np.int32), self.part]),
            features=np.concatenate([arrays["train"], arrays[self.name]]),
            similarity=self.similarity,
            notes=self.notes,
        )
        return whole.without_untrained_classes()

    def _with_scores(self, found: Found) -> Problem:
        path = found.files["scores"]
        arrays = read_npz(path, ("scores", "labels?", "weight_norms?"))
        expected = (len(self.evaluated), len(self.class_names))
        if arrays["scores"].shape != expected:
            raise InputError(
                f"scores in {path} has shape {arrays['scores'].shape}; expected {expected}, one row per image in the "
                "order of the list and one column per class"
            )
        if "labels" in arrays:
            labels = check_labels(arrays["labels"], arrays["scores"], str(path))
            if (labels != self.evaluated.labels).any():
                row = int(np.argmax(labels != self.evaluated.labels))
                raise InputError(
                    f"label {row} of {path} is {labels[row]}, but the list says {self.evaluated.labels[row]}; save the "
                    "rows in the order of the list"
                )
        return Problem(
            self.class_names,
            self.evaluated.labels,
            self.part,
            features=arrays["scores"],
            similarity=self.similarity,
            class_counts=self.counts,
            weight_norms=arrays.get("weight_norms"),
            notes=self.notes,
        )
