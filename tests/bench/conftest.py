"""Tiny data sets in the formats of the real ones."""

import gzip
import json

import numpy as np
import pytest


def write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def write_lines(path, rows):
    write_gz(path, "".join(json.dumps(row) + "\n" for row in rows))


def words(label, rng, noise=3):
    """A text that mostly gives its label away, with words that all share."""
    own = f"word{label}" if rng.random() < 0.8 else f"word{rng.integers(0, 8)}"
    return " ".join([own, *(f"shared{rng.integers(0, 20)}" for _ in range(noise))])


@pytest.fixture
def tiny_massive(tmp_path):
    """Return a data folder with MASSIVE's files: eight intents with a tail."""
    rng = np.random.default_rng(0)
    counts = np.array([80, 60, 40, 30, 20, 15, 10, 8])
    for part, factor in (("train", 1.0), ("validation", 1.0), ("test", 1.0)):
        labels = np.repeat(np.arange(8), (counts * factor).astype(int))
        rows = [{"text": words(one, rng), "label": int(one), "label_text": f"intent{one}"} for one in labels]
        write_lines(tmp_path / "data" / "massive_en_us" / f"{part}.jsonl.gz", rows)
    return tmp_path / "data"
