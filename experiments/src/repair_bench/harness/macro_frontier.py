"""Accuracy and macro accuracy of a fitted method on the test rows, for several steps towards macro accuracy."""

from dataclasses import replace
from typing import Any

import numpy as np

from repair import Reranker
from repair._utils.arrays import FloatArray, IntArray
from repair.data.score_set import ScoreSet
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.rivals.rival import ScoreRival
from repair.stats.row_weights import equal_group_weights, renumbered
from repair_bench.bases.base_scores import BaseScores

__all__ = ["macro_frontier"]

STEPS = tuple(round(0.1 * step, 1) for step in range(-5, 31))


def macro_frontier(model: ShortlistReranker, test: ScoreSet, base: BaseScores) -> dict[str, Any]:
    """Return accuracy and macro accuracy over all test rows, with parts and multiples of what the dial "macro" adds.

    Step 1 is the dial ``"macro"`` itself, which takes the class shares that the method follows out of its
    scores.  Step 0 is no dial.  Every method gets the same, so rivals can aim at macro accuracy as ours do.

    Parameters
    ----------
    model : ShortlistReranker
        The fitted method.
    test : ScoreSet
        The test rows.
    base : BaseScores
        Source of labels and groups.

    Returns
    -------
    dict
        ``steps``, ``accuracy`` and ``macro``, lists of equal length.  Macro is the mean over the classes that
        have test rows.
    """
    ids, final = _ranked(model, test)
    added = model.state.macro_rarity[np.maximum(ids, 0)]
    codes = None if base.test_groups is None else renumbered(base.test_groups)
    weights = equal_group_weights(len(base.test_labels), codes)
    _, classes = np.unique(base.test_labels, return_inverse=True)
    class_weights = np.bincount(classes, weights)
    found: dict[str, Any] = {"steps": list(STEPS), "accuracy": [], "macro": []}
    for step in STEPS:
        first = (final + step * added).argmax(axis=1)
        right = weights * (ids[np.arange(len(first)), first] == base.test_labels)
        found["accuracy"].append(float(right.sum() / weights.sum()))
        found["macro"].append(float((np.bincount(classes, right) / class_weights).mean()))
    return found


def _ranked(model: ShortlistReranker, test: ScoreSet) -> tuple[IntArray, FloatArray]:
    """Return ids and scores of all candidates that the method ranks, which can be more than it returns."""
    if isinstance(model, Reranker):
        scores = test.scores if model.uses_all_scores else test.shortlist(model.n_candidates)
        shortlist = model.shortlist(scores, test.embeddings)
        return shortlist.ids, model.final_scores(shortlist, dial=0.0)
    if isinstance(model, ScoreRival):  # it ranks all classes and returns the best
        model = model.with_state(replace(model.state, n_candidates=model.state.correction.table.n_classes))
    scores = test.scores if model.uses_all_scores else test.shortlist(model.n_candidates)
    ranking = model.rerank(scores, embeddings=test.embeddings, dial=0.0)
    return ranking.ids, ranking.scores
