"""Vectors on disk: each text is embedded once, and an interrupt loses one block."""

import numpy as np
import pytest

from repair_bench.bases import vector_store
from repair_bench.bases.vector_store import VectorStore


class Embedder:
    """Counts what it is asked for, and may give up."""

    def __init__(self, fails_after=None):
        self.asked = []
        self.fails_after = fails_after

    def __call__(self, texts):
        if self.fails_after is not None and len(self.asked) >= self.fails_after:
            raise KeyboardInterrupt
        self.asked += texts
        return np.array([[len(text), 1 / 3] for text in texts])


def test_a_text_is_embedded_once_and_comes_back_with_the_same_bits(tmp_path):
    first, second = Embedder(), Embedder()
    store = VectorStore(tmp_path / "new")
    found = store.get(["long one", "é", "long one"], first)
    assert first.asked == ["é", "long one"]  # sorted by length
    assert found.dtype == np.float16
    again = VectorStore(tmp_path / "new").get(["long one", "b", "é"], second)
    assert second.asked == ["b"]
    np.testing.assert_array_equal(again[[0, 2]], found[[0, 1]])
    assert again[:, 0].tolist() == [8, 1, 1]


def test_an_interrupted_embedding_goes_on_from_its_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_store, "BLOCK", 2)
    texts = [letter * (number + 1) for number, letter in enumerate("abcde")]
    with pytest.raises(KeyboardInterrupt):
        VectorStore(tmp_path).get(texts, Embedder(fails_after=2))
    rest = Embedder()
    assert VectorStore(tmp_path).get(texts, rest)[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert rest.asked == texts[2:]


def test_a_damaged_block_is_made_again(tmp_path):
    VectorStore(tmp_path).get(["a"], Embedder())
    (block,) = tmp_path.iterdir()
    block.write_bytes(block.read_bytes()[:40])
    again = Embedder()
    VectorStore(tmp_path).get(["a"], again)
    assert again.asked == ["a"]


def test_without_a_folder_nothing_is_kept():
    embed = Embedder()
    store = VectorStore(None)
    store.get(["a"], embed)
    store.get(["a"], embed)
    assert embed.asked == ["a", "a"]
