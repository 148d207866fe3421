"""The second stage of a benchmark: the scores of a base model, with everything that rerankers can use."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair.data.score_set import ScoreSet
from repair.errors import InputError, MissingExtraError
from repair.similarity import cosine_similarity
from repair_bench.bases.row_vectors import narrow, unit_rows
from repair_bench.data.parts import CALIBRATION, TEST, TRAINING
from repair_bench.data.problem import Problem

__all__ = ["BaseScores", "FeatureBase", "GivenScores", "RowVectors", "ScoresOrHead", "TextBase", "train"]


SENTENCES = "The rows' vectors come from a sentence model and contain more than the base knows, which reads only words"


@dataclass(frozen=True, eq=False)
class BaseScores:
    """Scores of the calibration and test rows, and vectors of all rows.

    Attributes
    ----------
    class_names : tuple of str
    class_counts : ndarray (K,)
        Training rows per class.
    calibration_scores, test_scores : ndarray (n, K)
    calibration_labels, test_labels : ndarray of int (n,)
    calibration_groups, test_groups : ndarray of int (n,), or None
    similarity : ndarray (K, K), or None
    weight_norms : ndarray (K,), or None
    class_weights : ndarray (K, d), or None
        The weights of the base, one row per class.
    calibration_embeddings, test_embeddings, training_embeddings : ndarray of float16 (n, d), or None
        One vector of length 1 per row, for cosine neighbours.  None if the base has none.
    training_labels : ndarray of int (n,), or None
    training_groups : ndarray of int (n,), or None
    notes : tuple of str
    """

    class_names: tuple[str, ...]
    class_counts: AnyArray
    calibration_scores: FloatArray
    test_scores: FloatArray
    calibration_labels: IntArray
    test_labels: IntArray
    calibration_groups: IntArray | None = None
    test_groups: IntArray | None = None
    similarity: FloatArray | None = None
    weight_norms: FloatArray | None = None
    class_weights: FloatArray | None = None
    calibration_embeddings: AnyArray | None = None
    test_embeddings: AnyArray | None = None
    training_embeddings: AnyArray | None = None
    training_labels: IntArray | None = None
    training_groups: IntArray | None = None
    notes: tuple[str, ...] = ()

    @property
    def calibration(self) -> ScoreSet:
        """The rows on which rerankers are fitted."""
        return ScoreSet(
            self.calibration_scores, self.calibration_labels, groups=self.calibration_groups, **self._classes
        )

    @property
    def sets_with_embeddings(self) -> tuple[ScoreSet, ScoreSet]:
        """Both sets with the vectors of their rows.  The calibration set also has the training rows as neighbours."""
        learned = replace(
            self.calibration,
            embeddings=self.calibration_embeddings,
            reference_embeddings=self.training_embeddings,
            reference_labels=self.training_labels,
        )
        return learned, replace(self.test, embeddings=self.test_embeddings)

    @property
    def test(self) -> ScoreSet:
        """The rows on which rerankers are tested."""
        return ScoreSet(self.test_scores, self.test_labels, groups=self.test_groups, **self._classes)

    @property
    def _classes(self) -> dict[str, Any]:
        return {
            "class_counts": self.class_counts,
            "similarity": self.similarity,
            "class_names": self.class_names,
            "weight_norms": self.weight_norms,
        }


class RowVectors(Protocol):
    """An object that makes one vector per text, such as `repair_bench.bases.sentence_base.SentenceBase`."""

    def missing(self) -> str:
        """Return what must be installed first, or an empty string."""
        ...

    def files(self) -> Path | None:
        """Return the folder of the weights, if they are local."""
        ...

    def vectors(self, problem: Problem, folder: Path | None) -> FloatArray:
        """Return the rows' vectors, of length 1.  If a folder is given, they are kept there."""
        ...


@dataclass(frozen=True)
class TextBase:
    """TF-IDF and logistic regression.

    Attributes
    ----------
    c : float
        Inverse penalty of the logistic regression.
    class_weight : {None, "balanced"}
    tokens : {"words", "terms", "mention"}
        How a text is split.  "words" takes its words.  "terms" splits at blanks, with a vocabulary
        from all texts.  "mention" takes its words and marks those of the mention.
    sentences : RowVectors, optional
        Makes the rows' vectors, which the base itself does not read.  Without it, or if it is not
        installed, a row's vector is its TF-IDF row, reduced by `repair_bench.bases.row_vectors`.
    """

    c: float = 1.0
    class_weight: str | None = None
    tokens: str = "words"
    sentences: RowVectors | None = None

    def __call__(self, problem: Problem) -> BaseScores:
        """Train on the training part and score the others."""
        return self._score(problem, None)

    def keeping(self, folder: Path) -> Callable[[Problem], BaseScores]:
        """Return the same base, which keeps the sentence vectors of all texts in a folder."""
        return lambda problem: self._score(problem, folder)

    def files(self) -> Path | None:
        """Return the folder of the sentence model's weights if they are local and used."""
        return self.sentences.files() if self.sentences is not None and not self.sentences.missing() else None

    def _score(self, problem: Problem, folder: Path | None) -> BaseScores:
        if problem.texts is None:
            raise InputError("this base reads texts, but the problem has none; give texts, or use FeatureBase")
        vectorizer = _vectorizer(self.tokens, problem.texts)
        texts = np.array(problem.texts, dtype=object)
        vectorizer.fit(texts[problem.part == TRAINING])
        table = vectorizer.transform(texts)
        if self.sentences is None:
            return train(problem, table, self.c, self.class_weight, narrow(table, problem.part == TRAINING))
        missing = self.sentences.missing()
        if missing:
            scores = train(problem, table, self.c, self.class_weight, narrow(table, problem.part == TRAINING))
            return replace(scores, notes=(*scores.notes, f"The rows' vectors are made from their words: {missing}"))
        vectors = self.sentences.vectors(problem, folder)
        scores = train(problem, table, self.c, self.class_weight, vectors)
        return replace(scores, notes=(*scores.notes, SENTENCES))


@dataclass(frozen=True)
class FeatureBase:
    """Logistic regression on standardised features of a frozen network.  Balanced, it is the paper's cRT.

    A row's vector is its features minus the training mean.  Among the training rows of Flowers-102,
    the nearest neighbour then has the same class in 85 % of rows, and in 82 % with standardised
    features.  On Caltech-101 it is 89 % with both.

    Attributes
    ----------
    c : float
        Inverse penalty of the logistic regression.
    class_weight : {None, "balanced"}
    """

    c: float = 0.01
    class_weight: str | None = "balanced"

    def __call__(self, problem: Problem) -> BaseScores:
        """Train on the training part and score the others."""
        if problem.features is None:
            raise InputError("this base reads features, but the problem has none; give features, or use TextBase")
        values = problem.features.astype(np.float64)
        training = values[problem.part == TRAINING]
        centred, spread = values - training.mean(axis=0), training.std(axis=0)
        table = centred / np.where(spread > 0, spread, 1.0)
        return train(problem, table, self.c, self.class_weight, unit_rows(centred))


@dataclass(frozen=True)
class GivenScores:
    """A base whose scores come with the data, as the features of the problem."""

    def __call__(self, problem: Problem) -> BaseScores:
        """Return the given scores."""
        if problem.features is None:
            raise InputError("the problem has no scores; give them as its features")
        return _collect(problem, problem.features.astype(np.float64))


@dataclass(frozen=True)
class ScoresOrHead:
    """The scores that come with the data, or if features come with them, class-balanced logistic regression.

    A problem without training rows has scores.

    Attributes
    ----------
    c : float
        Inverse penalty of the logistic regression.
    """

    c: float = 0.01

    def __call__(self, problem: Problem) -> BaseScores:
        """Return the given scores, or train on the training part and score the others."""
        return FeatureBase(self.c)(problem) if (problem.part == TRAINING).any() else GivenScores()(problem)


def _vectorizer(tokens: str, texts: tuple[str, ...]) -> Any:
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise MissingExtraError("this benchmark needs scikit-learn: pip install scikit-learn") from None
    if tokens == "terms":
        # Terms that are not in the training part still count in the length of a row.
        vocabulary = sorted({term for text in texts for term in text.split()})
        return TfidfVectorizer(analyzer=str.split, vocabulary=vocabulary, lowercase=False)
    analyzer: str | Callable[[str], list[str]] = mention_tokens if tokens == "mention" else "word"
    return TfidfVectorizer(sublinear_tf=True, analyzer=analyzer)


def mention_tokens(text: str) -> list[str]:
    """Return the words in lower case, with a mark before those between « and ».

    Examples
    --------
    >>> from repair_bench.bases.base_scores import mention_tokens
    >>> mention_tokens("We train « Graph networks » here")
    ['we', 'train', '@graph', '@networks', 'here']
    """
    inside, words = False, []
    for word in text.lower().split():
        if word in "«»":
            inside = word == "«"
        else:
            words.append(f"@{word}" if inside else word)
    return words


def train(problem: Problem, table: Any, c: float, class_weight: str | None, vectors: FloatArray) -> BaseScores:
    """Fit a logistic regression on the training rows of a dense or sparse table, and score the other rows.

    Parameters
    ----------
    problem : Problem
    table : ndarray or scipy sparse matrix (n, d)
    c : float
        Inverse penalty of the logistic regression.
    class_weight : {None, "balanced"}
    vectors : ndarray (n, d)
        The rows' vectors, of length 1.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("this benchmark needs scikit-learn: pip install scikit-learn") from None
    training = problem.part == TRAINING
    counts = np.bincount(problem.labels[training], minlength=len(problem.class_names))
    if not counts.all():
        missing = problem.class_names[int(np.argmin(counts))]
        raise InputError(f"class {missing!r} has no training row; use Problem.without_untrained_classes()")
    model = LogisticRegression(C=c, class_weight=class_weight, max_iter=300)
    model.fit(table[training], problem.labels[training])
    # With two classes scikit-learn stores one row of weights.  The other is its negative.
    two = len(model.classes_) == 2
    weights = np.concatenate([-model.coef_, model.coef_]) if two else model.coef_
    bias = np.concatenate([-model.intercept_, model.intercept_]) if two else model.intercept_
    return _collect(problem, table @ weights.T + bias, weights, vectors)


def _collect(
    problem: Problem, scores: FloatArray, weights: FloatArray | None = None, vectors: FloatArray | None = None
) -> BaseScores:
    training, calibration, test = (problem.part == part for part in (TRAINING, CALIBRATION, TEST))
    similarity = problem.similarity
    if similarity is None and weights is not None:
        similarity = cosine_similarity(weights)
    # Half precision changes a cosine by less than 0.001, and halves the size of the largest arrays.
    embeddings = None if vectors is None else vectors.astype(np.float16)
    return BaseScores(
        class_names=problem.class_names,
        class_counts=problem.counts,
        calibration_scores=scores[calibration],
        test_scores=scores[test],
        calibration_labels=problem.labels[calibration],
        test_labels=problem.labels[test],
        calibration_groups=_rows(problem.groups, calibration),
        test_groups=_rows(problem.groups, test),
        similarity=similarity,
        weight_norms=problem.weight_norms if weights is None else np.linalg.norm(weights, axis=1),
        class_weights=None if weights is None else weights.astype(np.float32),
        calibration_embeddings=_rows(embeddings, calibration),
        test_embeddings=_rows(embeddings, test),
        training_embeddings=_rows(embeddings, training),
        training_labels=None if embeddings is None else problem.labels[training],
        training_groups=None if embeddings is None else _rows(problem.groups, training),
        notes=problem.notes,
    )


def _rows(values: AnyArray | None, which: BoolArray) -> AnyArray | None:
    return None if values is None else values[which]
