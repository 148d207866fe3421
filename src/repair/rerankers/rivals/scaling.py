"""Vector scaling and matrix scaling of the base scores.

Vector scaling (Guo et al., "On calibration of modern neural networks", ICML 2017) replaces the scores z
by w∘z + b.  A ridge holds (w, b) at (1, 0).  LWS (Kang et al., "Decoupling representation and classifier",
ICLR 2020) and a temperature with class offsets are special cases.

Matrix scaling in residual form is z + W·z + b.  With log-probabilities as scores it is Dirichlet
calibration (Kull et al., "Beyond temperature scaling", NeurIPS 2019).  Its ODIR regularisation penalises
the off-diagonal entries of W and the offsets b separately, as we do.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned, tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.search import search_path
from repair.rerankers.rivals.softmax import log_loss, minimise, residuals, softmax_regression

__all__ = ["MatrixScaling", "VectorScaling"]

#: Precisions of the prior on the offsets, and how many times stronger that on the factors is.
OFFSET_PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
FACTOR_RATIOS = (30.0, 3.0, 0.3)
#: Precisions of the prior on the off-diagonal entries.  The first leaves vector scaling.
OFF_DIAGONAL_PENALTIES = (1e5, 3e3, 1e3, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0)


@dataclass(frozen=True, eq=False)
class ScaledByClass:
    """Scores w∘z + b."""

    factors: FloatArray
    offsets: FloatArray

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the scaled scores."""
        return self.factors * z + self.offsets


@dataclass(frozen=True, eq=False)
class Transformed:
    """Scores z + W·z + b, where the last row of `matrix` is b."""

    matrix: AnyArray

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the transformed scores."""
        moved: AnyArray = z + z.astype(np.float32) @ self.matrix[:-1] + self.matrix[-1]
        return moved


class VectorScaling(ScoreRival):
    """Vector scaling: w∘z + b (Guo et al., 2017).

    Examples
    --------
    >>> from repair.rerankers.rivals.scaling import VectorScaling
    >>> VectorScaling(5)
    VectorScaling(n_candidates=5)
    """

    mode_name = "vector_scaling"

    def tune(self, rows: Rows) -> Tuned:
        """Choose both penalties."""
        paths = [
            search_path(rows, [{"offset": one, "factor": one * ratio} for one in OFFSET_PENALTIES], _fit_vector)
            for ratio in FACTOR_RATIOS
        ]
        return min(paths, key=lambda path: log_loss(path.scores, rows.y, rows.weights))

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Fit factors and offsets."""
        return _fit_vector(rows, parameters, None)[0]


class MatrixScaling(ScoreRival):
    """Matrix scaling in residual form: z + W·z + b (Kull et al., 2019).

    The penalties of offsets and of the diagonal are those of vector scaling, or a tenth of them.
    """

    mode_name = "matrix_scaling"

    def tune(self, rows: Rows) -> Tuned:
        """Choose the three penalties."""
        by_class = tuned(VectorScaling(), rows).parameters
        path = [{**by_class, "off_diagonal": off} for off in OFF_DIAGONAL_PENALTIES]
        first = search_path(rows, path, _fit_matrix)
        # The diagonal can take part of what the offsets did, so weaker penalties are tried once more.
        weaker = {name: value * (1.0 if name == "off_diagonal" else 0.1) for name, value in first.parameters.items()}
        second = search_path(rows, [weaker], _fit_matrix)
        return min((first, second), key=lambda path: log_loss(path.scores, rows.y, rows.weights))

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Fit the matrix and the offsets."""
        return _fit_matrix(rows, parameters, None)[0]


def _fit_vector(rows: Rows, parameters: Parameters, start: Any) -> tuple[Scorer, Any]:
    z, n_classes = rows.z.astype(np.float32), rows.n_classes
    total = float(rows.weights.sum())
    precision = np.repeat([parameters["factor"] / total, parameters["offset"] / total], n_classes)
    target = np.repeat([1.0, 0.0], n_classes)
    shares = rows.weights / total

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        factors, offsets = flat.astype(np.float32).reshape(2, n_classes)
        loss, slope = residuals(z * factors + offsets, rows.y, shares)
        gradient = np.concatenate([np.einsum("nk,nk->k", slope, z), slope.sum(axis=0)]).astype(np.float64)
        away = flat - target
        return loss + 0.5 * float(precision @ away**2), gradient + precision * away

    found = minimise(objective, target if start is None else start, 60)
    return ScaledByClass(found[:n_classes], found[n_classes:]), found


def _fit_matrix(rows: Rows, parameters: Parameters, start: Any) -> tuple[Scorer, Any]:
    n_classes = rows.n_classes
    penalty = np.full((n_classes + 1, n_classes), float(parameters["off_diagonal"]), dtype=np.float32)
    np.fill_diagonal(penalty, float(parameters["factor"]))
    penalty[-1] = float(parameters["offset"])
    z = rows.z.astype(np.float32)
    features = np.concatenate([z, np.ones((len(z), 1), dtype=np.float32)], axis=1)
    steps = 60 if start is None else 20
    matrix = softmax_regression(features, rows.y, rows.weights, n_classes, penalty, offset=z, start=start, steps=steps)
    return Transformed(matrix), matrix
