"""LightGBM's LambdaRank on the same shortlists: a learned ranker that does not have the form of our model.

For each candidate it gets the columns of REPAIR's terms, the score and the log count.  Trees can
combine these in any way, so it shows how much more the columns could give.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from repair._utils.arrays import PAD_SCORE, AnyArray, FloatArray
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.model.adjustments import Adjustments
from repair.model.choice import Choice
from repair.model.correction import Correction
from repair.model.state import FitSummary, FittedState
from repair.rerankers.base import ShortlistReranker
from repair.stats.folds import fold_rows, group_folds
from repair.stats.row_weights import number_of_units, renumbered
from repair.terms.registry import choose_fixed_terms
from repair.terms.view import CandidateView
from repair.validation.checks import check_count

__all__ = ["LambdaRank"]

#: Numbers of trees to choose from, by accuracy on held-out rows.
ROUNDS = (10, 25, 50, 100, 200)
FOLDS = 5
MODE = "lambdarank"
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
    """Final scores from trees, which are not a sum of contributions."""

    booster: Any = field(default=None)
    rounds: int = 0

    def scores_of(self, rows: Shortlist, decision: Adjustments) -> FloatArray:
        """Return the scores of the trees plus the adjustments of `decision`, with −Inf on padding."""
        view = CandidateView(rows, self.table)
        result = np.full(rows.ids.shape, PAD_SCORE)
        if rows.mask.any():
            result[rows.mask] = self.booster.predict(_features(view)[rows.mask])
        for _, values in decision.contributions(view):
            result += values
        return result

    def contributions(self, shortlist: Shortlist, decision: Adjustments) -> list[tuple[str, FloatArray]]:
        """Raise an error, because the scores of trees are not a sum of contributions."""
        raise InputError("LambdaRank's trees have no contributions to explain; use a Reranker for explanations")


class LambdaRank(ShortlistReranker):
    """Gradient-boosted trees that rank a shortlist (needs LightGBM).

    Parameters
    ----------
    n_candidates : int, default 10
    rounds : int, optional
        Number of trees.  By default it is chosen by accuracy on held-out rows, with groups kept whole.

    Examples
    --------
    >>> from repair_bench.harness.lambdarank import LambdaRank
    >>> LambdaRank(5)
    LambdaRank(n_candidates=5)
    """

    def __init__(self, n_candidates: int = 10, rounds: int | None = None) -> None:
        self.n_candidates = n_candidates
        self.rounds = rounds

    def check_parameters(self, table: ClassTable) -> None:
        """Check the parameters, and that the class counts are known."""
        super().check_parameters(table)
        table.require("class_counts", "LambdaRank")
        if self.rounds is not None:
            check_count(self.rounds, "rounds")

    def can_fit(self, mode: str) -> bool:
        """Return whether a fit with these parameters can give a model of this mode."""
        return mode == MODE

    @property
    def rounds_(self) -> int:
        """Number of trees."""
        correction = self.state.correction
        assert isinstance(correction, TreeCorrection)
        return correction.rounds

    def with_chosen_parameters(self, choice: Choice | None = None) -> "LambdaRank":
        """Return an unfitted copy with the number of trees that ``fit`` chose."""
        return self.clone(rounds=self.rounds_)

    def learn(self, calibration: CalibrationSet, *, progress: bool = False) -> FittedState:
        """Choose the number of trees, and train them."""
        self.check_parameters(calibration.table)
        rows = _Queries.of(calibration)
        rounds = _choose_rounds(rows) if self.rounds is None else int(self.rounds)
        everything = np.ones(len(rows.target), dtype=bool)
        nothing = Correction(calibration.table, 0.0, np.zeros(calibration.table.n_classes), (), np.zeros(0))
        summary = FitSummary(
            mode=MODE,
            n_rows=len(calibration.labels),
            n_covered=int(calibration.covered.sum()),
            n_unknown=int((calibration.labels < 0).sum()),
            effective_rows=calibration.effective_rows(),
            notes=(f"{rounds} trees",),
        )
        return FittedState(
            correction=TreeCorrection(**vars(nothing), booster=rows.train(everything, rounds), rounds=rounds),
            n_candidates=calibration.shortlist.n_candidates,
            labels_are_names=calibration.labels_are_names,
            label_counts=calibration.label_counts(),
            label_shares=calibration.label_shares(0.0),
            summary=summary,
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
        groups = None if calibration.groups is None else renumbered(calibration.groups[rows])
        return cls(
            _features(CandidateView(covered, calibration.table)),
            covered.mask,
            calibration.positions[rows],
            calibration.importance[rows],
            groups,
        )

    def train(self, which: AnyArray, rounds: int) -> Any:
        import lightgbm

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
    """Return the number of trees with the best held-out accuracy, and the smallest of equals."""
    if number_of_units(len(rows.target), rows.groups) < 2 * FOLDS:
        return ROUNDS[0]
    folds = group_folds(len(rows.target), rows.groups, FOLDS, 0)
    right = np.zeros(len(ROUNDS))
    for train, test in fold_rows(folds):
        booster = rows.train(train, ROUNDS[-1])
        right += [rows.accuracy(booster, test, rounds) for rounds in ROUNDS]
    return ROUNDS[int(np.argmax(right))]


def _features(view: CandidateView) -> FloatArray:
    """Return the columns of REPAIR's terms, the score and the log count."""
    terms = choose_fixed_terms(None, view.table)
    return np.stack(
        [*(term.column(view) for term in terms), view.scores, view.per_class(view.table.log_counts)], axis=2
    )
