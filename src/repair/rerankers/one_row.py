"""``rerank_one``: rerank the candidates of one row, for services that answer one question at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from numpy.typing import ArrayLike

from repair.data.ranking import Ranking
from repair.data.score_set import ScoreSet
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.rerankers.fitted_attributes import FittedAttributes

__all__ = ["OneRowReranking", "RankedCandidate", "RowScores"]

#: The scores of one row: by class name, by class id, or of all K classes in class order.
RowScores: TypeAlias = Mapping[str, float] | Mapping[int, float] | ArrayLike


class RankedCandidate(NamedTuple):
    """One candidate of a reranked row.

    Attributes
    ----------
    id : int
        Class id.
    name : str or None
        Class name, if the model has names.
    score : float
        Final score.
    probability : float
        Probability of the class, given that the true class is on the shortlist.
    """

    id: int
    name: str | None
    score: float
    probability: float


class OneRowReranking(FittedAttributes):
    """Reranking of one row at a time, through the same path as `rerank`."""

    def rerank(
        self,
        scores: ArrayLike | Shortlist | ScoreSet,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | str | None = None,
    ) -> Ranking:
        """Correct the scores of each row's shortlist and rank it."""
        raise TypeError(f"{type(self).__name__} does not implement rerank()")

    def rerank_one(
        self, candidates: RowScores, *, embedding: ArrayLike | None = None, dial: float | str | None = None
    ) -> list[RankedCandidate]:
        """Rerank one row and return its candidates, best first.

        Ids, scores and probabilities are those that `rerank` returns for this row, and so are warnings.
        Any number of threads may call this method of the same model at the same time.  Nothing is
        compiled, and nothing but numpy is imported.

        Parameters
        ----------
        candidates : mapping from class name or class id to score, or array_like (K,)
            Base scores of the candidates in any order, or of all classes in class order.  A score of
            −Inf removes its candidate.  Models that read the scores of all classes need the array.
        embedding : array_like (d,), optional
            The vector of the row.  Needed if the model was fitted with embeddings, ignored otherwise.
        dial : float or "macro", optional
            Head–tail trade-off, see `rerank`.  The default is the model's dial.

        Returns
        -------
        list of RankedCandidate

        Examples
        --------
        >>> import numpy as np
        >>> from repair import Reranker, ScoreSet
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 3, size=200)
        >>> scores = rng.normal(size=(200, 3)) + 2.0 * np.eye(3)[labels] + [1.5, 0.0, 0.0]
        >>> rows = ScoreSet(scores, labels, class_names=["cat", "lynx", "wolf"])
        >>> model = Reranker("classwise", n_candidates=3).fit(rows)
        >>> [candidate.name for candidate in model.rerank_one({"cat": 1.2, "lynx": 1.0})]
        ['lynx', 'cat']
        """
        row = self._one_row(candidates) if isinstance(candidates, Mapping) else candidates
        ranking = self.rerank(row, embeddings=embedding, dial=dial)
        if len(ranking) != 1:
            raise InputError(f"rerank_one takes one row, but got {len(ranking)}; use rerank for several")
        ids = ranking.ids[0].tolist()
        names = ranking.class_names
        return [
            RankedCandidate(class_id, None if names is None else names[class_id], score, probability)
            for class_id, score, probability in zip(
                ids, ranking.scores[0].tolist(), ranking.probabilities[0].tolist(), strict=True
            )
            if class_id >= 0
        ]

    def _one_row(self, candidates: Mapping[str, float] | Mapping[int, float]) -> Shortlist:
        """Return the shortlist of one row that is given as a mapping."""
        if not candidates:
            raise InputError("there are no candidates; pass at least one class with its score")
        table = self.state.correction.table
        return Shortlist.from_candidates([table.ids_of(candidates)], [list(candidates.values())], table.n_classes)
