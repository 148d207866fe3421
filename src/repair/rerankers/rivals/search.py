"""Choosing hyperparameters by the held-out likelihood, with warm starts from one value to the next."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.rerankers.rivals.rival import Parameters, Scorer, Tuned
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.softmax import log_loss

__all__ = ["PATIENCE", "choose", "search_path"]

#: A path ends after this many values in a row that did not improve the best loss.
PATIENCE = 1

FoldFit = Callable[[Rows, Parameters, Any], tuple[Scorer, Any]]


def choose(rows: Rows, tried: Sequence[tuple[Parameters, AnyArray]]) -> Tuned:
    """Return the setting whose cross-fitted scores have the smallest loss.  The first of equals wins."""
    losses = [log_loss(scores, rows.y, rows.weights) for _, scores in tried]
    return Tuned(*tried[int(np.argmin(losses))])


def search_path(rows: Rows, settings: Sequence[Parameters], fit: FoldFit) -> Tuned:
    """Choose one of several settings, which go from the strongest penalty to the weakest.

    Parameters
    ----------
    rows : Rows
    settings : sequence of mapping
    fit : callable
        Takes rows, a setting and the start that the previous setting returned (or None).  Returns
        the trained model and the start for the next setting.

    Returns
    -------
    Tuned
        The setting with the smallest held-out loss.  Without folds, the first setting.
    """
    if rows.folds is None:
        return Tuned(settings[0], rows.z)
    splits = list(rows.splits())
    starts: list[Any] = [None] * len(splits)
    best, lowest, worse = Tuned(settings[0], rows.z), np.inf, 0
    for setting in settings:
        scores = np.array(rows.z)
        for fold, (training, held_out) in enumerate(splits):
            model, starts[fold] = fit(training, setting, starts[fold])
            scores[rows.folds == fold] = model.scores(held_out.z, held_out.x)
        loss = log_loss(scores, rows.y, rows.weights)
        worse = 0 if loss < lowest else worse + 1
        if loss < lowest:
            best, lowest = Tuned(setting, scores), loss
        if worse >= PATIENCE:
            break
    return best
