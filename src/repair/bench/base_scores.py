"""The second stage of a benchmark: a base model's scores, with all that rerankers may ask for."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from repair.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair.bench.parts import CALIBRATION, TEST, TRAINING
from repair.bench.problem import Problem
from repair.bench.row_vectors import narrow, unit_rows
from repair.errors import InputError, MissingExtraError
from repair.score_set import ScoreSet
from repair.similarity import cosine_similarity

__all__ = ["BaseScores", "FeatureBase", "GivenScores", "RowVectors", "TextBase", "train"]


SENTENCES = "The rows' vectors are of a sentence model, and know more than the base, which reads words"


@dataclass(frozen=True, eq=False)
class BaseScores:
    """Scores of the calibration and test rows, and vectors of all rows.

    Attributes
    ----------
    class_names : tuple of str
    class_counts : ndarray (K,)
        Training rows of each class.
    calibration_scores, test_scores : ndarray (n, K)
    calibration_labels, test_labels : ndarray of int (n,)
    calibration_groups, test_groups : ndarray of int (n,), or None
    similarity : ndarray (K, K), or None
    weight_norms : ndarray (K,), or None
    class_weights : ndarray (K, d), or None
        The base's weight rows: one vector for each class.
    calibration_embeddings, test_embeddings, training_embeddings : ndarray of float16 (n, d), or None
        One vector of length 1 for each row, made for cosine neighbours; None where the base has none.
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
        """What rerankers are fitted on."""
        return ScoreSet(
            self.calibration_scores, self.calibration_labels, groups=self.calibration_groups, **self._classes
        )

    @property
    def sets_with_embeddings(self) -> tuple[ScoreSet, ScoreSet]:
        """Return both sets with their rows' vectors, and the training rows to look for neighbours among."""
        learned = replace(
            self.calibration,
            embeddings=self.calibration_embeddings,
            reference_embeddings=self.training_embeddings,
            reference_labels=self.training_labels,
        )
        return learned, replace(self.test, embeddings=self.test_embeddings)

    @property
    def test(self) -> ScoreSet:
        """What they are tested on."""
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
    """Something that makes a vector of each row's text, such as `repair.bench.sentence_base.SentenceBase`."""

    def missing(self) -> str:
        """Say what must be installed first; empty if nothing."""
        ...

    def files(self) -> Path | None:
        """Return the folder of the weights, if they are local."""
        ...

    def vectors(self, problem: Problem, folder: Path | None) -> FloatArray:
        """Return the rows' vectors, of length 1; they are kept in the folder, if there is one."""
        ...


@dataclass(frozen=True)
class TextBase:
    """TF-IDF and logistic regression.

    Attributes
    ----------
    c : float
        Inverse penalty.
    class_weight : {None, "balanced"}
    tokens : {"words", "terms", "mention"}
        Words of a text; what lies between blanks, the vocabulary being known beforehand; or words,
        those of the marked mention apart from those around it.
    sentences : RowVectors, optional
        Makes the rows' vectors, which the base itself does not read.  Without it, or where it is not
        installed, a row's vector is its TF-IDF row, narrowed by `repair.bench.row_vectors`.
    """

    c: float = 1.0
    class_weight: str | None = None
    tokens: str = "words"
    sentences: RowVectors | None = None

    def __call__(self, problem: Problem) -> BaseScores:
        """Train on the training part and score the others."""
        return self._score(problem, None)

    def keeping(self, folder: Path) -> Callable[[Problem], BaseScores]:
        """Return the same base, which keeps sentences' vectors in a folder: of every text, whatever the parts."""
        return lambda problem: self._score(problem, folder)

    def files(self) -> Path | None:
        """Return the folder of the sentence model's weights, if they are local and used."""
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
        lacking = self.sentences.missing()
        if lacking:
            scores = train(problem, table, self.c, self.class_weight, narrow(table, problem.part == TRAINING))
            return replace(scores, notes=(*scores.notes, f"The rows' vectors are of their words: {lacking}"))
        vectors = self.sentences.vectors(problem, folder)
        scores = train(problem, table, self.c, self.class_weight, vectors)
        return replace(scores, notes=(*scores.notes, SENTENCES))


@dataclass(frozen=True)
class FeatureBase:
    """Logistic regression on standardised features of a frozen network; balanced, it is the paper's cRT.

    A row's vector is its features less the training mean.  Among the training rows of Flowers-102 the
    nearest neighbour is then more often of the same class (85 %) than with standardised features
    (82 %); on Caltech-101 both find 89 %.

    Attributes
    ----------
    c : float
        Inverse penalty.
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
    """A base whose scores come with the data, as the problem's features."""

    def __call__(self, problem: Problem) -> BaseScores:
        """Take the scores as they are."""
        if problem.features is None:
            raise InputError("the problem brings no scores; give them as its features")
        return _collect(problem, problem.features.astype(np.float64))


def _vectorizer(tokens: str, texts: tuple[str, ...]) -> Any:
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise MissingExtraError("this benchmark needs the extra 'bench': pip install 'repair-rerank[bench]'") from None
    if tokens == "terms":
        # Terms that training lacks still count in a row's length, as in `repair.bench.phenopackets`.
        vocabulary = sorted({term for text in texts for term in text.split()})
        return TfidfVectorizer(analyzer=str.split, vocabulary=vocabulary, lowercase=False)
    analyzer: str | Callable[[str], list[str]] = mention_tokens if tokens == "mention" else "word"
    return TfidfVectorizer(sublinear_tf=True, analyzer=analyzer)


def mention_tokens(text: str) -> list[str]:
    """Return the words in lower case, those between « and » marked as the mention's.

    Examples
    --------
    >>> from repair.bench.base_scores import mention_tokens
    >>> mention_tokens("We train « Graph networks » here")
    ['we', 'train', '@graph', '@networks', 'here']
    """
    inside, found = False, []
    for word in text.lower().split():
        if word in "«»":
            inside = word == "«"
        else:
            found.append(f"@{word}" if inside else word)
    return found


def train(problem: Problem, table: Any, c: float, class_weight: str | None, vectors: FloatArray) -> BaseScores:
    """Fit a logistic regression on the training rows of a table (n, d), dense or sparse, and score the others.

    Parameters
    ----------
    problem : Problem
    table : ndarray or scipy sparse matrix (n, d)
    c : float
        Inverse penalty.
    class_weight : {None, "balanced"}
    vectors : ndarray (n, d)
        The rows' vectors, of length 1.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("this benchmark needs the extra 'bench': pip install 'repair-rerank[bench]'") from None
    training = problem.part == TRAINING
    counts = np.bincount(problem.labels[training], minlength=len(problem.class_names))
    if not counts.all():
        missing = problem.class_names[int(np.argmin(counts))]
        raise InputError(f"class {missing!r} has no training row; use Problem.without_untrained_classes()")
    model = LogisticRegression(C=c, class_weight=class_weight, max_iter=300)
    model.fit(table[training], problem.labels[training])
    # Of two classes the library keeps one row of weights; the negative is the other.
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
    # Half precision moves a cosine by less than a thousandth, and halves the largest arrays of a run.
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
        weight_norms=None if weights is None else np.linalg.norm(weights, axis=1),
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
