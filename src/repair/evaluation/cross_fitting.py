"""Cross-fitting: each calibration row is ranked by a copy of the method that was fitted without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair._utils.progress import progress_bar
from repair.data.calibration_set import CalibrationSet
from repair.data.ranking import Ranking
from repair.data.shortlist import Shortlist
from repair.evaluation.metrics import hit_rate
from repair.rerankers.base import ShortlistReranker
from repair.stats.folds import FOLDS, fold_rows, group_folds, too_few_units
from repair.stats.not_applicable import NotApplicable

__all__ = ["CrossFit", "HeldOutPart", "cross_fit"]

#: A metric with one value per row, such as `repair.evaluation.metrics.hit_rate`.
RowMetric = Callable[[Ranking, IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class HeldOutPart:
    """The held-out rows of one fold, a model that was fitted without them, and its shortlists for them."""

    rows: IntArray
    model: ShortlistReranker
    shortlist: Shortlist


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Copies of a method, each fitted without one fold.  Every row is in exactly one part."""

    parts: tuple[HeldOutPart, ...]
    n_rows: int

    def hits(self, labels: IntArray) -> FloatArray:
        """Return 1 for each row whose label was ranked first when the row was held out, else 0."""
        return self.measured(labels, hit_rate)[0]

    def measured(self, labels: IntArray, *metrics: RowMetric) -> list[FloatArray]:
        """Return the values of some metrics, one value per row, computed when the row was held out."""
        values = [np.empty(self.n_rows) for _ in metrics]
        for part in self.parts:
            ranking, wanted = part.model.rerank(part.shortlist), labels[part.rows]
            for metric, per_row in zip(metrics, values, strict=True):
                per_row[part.rows] = metric(ranking, wanted)
        return values


def cross_fit(
    model: ShortlistReranker, calibration: CalibrationSet, *, random_state: int = 0, progress: bool = False
) -> CrossFit | NotApplicable:
    """Fit five copies of a method, each on four fifths of the groups.

    Each fit chooses its hyperparameters from its own rows, so no held-out row takes part in any
    choice.  If the model was fitted in mode ``auto`` on the same rows, its choices for the outer folds
    are used again, so the gain is the nested gain that it reports.

    Parameters
    ----------
    model : ShortlistReranker
        A fitted or unfitted method.  It is not changed.
    calibration : CalibrationSet
        The rows to fit on and to hold out.
    random_state : int, default 0
        Seed for the folds.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    CrossFit or NotApplicable
        `NotApplicable` if there are too few rows or groups.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker, ScoreSet
    >>> from repair.data.calibration_set import CalibrationSet
    >>> from repair.evaluation.cross_fitting import cross_fit
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 6, size=400)
    >>> scores = rng.normal(size=(400, 6)) + 2.0 * np.eye(6)[labels] + np.array([1.5, 0, 0, 0, 0, 0])
    >>> rows = CalibrationSet.build(ScoreSet(scores, labels), 4)
    >>> held_out = cross_fit(Reranker("classwise"), rows)
    >>> bool(held_out.hits(rows.labels).mean() > (rows.positions == 0).mean())
    True
    """
    too_few = too_few_units(int(calibration.covered.sum()), calibration.groups)
    if too_few is not None:
        return NotApplicable(f"there are {too_few.present}; held-out gains need {too_few.needed}")
    folds, copies = _copies(model, calibration, random_state)
    parts = []
    with progress_bar("fitting for held-out rows", FOLDS, show=progress) as step:
        for number, (copy, (train, test)) in enumerate(zip(copies, fold_rows(folds), strict=True), start=1):
            rows = calibration.take(train)
            if len(np.unique(rows.labels[rows.covered])) < 2:
                return NotApplicable(f"without fold {number} of {FOLDS}, the covered rows have fewer than two labels")
            copy.fit_checked(rows)
            parts.append(HeldOutPart(test, copy, copy.shortlists_for(calibration.take(test))))
            step()
    return CrossFit(tuple(parts), len(calibration.labels))


def _copies(
    model: ShortlistReranker, calibration: CalibrationSet, random_state: int
) -> tuple[IntArray, list[ShortlistReranker]]:
    """Return the fold of each row, and one unfitted copy of the method per fold."""
    n_rows = len(calibration.labels)
    auto = model.auto_ if model.is_fitted and model.head_loss_ is None else None
    if auto is not None and auto.folds is not None and len(auto.folds) == n_rows:
        return auto.folds, [model.with_chosen_parameters(result.choice) for result in auto.outer]
    return group_folds(n_rows, calibration.groups, FOLDS, random_state), [model.clone() for _ in range(FOLDS)]
