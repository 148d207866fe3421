"""Choosing τ, λ_a, λ_θ and α on the calibration set: by cross-validation, or as the paper did.

Cross-validation fits on some groups of rows and scores the others.  The paper scores the rows it
has fitted on; that is here under its own name, ``in_sample``, to reproduce its runs.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any, TypeAlias

import numpy as np

from repair.arrays import AnyArray, FloatArray
from repair.calibration import CalibrationSet
from repair.design import Design
from repair.errors import InputError
from repair.fitting import Fit, FitSettings, fit_design
from repair.folds import group_folds
from repair.grid import CRITERIA, RULES, SEARCH_TOLERANCE, Grid, Setting
from repair.inputs import check_choice, check_count
from repair.parallel import map_row_blocks
from repair.progress import progress_bar
from repair.ranking import Ranking
from repair.statistics import paired_gain
from repair.tables import text_table
from repair.terms import Term

__all__ = ["GridSearch", "search"]

Criterion: TypeAlias = "str | Callable[[Ranking, AnyArray], Any]"


@dataclass(frozen=True, eq=False)
class GridSearch:
    """What a search found; prints as the ten best settings.

    Attributes
    ----------
    settings : tuple of Setting
    values : ndarray (s,)
        The criterion of each, higher is better.
    errors : ndarray (s,)
        Standard error of the difference to the best, over groups; 0 in sample.
    chosen : Setting
    criterion, rule : str
    folds : int
        0 means scored in sample.
    """

    settings: tuple[Setting, ...]
    values: FloatArray
    errors: FloatArray
    chosen: Setting
    criterion: str
    rule: str
    folds: int

    def __str__(self) -> str:
        """Return the table."""
        order = np.argsort(-self.values, kind="stable")[:10]
        rows = []
        for position in order:
            one = self.settings[position]
            numbers = one.tau, one.alpha, one.lambda_theta, one.lambda_a
            result = f"{self.values[position]:.4f}", f"{self.errors[position]:.4f}"
            rows.append([*(f"{number:g}" for number in numbers), *result])
        header = ["tau", "alpha", "lambda_theta", "lambda_a", self.criterion, "± to best"]
        how = f"{self.folds} folds" if self.folds else "in sample"
        return f"{text_table(header, rows, text_columns=())}\nchosen ({self.rule}, {how}): {self.chosen}"


def search(
    calibration: CalibrationSet,
    terms: Sequence[Term],
    settings: FitSettings,
    grid: Grid,
    *,
    folds: int = 5,
    criterion: Criterion = "accuracy",
    rule: str = "best",
    seed: int = 0,
    progress: bool = False,
) -> GridSearch:
    """Score every setting of the grid and choose one.

    Parameters
    ----------
    calibration : CalibrationSet
    terms, settings
        The model; its own τ, α and penalties are replaced by the grid's.
    grid : Grid
    folds : int
        Group-aware folds; 0 scores the rows that were fitted on.
    criterion : {"accuracy", "nll", "macro"} or callable
        Accuracy over all rows (an uncovered row is wrong), likelihood of the covered ones, or
        accuracy averaged over classes; all by row weight.  A callable gets the `Ranking` of
        covered rows and their labels and returns one number per row, higher is better.
    rule : {"best", "one_se"}
        The best value, or the strongest penalties within one standard error of it.
    seed : int
    progress : bool
    """
    check_choice(rule, "rule", RULES)
    if not callable(criterion):
        check_choice(criterion, "criterion", CRITERIA)
    fold_of = None
    if folds:
        fold_of = group_folds(len(calibration.labels), calibration.groups, check_count(folds, "folds", 2), seed)
    tried = grid.settings()
    values = np.zeros((len(tried), int(calibration.covered.sum())), dtype=np.float32)  # out of fold, row by row
    counting = threading.Lock()

    def follow(path: slice, parts: list[tuple[Design, Design, AnyArray]]) -> None:
        """Fit and score the settings of one path, on which only λ_a changes."""
        starts: list[Fit | None] = [None] * len(parts)  # each fit starts from the last along λ_a
        for position in range(path.start, path.stop):
            wanted = replace(settings, **vars(tried[position]), tol=max(settings.tol, SEARCH_TOLERANCE))
            for number, (train, test, rows) in enumerate(parts):
                starts[number] = fit = fit_design(train, wanted, starts[number])
                values[position, rows] = _row_values(test, fit, criterion, calibration)
            with counting:
                step()

    with progress_bar("choosing hyperparameters", len(tried), show=progress) as step:
        for tau, paths in groupby(_paths(tried), lambda path: tried[path.start].tau):
            run = partial(follow, parts=_parts(Design.of(calibration, terms, tau), fold_of))
            if callable(criterion):  # a user's function need not bear several threads
                for path in paths:
                    run(path)
            else:
                map_row_blocks(run, list(paths))
    return _choose(tried, values, calibration, criterion, rule, folds)


def _paths(tried: tuple[Setting, ...]) -> list[slice]:
    """Cut the settings into runs that differ in λ_a alone."""
    keys = [(one.tau, one.alpha, one.lambda_theta) for one in tried]
    starts = [place for place, key in enumerate(keys) if place == 0 or key != keys[place - 1]]
    return [slice(start, stop) for start, stop in pairwise([*starts, len(tried)])]


def _parts(design: Design, fold_of: AnyArray | None) -> list[tuple[Design, Design, AnyArray]]:
    """Return for every fold the rows to fit, the rows to score, and where the latter stand."""
    if fold_of is None:
        return [(design, design, np.arange(len(design)))]
    mine = fold_of[design.rows]
    parts = []
    for fold in range(int(fold_of.max()) + 1):
        train, test = np.flatnonzero(mine != fold), np.flatnonzero(mine == fold)
        if not len(train):
            raise InputError(f"all covered rows are in fold {fold}; use fewer folds, or more calibration rows")
        parts.append((design.take(train), design.take(test), test))
    return parts


def _row_values(design: Design, fit: Fit, criterion: Criterion, calibration: CalibrationSet) -> FloatArray:
    scores = design.scores(fit.offsets, fit.weights)
    if criterion == "nll":
        return design.log_likelihood(scores)
    if callable(criterion):
        shortlist = calibration.shortlist.take(design.rows)
        given = np.asarray(criterion(Ranking.from_corrected(shortlist, scores), design.labels), dtype=np.float64)
        if given.shape != (len(design),):
            raise InputError(f"the criterion returned shape {given.shape}; one number for each of {len(design)} rows")
        return given
    hits: FloatArray = (scores.argmax(axis=1) == design.target).astype(np.float64)
    return hits


def _choose(
    tried: tuple[Setting, ...],
    values: AnyArray,
    calibration: CalibrationSet,
    criterion: Criterion,
    rule: str,
    folds: int,
) -> GridSearch:
    covered = calibration.covered
    importance = calibration.importance[covered]
    groups = None if calibration.groups is None else calibration.groups[covered]
    total = float(importance.sum() if criterion == "nll" else calibration.importance.sum())
    if criterion == "macro":
        importance, total = _class_shares(calibration), 1.0
    means = values.astype(np.float64) @ importance / total
    order = np.argsort(-means, kind="stable")
    best = min((int(p) for p in order if means[p] == means[order[0]]), key=lambda p: _simplicity(tried[p]))
    errors = np.zeros(len(tried))
    if folds:
        scale = float(importance.sum()) / total
        for position in range(len(tried)):
            difference = values[best].astype(np.float64) - values[position]
            errors[position] = scale * paired_gain(difference, importance, groups).error
    chosen = best
    if rule == "one_se":
        near = np.flatnonzero(means >= means[best] - errors)
        chosen = min((int(p) for p in near), key=lambda p: _simplicity(tried[p]))
    name = criterion if isinstance(criterion, str) else getattr(criterion, "__name__", "criterion")
    return GridSearch(tried, means, errors, tried[chosen], name, rule, folds)


def _class_shares(calibration: CalibrationSet) -> FloatArray:
    """Weights of the covered rows under which a sum of hits is the accuracy averaged over classes."""
    known = calibration.labels >= 0
    mass = np.bincount(calibration.labels[known], calibration.importance[known], minlength=calibration.table.n_classes)
    covered = calibration.covered
    shares: FloatArray = calibration.importance[covered] / mass[calibration.labels[covered]] / np.count_nonzero(mass)
    return shares


def _simplicity(setting: Setting) -> tuple[float, ...]:
    """Sort key: strong penalties first, then little pre-adjustment and upweighting."""
    return (-setting.lambda_a, -setting.lambda_theta, abs(setting.tau), setting.alpha)
