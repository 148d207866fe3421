"""LightGBM's LambdaRank on the same shortlists: a learned ranker without our model's form.

It sees for each candidate what REPAIR's terms see, and the score and the log count themselves.
Trees can combine these in any way, so it bounds from the other side what the columns hold.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from repair.arrays import PAD_SCORE, AnyArray, FloatArray
from repair.calibration import CalibrationSet
from repair.candidates import CandidateView
from repair.class_table import ClassTable
from repair.correction import Correction
from repair.decision import Decision
from repair.errors import InputError, MissingExtraError
from repair.estimator import ShortlistReranker
from repair.fitted_state import FitAccount, FittedState
from repair.folds import group_folds
from repair.inputs import check_count
from repair.shortlist import Shortlist
from repair.terms import choose_terms, stack_columns

__all__ = ["LambdaRank"]

#: Numbers of trees to choose from, by accuracy on held-out rows.
ROUNDS = (10, 25, 50, 100, 200)
FOLDS = 5
SETTINGS = {
    "objective": "lambdarank",
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 20,
    "num_threads": 1,
    "deterministic": True,
    "seed": 0,
    "verbosity": -1,
}


@dataclass(frozen=True, eq=False)
class TreeCorrection(Correction):
    """Final scores from trees; it has no parts that add up."""

    booster: Any = field(default=None)

    def scores_of(self, rows: Shortlist, decision: Decision) -> FloatArray:
        """Return the trees' scores, with the wishes of `decision` on top; −Inf on padding."""
        view = CandidateView(rows, self.table)
        result = np.full(rows.ids.shape, PAD_SCORE)
        if rows.mask.any():
            result[rows.mask] = self.booster.predict(_features(view)[rows.mask])
        for _, values in decision.contributions(view):
            result += values
        return result

    def contributions(self, shortlist: Shortlist, decision: Decision) -> list[tuple[str, FloatArray]]:
        """Refuse: trees do not add up candidate by candidate."""
        raise InputError("LambdaRank's trees have no contributions to explain; use a Reranker for explanations")


class LambdaRank(ShortlistReranker):
    """Gradient-boosted trees that rank a shortlist (needs LightGBM, extra ``bench``).

    Parameters
    ----------
    n_candidates : int, default 10
    rounds : int, optional
        Number of trees; by default chosen by accuracy on held-out rows, whole groups held out.

    Examples
    --------
    >>> from repair.bench.lambdarank import LambdaRank
    >>> LambdaRank(5)
    LambdaRank(n_candidates=5)
    """

    parameters: ClassVar[tuple[str, ...]] = ("n_candidates", "rounds")

    mode_name = "lambdarank"

    def __init__(self, n_candidates: int = 10, rounds: int | None = None) -> None:
        self.n_candidates = n_candidates
        self.rounds = rounds

    def _check_parameters(self, table: ClassTable) -> None:
        super()._check_parameters(table)
        table.require("class_counts", "LambdaRank")
        if self.rounds is not None:
            check_count(self.rounds, "rounds")

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        rows = _Queries.of(calibration)
        rounds = _choose_rounds(rows) if self.rounds is None else int(self.rounds)
        everything = np.ones(len(rows.target), dtype=bool)
        nothing = Correction(calibration.table, 0.0, np.zeros(calibration.table.n_classes), (), np.zeros(0))
        account = FitAccount(
            mode=self.mode_name,
            n_rows=len(calibration.labels),
            n_covered=int(calibration.covered.sum()),
            n_unknown=int((calibration.labels < 0).sum()),
            effective_rows=calibration.effective_rows(),
            chosen={"rounds": rounds},
        )
        return FittedState(
            correction=TreeCorrection(**vars(nothing), booster=rows.train(everything, rounds)),
            n_candidates=calibration.shortlist.n_candidates,
            labels_are_names=calibration.labels_are_names,
            label_counts=calibration.label_counts(),
            label_shares=calibration.label_shares(0.0),
            account=account,
        )


@dataclass(frozen=True, eq=False)
class _Queries:
    """Covered rows as LightGBM's queries."""

    features: FloatArray
    mask: AnyArray
    target: AnyArray
    importance: FloatArray
    groups: AnyArray | None

    @classmethod
    def of(cls, calibration: CalibrationSet) -> "_Queries":
        rows = np.flatnonzero(calibration.covered)
        covered = calibration.shortlist.take(rows)
        groups = None
        if calibration.groups is not None:
            groups = np.unique(calibration.groups[rows], return_inverse=True)[1].astype(np.int32)
        return cls(
            _features(CandidateView(covered, calibration.table)),
            covered.mask,
            calibration.positions[rows],
            calibration.importance[rows],
            groups,
        )

    def train(self, which: AnyArray, rounds: int) -> Any:
        try:
            import lightgbm
        except ImportError:
            raise MissingExtraError("LambdaRank needs the extra 'bench': pip install 'repair-rerank[bench]'") from None
        mask = self.mask[which]
        relevant = np.arange(mask.shape[1]) == self.target[which][:, None]
        weights = np.repeat(self.importance[which], mask.sum(axis=1))
        data = lightgbm.Dataset(
            self.features[which][mask],
            label=relevant[mask].astype(np.int32),
            group=mask.sum(axis=1),
            weight=weights / weights.mean(),
            free_raw_data=True,
        )
        return lightgbm.train(SETTINGS, data, num_boost_round=rounds)

    def accuracy(self, booster: Any, which: AnyArray, rounds: int) -> float:
        mask = self.mask[which]
        scores = np.full(mask.shape, PAD_SCORE)
        scores[mask] = booster.predict(self.features[which][mask], num_iteration=rounds)
        return float(self.importance[which] @ (scores.argmax(axis=1) == self.target[which]))


def _choose_rounds(rows: _Queries) -> int:
    """Return the number of trees with the best held-out accuracy, the fewest among equals."""
    units = len(rows.target) if rows.groups is None else int(rows.groups.max()) + 1
    if units < 2 * FOLDS:
        return ROUNDS[0]
    folds = group_folds(len(rows.target), rows.groups, FOLDS, 0)
    right = np.zeros(len(ROUNDS))
    for fold in range(FOLDS):
        booster = rows.train(folds != fold, ROUNDS[-1])
        right += [rows.accuracy(booster, folds == fold, rounds) for rounds in ROUNDS]
    return ROUNDS[int(np.argmax(right))]


def _features(view: CandidateView) -> FloatArray:
    """Return the columns of REPAIR's terms, the score, and the log count."""
    columns = stack_columns(choose_terms(None, view.table), view)
    own = np.stack([view.scores, view.per_class(view.table.log_counts)], axis=2)
    return np.concatenate([columns, own], axis=2)
