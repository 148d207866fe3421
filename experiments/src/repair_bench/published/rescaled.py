"""The paper's rule for its rare-disease sets: shortlists from raw scores, and scores divided by weight norms."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from repair import Ranking, Reranker, Shortlist
from repair._utils.arrays import FloatArray
from repair.data.score_set import ScoreSet, as_score_set
from repair.errors import InputError, NotFittedError, pass_to_fit
from repair.model.choice import Choice
from repair.rerankers.base import ShortlistReranker

__all__ = ["OnRescaledScores"]


class OnRescaledScores(ShortlistReranker):
    """Fits and applies another reranker to g / ‖w‖^τ, on shortlists of the raw scores g.

    The published code divides the test scores after their shortlists were taken, but the calibration scores of one
    data set before.  Here both are treated alike.  What is measured against the base, such as HFR, refers to the raw
    order.

    Parameters
    ----------
    n_candidates : int, default 10
    inner : Reranker, optional
        The reranker of the rescaled scores, by default ``Reranker("pairwise")``.
    exponent : float, default 0.5
        The exponent τ of the weight norms.

    Examples
    --------
    >>> from repair import Reranker
    >>> from repair_bench.published.rescaled import OnRescaledScores
    >>> model = OnRescaledScores(2, Reranker("classwise", n_candidates=2))
    >>> scores, labels = [[2.0, 1.8], [2.0, 1.8], [3.0, 0.0], [0.0, 1.0]], [0, 0, 0, 1]
    >>> model.fit(scores, labels, weight_norms=[4.0, 1.0]).predict([[2.0, 1.8]]).tolist()
    [1]
    """

    def __init__(self, n_candidates: int = 10, inner: ShortlistReranker | None = None, exponent: float = 0.5) -> None:
        self.n_candidates = n_candidates
        self.inner = inner
        self.exponent = exponent

    _fitted: ShortlistReranker | None = None
    _scale: FloatArray

    def fit(
        self, scores: ArrayLike | Shortlist | ScoreSet, labels: ArrayLike | None = None, *, progress: bool = False,
        **fields: Any,
    ) -> Self:  # fmt: skip
        """Fit on the rescaled shortlists.  The rows need ``weight_norms``."""
        rows = as_score_set(scores, labels, fields)
        if rows.weight_norms is None:
            raise InputError("rescaled scores need the weight norms of the classes", pass_to_fit("weight_norms"))
        norms = np.asarray(rows.weight_norms, dtype=np.float64)
        self._scale = norms**-self.exponent
        shortlist = self._rescaled(rows.shortlist(self.n_candidates))
        inner = Reranker("pairwise", n_candidates=self.n_candidates) if self.inner is None else self.inner
        self._fitted = inner.clone().fit(replace(rows, scores=shortlist), progress=progress)
        return self

    def with_chosen_parameters(self, choice: Choice | None = None) -> Self:
        """Return an unfitted copy whose inner reranker has the values that its fit chose."""
        return self.clone(inner=self._model().with_chosen_parameters(choice))

    def rerank(self, scores: ArrayLike | Shortlist | ScoreSet, **options: Any) -> Ranking:
        """Rank raw shortlists by the corrected rescaled scores."""
        rows = scores if isinstance(scores, ScoreSet) else ScoreSet(scores)
        raw = rows.given_shortlist(self.n_candidates)
        ranking = self._model().rerank(self._rescaled(raw), **options)
        # The inner ranking starts from another base order, so its scores are put back into the raw one by class id.
        ranked, raw_order = np.argsort(ranking.ids, axis=1), np.argsort(np.argsort(raw.ids, axis=1), axis=1)
        by_id = np.take_along_axis(ranking.scores, ranked, axis=1)
        return Ranking.from_scores(raw, np.take_along_axis(by_id, raw_order, axis=1))

    def predict(self, scores: ArrayLike | Shortlist | ScoreSet, **options: Any) -> Any:
        """Return the first class of each row, as a class id."""
        return self.rerank(scores, **options).best.astype(np.int64)

    def _rescaled(self, shortlist: Shortlist) -> Shortlist:
        scale = self._scale[np.maximum(shortlist.ids, 0)]
        return Shortlist.from_candidates(shortlist.ids, shortlist.scores * scale, shortlist.n_classes)

    def _model(self) -> ShortlistReranker:
        if self._fitted is None:
            raise NotFittedError("this OnRescaledScores is not fitted yet; call fit first")
        return self._fitted
