"""Grid search: choosing τ, λ_a, λ_θ and α by cross-validation, or in sample as the paper did.

Cross-validation fits on some groups of rows and scores the others.  The paper scores the rows of the
fit.  ``cv="in_sample"`` does the same, to reproduce its runs.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from typing import TypeAlias

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair._utils.parallel import map_row_blocks
from repair._utils.progress import progress_bar
from repair.data.calibration_set import CalibrationSet
from repair.data.ranking import Ranking
from repair.errors import InputError
from repair.fitting.design_matrix import Design
from repair.fitting.fit import fit_design
from repair.fitting.penalised_logit import Fit
from repair.fitting.settings import FitSettings
from repair.model.choice import Setting
from repair.model.tuning_records import GridSearchResult
from repair.stats.folds import group_folds
from repair.stats.paired_gains import paired_gain
from repair.terms.term import Term
from repair.tuning.grid import SEARCH_TOLERANCE, Grid
from repair.tuning.options import IN_SAMPLE, GridSearch, Scoring

__all__ = ["search_grid"]

#: The rows to fit, the rows to score, and the indices of the latter among the covered rows.
_Part: TypeAlias = tuple[Design, Design, AnyArray]


def search_grid(
    search: GridSearch,
    calibration: CalibrationSet,
    terms: Sequence[Term],
    settings: FitSettings,
    *,
    random_state: int = 0,
    progress: bool = False,
) -> GridSearchResult:
    """Score every setting of the grid and choose one.

    Parameters
    ----------
    search : GridSearch
        The grid and how to choose from it.
    calibration : CalibrationSet
        The rows to fit and to score.
    terms, settings
        The model to tune.  Its τ, α and penalties are replaced by those of the grid.
    random_state : int, default 0
        Seed for the folds.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    GridSearchResult
    """
    fold_of = None
    if search.cv != IN_SAMPLE:
        fold_of = group_folds(len(calibration.labels), calibration.groups, int(search.cv), random_state)
    assert isinstance(search.grid, Grid)
    counts = calibration.table.class_counts
    tried = search.grid.where_it_matters(settings, terms, with_counts=counts is not None).settings()
    values = np.zeros((len(tried), int(calibration.covered.sum())), dtype=np.float32)  # criterion of each held-out row
    counting = threading.Lock()

    def follow(path: slice, parts: list[_Part]) -> None:
        """Fit and score the settings of one path, along which only λ_a changes."""
        starts: list[Fit | None] = [None] * len(parts)  # each fit starts from the previous one on the path
        for position in range(path.start, path.stop):
            wanted = replace(settings, **vars(tried[position]), tol=max(settings.tol, SEARCH_TOLERANCE))
            for number, (train, test, rows) in enumerate(parts):
                starts[number] = fit = fit_design(train, wanted, starts[number])
                values[position, rows] = _row_values(test, fit, search.scoring, calibration)
            with counting:
                step()

    with progress_bar("choosing hyperparameters", len(tried), show=progress) as step:
        for tau, paths in groupby(_paths(tried), lambda path: tried[path.start].tau):
            run = partial(follow, parts=_parts(Design.of(calibration, terms, tau), fold_of))
            if callable(search.scoring):  # a user's function may not be thread-safe
                for path in paths:
                    run(path)
            else:
                map_row_blocks(run, list(paths))
    return _choose(search, tried, values, calibration)


def _choose(
    search: GridSearch, tried: tuple[Setting, ...], values: AnyArray, calibration: CalibrationSet
) -> GridSearchResult:
    covered = calibration.covered
    importance = calibration.importance[covered]
    groups = None if calibration.groups is None else calibration.groups[covered]
    total = float(importance.sum() if search.scoring == "nll" else calibration.importance.sum())
    if search.scoring == "macro":
        importance, total = _class_shares(calibration), 1.0
    means = values.astype(np.float64) @ importance / total
    order = np.argsort(-means, kind="stable")
    best = min((int(p) for p in order if means[p] == means[order[0]]), key=lambda p: _simplicity(tried[p]))
    errors = np.zeros(len(tried))
    if search.cv != IN_SAMPLE:
        scale = float(importance.sum()) / total
        for position in range(len(tried)):
            difference = values[best].astype(np.float64) - values[position]
            errors[position] = scale * paired_gain(difference, importance, groups).error
    chosen = best
    if search.rule == "one_se":
        near = np.flatnonzero(means >= means[best] - errors)
        chosen = min((int(p) for p in near), key=lambda p: _simplicity(tried[p]))
    name = search.scoring if isinstance(search.scoring, str) else getattr(search.scoring, "__name__", "scoring")
    return GridSearchResult(tried, means, errors, tried[chosen], name, search.rule, search.cv)


def _paths(tried: tuple[Setting, ...]) -> list[slice]:
    """Cut the settings into paths along which only λ_a changes."""
    keys = [(setting.tau, setting.alpha, setting.lambda_theta) for setting in tried]
    starts = [index for index, key in enumerate(keys) if index == 0 or key != keys[index - 1]]
    return [slice(start, stop) for start, stop in pairwise([*starts, len(tried)])]


def _parts(design: Design, fold_of: IntArray | None) -> list[_Part]:
    """Return the rows to fit and the rows to score of each fold."""
    if fold_of is None:
        return [(design, design, np.arange(len(design)))]
    parts = list(design.in_folds(fold_of))
    if not all(len(train) for train, _, _ in parts):
        raise InputError("all covered rows are in one fold; use fewer folds, or more calibration rows")
    return parts


def _row_values(design: Design, fit: Fit, scoring: Scoring, calibration: CalibrationSet) -> FloatArray:
    scores = design.scores(fit.offsets, fit.weights)
    if scoring == "nll":
        return design.log_likelihood(scores)
    if callable(scoring):
        shortlist = calibration.shortlist.take(design.rows)
        given = np.asarray(scoring(Ranking.from_corrected(shortlist, scores), design.labels), dtype=np.float64)
        if given.shape != (len(design),):
            raise InputError(f"scoring returned shape {given.shape}; return one number for each of {len(design)} rows")
        return given
    hits: FloatArray = (scores.argmax(axis=1) == design.target).astype(np.float64)
    return hits


def _class_shares(calibration: CalibrationSet) -> FloatArray:
    """Return weights of the covered rows with which the sum of hits is the accuracy averaged over classes."""
    known = calibration.labels >= 0
    mass = np.bincount(calibration.labels[known], calibration.importance[known], minlength=calibration.table.n_classes)
    covered = calibration.covered
    shares: FloatArray = calibration.importance[covered] / mass[calibration.labels[covered]] / np.count_nonzero(mass)
    return shares


def _simplicity(setting: Setting) -> tuple[float, ...]:
    """Return the sort key of a setting: first strong penalties, then little pre-adjustment and upweighting."""
    return (-setting.lambda_a, -setting.lambda_theta, abs(setting.tau), setting.alpha)
