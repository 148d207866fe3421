"""ProKeR: kernel ridge regression of the base's residuals on the embeddings.

z + α·k(x, X)·(K + λI)⁻¹·(Y − softmax(z)) with an RBF kernel k and the calibration rows as X (Bendou et al.,
"ProKeR: a kernel perspective on few-shot adaptation of large vision-language models", arXiv 2501.11175).
Only calibration rows have base scores, so only they have residuals.  With many rows the kernel is
replaced by its Nyström features.
"""

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.rerankers.rivals.rival import Parameters, Scorer, ScoreRival, Tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.softmax import log_loss, log_softmax, mixed, mixture_weights
from repair_bench.rivals.nystroem import Nystroem

__all__ = ["Proker"]

LANDMARKS = 800
BETAS = (1.0, 4.0, 12.0)
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True, eq=False)
class ProkerModel:
    """Base scores plus a ridge regression on kernel features."""

    features: Nystroem
    coefficients: AnyArray
    mixture: list[float]

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return the weighted sum of both parts."""
        return mixed([z, self.features(np.asarray(x, dtype=np.float32)) @ self.coefficients], self.mixture)


class Proker(ScoreRival):
    """Kernel ridge regression of residuals on the embeddings of the calibration rows (arXiv 2501.11175)."""

    mode_name = "proker"
    reads_embeddings = True

    def tune(self, rows: Rows) -> Tuned:
        """Choose the width of the kernel and the ridge, and α by a conditional logit."""
        best, lowest = Tuned({"beta": 1.0, "penalty": PENALTIES[-1], "mixture": [1.0, 0.0]}, rows.z), np.inf
        for beta in BETAS if rows.folds is not None else ():
            for penalty, column in zip(PENALTIES, _cross_fitted(rows, beta), strict=True):
                columns = [rows.z, column]
                theta = mixture_weights(columns, rows.y, rows.weights)
                scores = mixed(columns, theta)
                loss = log_loss(scores, rows.y, rows.weights)
                if loss < lowest:
                    best = Tuned({"beta": beta, "penalty": penalty, "mixture": theta.tolist()}, scores)
                    lowest = loss
        return best

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Solve the ridge regression."""
        features = Nystroem.build(rows.vectors(), float(parameters["beta"]), LANDMARKS)
        table = features(rows.vectors())
        weighted = table * rows.weights.astype(np.float32)[:, None]
        gram, target = weighted.T @ table, weighted.T @ _residuals(rows)
        coefficients = _solutions(gram, target, (float(parameters["penalty"]),))[0]
        return ProkerModel(features, coefficients, list(parameters["mixture"]))


def _residuals(rows: Rows) -> AnyArray:
    result = -np.exp(log_softmax(rows.z)).astype(np.float32)
    result[np.arange(len(rows)), rows.y] += 1.0
    return result


def _solutions(gram: AnyArray, target: AnyArray, penalties: tuple[float, ...]) -> list[AnyArray]:
    values, vectors = np.linalg.eigh(gram)
    turned = vectors.T @ target
    return [vectors @ (turned / (np.maximum(values, 0.0) + np.float32(one))[:, None]) for one in penalties]


def _cross_fitted(rows: Rows, beta: float) -> AnyArray:
    """Return the held-out scores of the regression for every penalty, shape (penalties, n, K).

    Landmarks are vectors without labels, so all folds share them.
    """
    assert rows.folds is not None
    table = Nystroem.build(rows.vectors(), beta, LANDMARKS)(rows.vectors())
    weighted, residuals = table * rows.weights.astype(np.float32)[:, None], _residuals(rows)
    gram, target = weighted.T @ table, weighted.T @ residuals
    result = np.empty((len(PENALTIES), len(rows), rows.n_classes), dtype=np.float32)
    for fold in range(int(rows.folds.max()) + 1):
        out = rows.folds == fold
        left = gram - weighted[out].T @ table[out], target - weighted[out].T @ residuals[out]
        for at, coefficients in enumerate(_solutions(*left, PENALTIES)):
            result[at, out] = table[out] @ coefficients
    return result
