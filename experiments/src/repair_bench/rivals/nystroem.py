"""Nyström features of an RBF kernel between vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray

__all__ = ["Nystroem"]


@dataclass(frozen=True, eq=False)
class Nystroem:
    """Features Φ with Φ(a)·Φ(b) ≈ exp(−β/2·‖a − b‖²) (Williams & Seeger, 2000).

    Attributes
    ----------
    landmarks : ndarray of float32 (m, d)
    whitening : ndarray of float32 (m, r)
        The inverse root of the landmarks' kernel matrix.
    beta : float
        Inverse squared width of the kernel.
    """

    landmarks: AnyArray
    whitening: AnyArray
    beta: float

    @classmethod
    def build(cls, points: AnyArray, beta: float, most: int, seed: int = 0) -> Nystroem:
        """Take random points as landmarks, at most `most`."""
        rng = np.random.default_rng(seed)
        chosen = points if len(points) <= most else points[np.sort(rng.choice(len(points), most, replace=False))]
        kernel = _rbf(chosen, chosen, beta).astype(np.float64)
        values, vectors = np.linalg.eigh(kernel)
        kept = values > 1e-4 * values[-1]
        whitening = vectors[:, kept] / np.sqrt(values[kept])
        return cls(chosen, whitening.astype(np.float32), beta)

    def __call__(self, points: AnyArray) -> AnyArray:
        """Return the features of some points, shape (n, r)."""
        return _rbf(points, self.landmarks, self.beta) @ self.whitening


def _rbf(left: AnyArray, right: AnyArray, beta: float) -> AnyArray:
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2.0 * (left @ right.T)
    kernel: AnyArray = np.exp(-0.5 * beta * np.maximum(squares, 0.0))
    return kernel
