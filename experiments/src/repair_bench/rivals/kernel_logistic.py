"""Kernel logistic regression on score profiles, in residual form.

z + f(z) with f = Φ(z)·B, where Φ are Nyström features (Williams & Seeger, "Using the Nyström method to speed
up kernel machines", NIPS 2000) of an RBF kernel between score profiles, and B is fitted by a penalised
multinomial likelihood (Zhu & Hastie, "Kernel logistic regression and the import vector machine", 2005).
A profile is the row's centred scores scaled to length 1, or the square roots of its probabilities.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.search import search_path
from repair.rerankers.rivals.softmax import log_loss, log_softmax, softmax_regression
from repair_bench.rivals.nystroem import Nystroem

__all__ = ["KernelLogistic"]

LANDMARKS = 300
#: Profiles, and inverse squared widths of the kernel.
KERNELS = (("direction", 2.0), ("direction", 8.0), ("direction", 32.0), ("roots", 2.0))
PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)


@dataclass(frozen=True, eq=False)
class KernelModel:
    """Scores z + Φ(profile)·B."""

    profile: str
    features: Nystroem
    coefficients: AnyArray

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the base scores plus the learned function of the profile."""
        moved: AnyArray = z + _with_ones(self.features(profiles(z, self.profile))) @ self.coefficients
        return moved


class KernelLogistic(ScoreRival):
    """Kernel logistic regression on score profiles."""

    mode_name = "kernel_logistic"

    def tune(self, rows: Rows) -> Tuned:
        """Choose the profile, the width of the kernel and the penalty."""
        paths = []
        for profile, precision in KERNELS:
            settings = [{"profile": profile, "precision": precision, "penalty": penalty} for penalty in PENALTIES]
            paths.append(search_path(rows, settings, _fit))
        return min(paths, key=lambda path: log_loss(path.scores, rows.y, rows.weights))

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Fit the coefficients of the features."""
        return _fit(rows, parameters, None)[0]


def profiles(z: FloatArray, kind: str) -> AnyArray:
    """Return the profiles of length 1: directions of the scores, or roots of the probabilities."""
    if kind == "roots":
        roots: AnyArray = np.exp(0.5 * log_softmax(z.astype(np.float32)))
        return roots
    lengths = np.linalg.norm(z, axis=1, keepdims=True)
    directions: AnyArray = (z / np.maximum(lengths, 1e-12)).astype(np.float32)
    return directions


def _fit(rows: Rows, parameters: Parameters, start: Any) -> tuple[Scorer, Any]:
    kind = parameters["profile"]
    if start is None:
        points = profiles(rows.z, kind)
        features = Nystroem.build(points, float(parameters["precision"]), LANDMARKS)
        start = (features, _with_ones(features(points)), None)
    features, table, coefficients = start
    coefficients = softmax_regression(
        table,
        rows.y,
        rows.weights,
        rows.n_classes,
        float(parameters["penalty"]),
        offset=rows.z.astype(np.float32),
        start=coefficients,
        steps=60 if coefficients is None else 15,
    )
    return KernelModel(kind, features, coefficients), (features, table, coefficients)


def _with_ones(table: AnyArray) -> AnyArray:
    return np.concatenate([table, np.ones((len(table), 1), dtype=np.float32)], axis=1)
