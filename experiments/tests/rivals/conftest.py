"""Small generated problems for the rivals."""

from dataclasses import dataclass

import numpy as np
import pytest

from repair import ScoreSet

K, WIDTH = 8, 6


@dataclass(frozen=True, eq=False)
class World:
    """Draws rows whose best possible scores are known, so a flaw can be planted in the scores of the base."""

    rng: np.random.Generator
    centres: np.ndarray
    signal: float

    def rows(self, n, flaw=lambda z, x, y: z, classes=K, **known):
        y = self.rng.integers(0, classes, size=n)
        z = self.rng.normal(size=(n, K)) + self.signal * np.eye(K)[y]
        x = self.centres[y] + 0.35 * self.rng.normal(size=(n, WIDTH))
        return ScoreSet(flaw(z * self.signal, x, y), y, embeddings=x, **known)


@pytest.fixture
def world():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(K, WIDTH))
    return World(rng, centres / np.linalg.norm(centres, axis=1, keepdims=True), 2.0)


@pytest.fixture
def accuracy():
    def measure(model, rows):
        best = model.rerank(rows.scores, embeddings=rows.embeddings).best
        return float((best == rows.labels).mean())

    return measure


@pytest.fixture
def base_accuracy():
    return lambda rows: float((np.asarray(rows.scores).argmax(axis=1) == rows.labels).mean())
