"""The common part of all rivals: two hooks, `tune` and `train`, behind the interface of our rerankers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.data.embeddings import check_embeddings
from repair.data.ranking import Ranking
from repair.data.score_set import ScoreSet
from repair.data.shortlist import Shortlist
from repair.errors import ArtifactError, InputError, Remedy
from repair.model.adjustments import Adjustments
from repair.model.choice import Choice
from repair.model.correction import Correction
from repair.model.state import FitSummary, FittedState
from repair.rerankers.base import Scores, ShortlistReranker
from repair.rerankers.rivals.rows import Rows, centred
from repair.validation.checks import as_array

__all__ = ["Parameters", "ScoreRival", "Scorer", "Tuned", "cross_fit", "tuned"]

Parameters = Mapping[str, Any]
#: How many choices of hyperparameters a process remembers, and how many cross-fitted scores they may hold together.
#: Matrix scaling then does not repeat the search of vector scaling, nor a stack those of its members.
REMEMBERED, MOST_SCORES = 24, 1 << 25


class Scorer(Protocol):
    """A trained rival."""

    def scores(self, z: FloatArray, x: AnyArray | None) -> AnyArray:
        """Return final log-scores (n, K) of rows with scaled base scores `z` and embeddings `x`."""
        ...


@dataclass(frozen=True, eq=False)
class Tuned:
    """The outcome of a choice of hyperparameters.

    Attributes
    ----------
    parameters : mapping
        The chosen values.
    scores : ndarray (n, K)
        Final scores of the calibration rows, each from a model that did not see the row's fold.  Without
        folds these are the base scores.
    """

    parameters: Parameters
    scores: AnyArray


@dataclass(frozen=True)
class RivalChoice(Choice):
    """The hyperparameters that a rival chose, which have names of its own."""

    values: Any = None

    def to_dict(self) -> dict[str, object]:
        """Return what was chosen, by name."""
        return dict(self.values or {})


@dataclass(frozen=True, eq=False)
class RivalCorrection(Correction):
    """Holds a trained rival, whose scores are not a sum of contributions."""

    rival: Any = field(default=None)
    rival_scale: float = 1.0
    width: int | None = None

    @property
    def embedding_width(self) -> int | None:
        """Required width of the embeddings, or None if the rival does not use them."""
        return self.width

    @property
    def learned_shares(self) -> bool:
        """Whether the scores follow the class shares of the calibration rows, which is always so."""
        return True

    def contributions(self, shortlist: Shortlist, adjustments: Adjustments) -> list[tuple[str, FloatArray]]:
        """Raise an error, because a rival's scores are not a sum of contributions."""
        raise InputError("rivals have no contributions to explain; use a Reranker for explanations")

    def scores_of(self, rows: Shortlist, adjustments: Adjustments) -> FloatArray:
        """Raise an error, because a rival ranks all classes instead of given shortlists."""
        raise InputError("a rival ranks all classes; pass scores as an (n, K) array to rerank")


class ScoreRival(ShortlistReranker):
    """Base class of the rivals, which rank all K classes and take their shortlists from their own final scores.

    A subclass has two hooks.  ``tune(rows)`` chooses hyperparameters by cross-validation on the calibration
    rows, and ``train(rows, parameters)`` fits with given ones.  The criterion is the held-out negative
    log-likelihood, unless a rival says otherwise.  Folds keep groups whole.

    Parameters
    ----------
    n_candidates : int, default 10
        Number of classes per row that a ranking contains.
    chosen : mapping, optional
        Hyperparameters.  By default ``fit`` chooses them.
    """

    #: The value of ``mode_`` after a fit.
    mode_name: ClassVar[str]
    #: Whether the rival reads embeddings of the rows.
    reads_embeddings: ClassVar[bool] = False

    def __init__(self, n_candidates: int = 10, chosen: Parameters | None = None) -> None:
        self.n_candidates = n_candidates
        self.chosen = chosen

    def tune(self, rows: Rows) -> Tuned:
        """Choose the hyperparameters and return them with the cross-fitted scores."""
        raise TypeError(f"{type(self).__name__} does not implement tune()")

    def train(self, rows: Rows, parameters: Parameters) -> Scorer:
        """Fit with given hyperparameters."""
        raise TypeError(f"{type(self).__name__} does not implement train()")

    def cross_fit(self, rows: Rows, parameters: Parameters) -> AnyArray:
        """Return the scores of each row from a model that was trained without the row's fold."""
        result = np.array(rows.z)
        for fold, (training, held_out) in enumerate(rows.splits()):
            result[rows.folds == fold] = self.train(training, parameters).scores(held_out.z, held_out.x)
        return result

    def can_fit(self, mode: str) -> bool:
        """Return whether a fit results in a model of this mode."""
        return mode == self.mode_name

    @property
    def uses_all_scores(self) -> bool:
        """Whether the rival chooses its own shortlists, which is always so."""
        return True

    def with_chosen_parameters(self, choice: Choice | None = None) -> Self:
        """Return an unfitted copy with the hyperparameters that ``fit`` chose."""
        return self.clone(chosen=(self.state.choice if choice is None else choice).to_dict())

    def learn(self, calibration: CalibrationSet, *, progress: bool = False) -> FittedState:
        """Choose the hyperparameters unless they are given, and fit."""
        self.check_parameters(calibration.table)
        if self.reads_embeddings:
            calibration.require("embeddings", type(self).__name__)
        rows = Rows.of(calibration, type(self).__name__)
        parameters = dict(tuned(self, rows).parameters if self.chosen is None else self.chosen)
        correction = RivalCorrection(
            calibration.table,
            0.0,
            np.zeros(calibration.table.n_classes),
            (),
            np.zeros(0),
            rival=self.train(rows, parameters),
            rival_scale=rows.scale,
            width=rows.vectors().shape[1] if self.reads_embeddings else None,
        )
        return _state(calibration, correction, self.mode_name, parameters)

    def save(self, path: str | PathLike[str]) -> None:
        """Raise an error, because rivals are for comparisons and have no file format."""
        raise ArtifactError("rivals are for comparisons and cannot be saved; fit and save a Reranker instead")

    def rerank(
        self,
        scores: Scores,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | str | None = None,
        target_prior: ArrayLike | None = None,
        class_costs: ArrayLike | None = None,
    ) -> Ranking:
        """Rank all classes by the rival's final scores and keep the best `n_candidates`.

        Parameters
        ----------
        scores : array_like (n, K) or (K,), or ScoreSet
        embeddings : array_like (n, d), optional
            Needed if the rival reads embeddings, ignored otherwise.
        dial, target_prior, class_costs : optional
            As in `ShortlistReranker.rerank`.
        """
        correction = self.state.correction
        assert isinstance(correction, RivalCorrection)
        if isinstance(scores, ScoreSet):
            embeddings = scores.embeddings if embeddings is None else embeddings
        given = _dense(self.log_scores(scores), correction.table)
        vectors = _vectors(embeddings, len(given), correction.width)
        final = np.array(correction.rival.scores(centred(given) * correction.rival_scale, vectors), dtype=np.float64)
        adjustments = self._adjustments(dial, target_prior, class_costs)
        final += adjustments.per_class(correction.table)
        final[np.isneginf(given)] = -np.inf
        return _ranking(given, final, self.state.n_candidates, correction.table)


_memory: OrderedDict[tuple[str, bytes], Tuned] = OrderedDict()


def tuned(rival: ScoreRival, rows: Rows) -> Tuned:
    """Return ``rival.tune(rows)``.  The latest results are remembered, so a stack does not repeat its members' work."""
    key = (rival.mode_name, rows.digest)
    if key not in _memory:
        _memory[key] = rival.tune(rows)
        while len(_memory) > REMEMBERED or (
            len(_memory) > 1 and sum(one.scores.size for one in _memory.values()) > MOST_SCORES
        ):
            _memory.popitem(last=False)
    _memory.move_to_end(key)
    return _memory[key]


def cross_fit(rival: ScoreRival, rows: Rows, parameters: Parameters) -> AnyArray:
    """Return ``rival.cross_fit(rows, parameters)``, or the remembered scores if these parameters were chosen here."""
    found = _memory.get((rival.mode_name, rows.digest))
    if found is not None and found.parameters == parameters:
        return found.scores
    return rival.cross_fit(rows, parameters)


def _state(calibration: CalibrationSet, correction: Correction, mode: str, parameters: Parameters) -> FittedState:
    summary = FitSummary(
        mode=mode,
        n_rows=len(calibration.labels),
        n_covered=int(calibration.covered.sum()),
        n_unknown=int((calibration.labels < 0).sum()),
        effective_rows=calibration.effective_rows(),
    )
    return FittedState(
        correction=correction,
        n_candidates=calibration.shortlist.n_candidates,
        labels_are_names=calibration.labels_are_names,
        label_counts=calibration.label_counts(),
        label_shares=calibration.label_shares(0.0),
        summary=summary,
        choice=RivalChoice(values=parameters),
    )


def _dense(scores: AnyArray | Shortlist, table: ClassTable) -> AnyArray:
    if isinstance(scores, Shortlist):
        raise InputError("a rival ranks all classes, but scores is a Shortlist; pass scores as an (n, K) array")
    dense = np.atleast_2d(scores)
    if dense.shape[1] != table.n_classes:
        raise InputError(f"scores are over {dense.shape[1]} classes, but the model was fitted for {table.n_classes}")
    return dense


def _vectors(embeddings: ArrayLike | None, n_rows: int, width: int | None) -> AnyArray | None:
    if width is None:
        return None
    if embeddings is None:
        remedy = Remedy("pass-embeddings", "pass embeddings=…")
        raise InputError(f"this model reads embeddings of {width} numbers per row", remedy)
    return check_embeddings(np.atleast_2d(as_array(embeddings, "embeddings")), "embeddings", n_rows, width)


def _ranking(given: AnyArray, final: FloatArray, n_candidates: int, table: ClassTable) -> Ranking:
    """Rank the best classes by final score.  The base scores are kept, so the base order stays known."""
    best = Shortlist.from_scores(final, n_candidates).ids
    at = np.maximum(best, 0)
    base = np.where(best >= 0, np.take_along_axis(given.astype(np.float64), at, axis=1), -np.inf)
    listed = Shortlist.from_candidates(best, base, table.n_classes)
    values = np.take_along_axis(final, np.maximum(listed.ids, 0), axis=1)
    ranking = Ranking.from_scores(listed, np.where(listed.mask, values, -np.inf))
    names = table.class_names
    return ranking if names is None else Ranking(ranking.ids, ranking.scores, ranking.order, ranking.n_classes, names)
