"""The base models: they learn from the training part alone, and bring what rerankers ask for."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from repair import InputError
from repair_bench.bases.base_scores import FeatureBase, GivenScores, TextBase, mention_tokens
from repair_bench.data.problem import Problem

WORDS = ("apple", "pear", "plum")


def text_rows(n_classes=3, **more):
    texts = tuple(f"{word} {number}x" for word in WORDS[:n_classes] for number in range(4)) * 3
    labels = np.tile(np.repeat(np.arange(n_classes), 4), 3)
    part = np.repeat([0, 1, 2], 4 * n_classes)
    return Problem(WORDS[:n_classes], labels, part, texts=texts, **more)


@pytest.mark.needs("sklearn")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("tokens", ["words", "terms", "mention"])
def test_a_text_base_learns_and_brings_what_is_known(n_classes, tokens):
    base = TextBase(tokens=tokens)(text_rows(n_classes, groups=np.arange(12 * n_classes), notes=("a note",)))
    assert base.test_scores.shape == (4 * n_classes, n_classes)
    np.testing.assert_array_equal(base.test_scores.argmax(axis=1), base.test_labels)
    np.testing.assert_array_equal(base.class_counts, np.full(n_classes, 4))
    np.testing.assert_allclose(base.weight_norms, np.linalg.norm(base.class_weights, axis=1), rtol=1e-5)
    np.testing.assert_allclose(np.diag(base.similarity), 1.0)
    assert base.test_groups.tolist() == list(range(8 * n_classes, 12 * n_classes))
    assert base.calibration.class_names == WORDS[:n_classes]
    assert base.notes == ("a note",)


@pytest.mark.needs("sklearn")
def test_a_feature_base_sees_no_statistics_of_other_parts():
    rng = np.random.default_rng(0)
    labels = np.tile(np.arange(3), 20)
    features = 3 * np.eye(3)[labels] + rng.normal(size=(60, 3))
    part = np.repeat([0, 1, 2], 20)
    base = FeatureBase()(Problem(WORDS, labels, part, features=features))
    moved = features.copy()
    moved[part == 2] *= 100
    again = FeatureBase()(Problem(WORDS, labels, part, features=moved))
    np.testing.assert_array_equal(base.calibration_scores, again.calibration_scores)
    np.testing.assert_array_equal(base.training_embeddings, again.training_embeddings)
    assert base.test_embeddings.shape == (20, 3)
    assert (base.test_scores.argmax(axis=1) == base.test_labels).mean() > 0.8


@pytest.mark.needs("sklearn")
@pytest.mark.parametrize("kind", ["text", "features"])
def test_every_row_has_a_vector_and_like_rows_are_near(kind):
    rows = text_rows(groups=np.arange(36))
    if kind == "features":
        noise = np.random.default_rng(0).normal(scale=0.1, size=(36, 3))
        rows = replace(rows, texts=None, features=5 + np.eye(3)[rows.labels] + noise)
    base = {"text": TextBase(), "features": FeatureBase()}[kind](rows)
    training = base.training_embeddings.astype(float)
    np.testing.assert_allclose(np.linalg.norm(training, axis=1), 1.0, atol=2e-3)
    assert len(training) == len(base.calibration_embeddings) == len(base.test_embeddings) == 12
    nearest = (base.test_embeddings.astype(float) @ training.T).argmax(axis=1)
    np.testing.assert_array_equal(base.training_labels[nearest], base.test_labels)
    assert base.training_groups.tolist() == list(range(12))


def test_given_scores_are_taken_as_they_are():
    scores = np.arange(6.0).reshape(3, 2)
    base = GivenScores()(
        Problem(("a", "b"), np.array([0, 1, 1]), np.array([1, 1, 2]), features=scores, class_counts=np.array([9, 1]))
    )
    np.testing.assert_array_equal(base.calibration_scores, scores[:2])
    assert base.weight_norms is None
    assert base.training_embeddings is None
    assert base.training_labels is None
    assert base.class_counts.tolist() == [9, 1]


@pytest.mark.needs("sklearn")
def test_what_a_base_cannot_read_is_refused():
    rows = text_rows()
    with pytest.raises(InputError, match="has none"):
        FeatureBase()(rows)
    with pytest.raises(InputError, match="has no scores"):
        GivenScores()(rows)
    with pytest.raises(InputError, match="has none"):
        TextBase()(Problem(("a",), np.zeros(1, int), np.zeros(1, int), features=np.eye(1)))
    untrained = Problem((*WORDS, "kiwi"), rows.labels, rows.part, texts=rows.texts)
    with pytest.raises(InputError, match="'kiwi' has no training row"):
        TextBase()(untrained)


def test_a_mention_is_told_from_the_words_around_it():
    assert mention_tokens("the « New York » times of York") == ["the", "@new", "@york", "times", "of", "york"]


@dataclass(frozen=True)
class _Tells:
    """Vectors that tell the label, or a reason why there are none."""

    lacking: str = ""

    def missing(self):
        return self.lacking

    def files(self):
        return None

    def vectors(self, problem, folder):
        return np.eye(len(problem.class_names))[problem.labels]


@pytest.mark.needs("sklearn")
def test_vectors_of_sentences_leave_the_base_as_it_is():
    problem = Problem(
        ("a", "b"),
        np.tile([0, 1], 12).astype(np.int32),
        np.repeat([0, 1, 2], 8),
        texts=("apple pear", "pear plum", "plum apple") * 8,
    )
    words, sentences, neither = (TextBase(sentences=one)(problem) for one in (None, _Tells(), _Tells("no weights")))
    assert (words.test_scores == sentences.test_scores).all()
    assert (sentences.test_embeddings == np.eye(2)[problem.labels[16:]]).all()
    assert "contain more than the base knows" in sentences.notes[-1]
    assert (neither.test_embeddings == words.test_embeddings).all()
    assert neither.notes[-1] == "The rows' vectors are made from their words: no weights"
    assert TextBase(sentences=_Tells("no weights")).files() is None
