"""A base model with logistic regression on the sentence embeddings of a frozen transformer."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repair._utils.arrays import FloatArray
from repair.errors import InputError
from repair_bench.bases.base_scores import BaseScores, train
from repair_bench.bases.row_vectors import unit_rows
from repair_bench.bases.sentence_model import MINILM, SentenceModel
from repair_bench.bases.vector_store import VectorStore
from repair_bench.data.problem import Problem

__all__ = ["SentenceBase", "mention_and_sentence"]


@dataclass(frozen=True)
class SentenceBase:
    """Logistic regression on sentence embeddings, which are also the rows' vectors.

    Attributes
    ----------
    model : str
        "minilm", a local folder, or a name on the Hugging Face hub.  See `SentenceModel`.
    c : float
        Inverse penalty of the logistic regression.  Among 1, 10 and 100, 10 was the most accurate in
        three folds of the training rows of long-tailed MASSIVE and of the HuffPost headlines.  On
        Few-TK it was one point less accurate than 100.
    class_weight : {None, "balanced"}
    reads : {"text", "mention", "both"}
        What is embedded: the whole text, only the mention between « and », or both, as one longer
        vector.
    max_tokens : int
        Longer texts are cut.
    precision : {"bfloat16", "float32"}
        Precision of the arithmetic.  bfloat16 was nearly twice as fast on a processor that supports
        it, and its vectors have a cosine of 0.9999 with those of float32.  With 8-bit weights it was
        0.92.
    """

    model: str = MINILM
    c: float = 10.0
    class_weight: str | None = None
    reads: str = "text"
    max_tokens: int = 256
    precision: str = "bfloat16"

    def __call__(self, problem: Problem) -> BaseScores:
        """Train on the training part and score the others."""
        return self._score(problem, None)

    def keeping(self, folder: Path) -> Callable[[Problem], BaseScores]:
        """Return the same base, which keeps the embeddings of all texts in a folder."""
        return lambda problem: self._score(problem, folder)

    def missing(self) -> str:
        """Return what must be installed first, or an empty string."""
        return self._embedder.missing()

    def files(self) -> Path | None:
        """Return the folder of the weights, or None if they are on the hub."""
        folder = Path(self._embedder.place)
        return folder if folder.is_dir() else None

    @property
    def _embedder(self) -> SentenceModel:
        return SentenceModel(self.model, self.max_tokens, self.precision)

    def vectors(self, problem: Problem, folder: Path | None) -> FloatArray:
        """Return the rows' vectors, of length 1.  If a folder is given, they are kept there."""
        if problem.texts is None:
            raise InputError("this base reads texts, but the problem has none; give texts, or use FeatureBase")
        if self.reads not in _PARTS:
            raise InputError(f"reads is {self.reads!r}; choose one of {', '.join(_PARTS)}")
        embedder = self._embedder
        store = VectorStore(None if folder is None else folder / embedder.mark)
        parts = [_PARTS[self.reads](text) for text in problem.texts]
        vectors = store.get([text for texts in parts for text in texts], embedder.embed)
        return unit_rows(vectors.reshape(len(parts), -1).astype(np.float64))

    def _score(self, problem: Problem, folder: Path | None) -> BaseScores:
        vectors = self.vectors(problem, folder)
        return train(problem, vectors, self.c, self.class_weight, vectors)


def mention_and_sentence(text: str) -> tuple[str, str]:
    """Return the mention between « and », and the text without these two signs.

    Examples
    --------
    >>> from repair_bench.bases.sentence_base import mention_and_sentence
    >>> mention_and_sentence("We train « Graph networks » here")
    ('Graph networks', 'We train Graph networks here')
    """
    before, opened, rest = text.partition("«")
    inside, closed, after = rest.partition("»")
    if not opened or not closed:
        raise InputError(f"no mention is marked in {text!r}; put it between « and »")
    return inside.strip(), " ".join(f"{before} {inside} {after}".split())


_PARTS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "text": lambda text: (text,),
    "mention": lambda text: mention_and_sentence(text)[:1],
    "both": mention_and_sentence,
}
