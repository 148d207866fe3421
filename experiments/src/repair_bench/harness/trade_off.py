"""The trade-off of a fitted method between rare and frequent classes, for several dials on the test rows."""

from typing import Any

import numpy as np

from repair import rare_classes
from repair.data.score_set import ScoreSet
from repair.rerankers.base import ShortlistReranker
from repair.stats.row_weights import equal_group_weights, renumbered
from repair_bench.bases.base_scores import BaseScores

__all__ = ["trade_off"]

DIALS = tuple(round(0.1 * step, 1) for step in range(-10, 21))


def trade_off(model: ShortlistReranker, test: ScoreSet, base: BaseScores) -> dict[str, Any]:
    """Return accuracies over all rows for every dial: of rare, frequent and all classes, and the mean over classes.

    The dial adds t·log(1/prior) to the final scores, so one reranking is enough for all dials.

    Parameters
    ----------
    model : ShortlistReranker
        The fitted method.
    test : ScoreSet
        The test rows.
    base : BaseScores
        Source of class counts, labels and groups.

    Returns
    -------
    dict
        ``dials``, ``rare``, ``frequent``, ``accuracy`` and ``macro``, lists of equal length.  Macro is the
        mean over the classes that have test rows.
    """
    scores = test.scores if model.uses_all_scores else test.shortlist(model.n_candidates)
    ranking = model.rerank(scores, embeddings=test.embeddings, dial=0.0)
    codes = None if base.test_groups is None else renumbered(base.test_groups)
    weights = equal_group_weights(len(base.test_labels), codes)
    rarity = -np.log((base.class_counts + 1.0) / (base.class_counts + 1.0).sum())
    added = rarity[np.maximum(ranking.ids, 0)]
    is_rare = rare_classes(base.class_counts)[base.test_labels]
    _, classes = np.unique(base.test_labels, return_inverse=True)
    class_weights = np.bincount(classes, weights)
    found: dict[str, Any] = {"dials": list(DIALS), "rare": [], "frequent": [], "accuracy": [], "macro": []}
    for dial in DIALS:
        first = (ranking.scores + dial * added).argmax(axis=1)
        right = ranking.ids[np.arange(len(first)), first] == base.test_labels
        for name, which in (("rare", is_rare), ("frequent", ~is_rare), ("accuracy", np.ones(len(right), dtype=bool))):
            total = weights[which].sum()
            found[name].append(float((weights * right)[which].sum() / total) if total > 0 else None)
        found["macro"].append(float((np.bincount(classes, weights * right) / class_weights).mean()))
    return found
