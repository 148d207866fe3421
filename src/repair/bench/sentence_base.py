"""Sentence embeddings of a frozen transformer, and logistic regression on top."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repair.arrays import FloatArray
from repair.bench.base_scores import BaseScores, train
from repair.bench.problem import Problem
from repair.bench.row_vectors import unit_rows
from repair.bench.sentence_model import MINILM, SentenceModel
from repair.bench.vector_store import VectorStore
from repair.errors import InputError

__all__ = ["SentenceBase", "mention_and_sentence"]


@dataclass(frozen=True)
class SentenceBase:
    """Logistic regression on sentence embeddings, which are also the rows' vectors.

    Attributes
    ----------
    model : str
        "minilm", a local folder, or a name on the Hugging Face hub; see `SentenceModel`.
    c : float
        Inverse penalty.  Of 1, 10 and 100, three folds of the training rows were most accurate with 10 on
        long-tailed MASSIVE and HuffPost's headlines, and a point less than with 100 on Few-TK.
    class_weight : {None, "balanced"}
    reads : {"text", "mention", "both"}
        The whole text; what lies between « and » alone; or both vectors, one beside the other.
    max_tokens : int
        What is longer is cut.
    precision : {"bfloat16", "float32"}
        bfloat16 was nearly twice as fast on a processor that has it, and its vectors have a cosine of
        0.9999 with those of float32; 8-bit weights had 0.92.
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
        """Return the same base, which keeps embeddings in a folder: of every text, whatever the parts."""
        return lambda problem: self._score(problem, folder)

    def missing(self) -> str:
        """Say what must be installed first; empty if nothing."""
        return self._embedder.missing()

    def files(self) -> Path | None:
        """Return the folder of the weights; None where they are on the hub."""
        folder = Path(self._embedder.place)
        return folder if folder.is_dir() else None

    @property
    def _embedder(self) -> SentenceModel:
        return SentenceModel(self.model, self.max_tokens, self.precision)

    def vectors(self, problem: Problem, folder: Path | None) -> FloatArray:
        """Return the rows' vectors, of length 1; they are kept in the folder, if there is one."""
        if problem.texts is None:
            raise InputError("this base reads texts, but the problem has none; give texts, or use FeatureBase")
        if self.reads not in _PARTS:
            raise InputError(f"reads is {self.reads!r}; choose one of {', '.join(_PARTS)}")
        embedder = self._embedder
        store = VectorStore(None if folder is None else folder / embedder.mark)
        parts = [_PARTS[self.reads](text) for text in problem.texts]
        found = store.get([text for own in parts for text in own], embedder.embed)
        return unit_rows(found.reshape(len(parts), -1).astype(np.float64))

    def _score(self, problem: Problem, folder: Path | None) -> BaseScores:
        vectors = self.vectors(problem, folder)
        return train(problem, vectors, self.c, self.class_weight, vectors)


def mention_and_sentence(text: str) -> tuple[str, str]:
    """Return what lies between « and », and the text without the two signs.

    Examples
    --------
    >>> from repair.bench.sentence_base import mention_and_sentence
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
