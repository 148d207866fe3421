"""Padding lists of candidates, and putting them into base order."""

from collections.abc import Sequence
from itertools import chain
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray, IntArray
from repair.errors import InputError
from repair.validation.checks import SCORE_LIMIT, numeric_array, refuse_score

__all__ = ["Candidates", "bad_score", "base_order", "pad_lists", "to_raw_order"]

Candidates: TypeAlias = "ArrayLike | Sequence[Sequence[Any]]"


def pad_lists(ids: Candidates, scores: Candidates) -> tuple[Candidates, Candidates]:
    """Pad lists of unequal length to arrays, with id −1 and score −Inf.  Anything else is returned unchanged."""
    if not isinstance(ids, list | tuple) or not isinstance(scores, list | tuple) or len(ids) != len(scores):
        return ids, scores
    try:
        lengths = np.array([len(row) for row in ids])
        score_lengths = np.array([len(row) for row in scores])
    except TypeError:
        return ids, scores  # not lists of lists; the checks that follow raise an error
    if len(lengths) == 0 or ((lengths == lengths[0]).all() and (score_lengths == score_lengths[0]).all()):
        return ids, scores
    if (lengths != score_lengths).any():
        row = int(np.argmax(lengths != score_lengths))
        raise InputError(
            f"row {row} has {lengths[row]} candidate ids, but {score_lengths[row]} scores; both numbers must be equal"
        )
    real = np.arange(lengths.max()) < lengths[:, None]
    filled_ids, filled_scores = np.full(real.shape, PAD_ID, dtype=np.float64), np.full(real.shape, PAD_SCORE)
    filled_ids[real] = numeric_array(list(chain.from_iterable(ids)), "candidate ids", 1)
    filled_scores[real] = numeric_array(list(chain.from_iterable(scores)), "candidate scores", 1)
    return filled_ids, filled_scores


def to_raw_order(kernels: ModuleType, scores: AnyArray, ids: IntArray, listed: FloatArray) -> None:
    """Add the base model's best class to each list that lacks it, and sort `ids` by the base scores, in place."""
    best = scores.argmax(axis=1).astype(np.int32)
    lost = ~(ids == best[:, None]).any(axis=1) & (ids[:, 0] != PAD_ID)
    ids[lost, -1] = best[lost]
    last = scores.shape[1]  # replaces −1, so padding sorts after all ids and equal scores are ordered by id
    by_id = np.sort(np.where(ids == PAD_ID, last, ids), axis=1)
    raw = np.take_along_axis(scores, np.minimum(by_id, last - 1), axis=1).astype(np.float64)
    lengths = (by_id < last).sum(axis=1, dtype=np.int32)
    by_id[by_id == last] = PAD_ID
    kernels.rank_rows(by_id, raw, lengths, np.empty_like(ids), ids, listed)


def bad_score(array: AnyArray, row: int) -> InputError:
    """Return the error for the first score of a row that is not a usable number."""
    line = array[row].astype(np.float64)
    bad = ~((line <= SCORE_LIMIT) & (line >= -SCORE_LIMIT)) & ~np.isneginf(line)
    column = int(np.argmax(bad))
    return refuse_score(float(line[column]), f"scores[{row}, {column}]")


def base_order(ids: IntArray, scores: FloatArray) -> tuple[IntArray, FloatArray]:
    """Check the scores and sort each row by descending score, then ascending class id, with padding last."""
    empty = (ids == PAD_ID) | np.isneginf(scores)
    bad = ~(np.abs(scores) <= SCORE_LIMIT) & ~empty
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise refuse_score(float(scores[row, column]), f"candidate scores[{row}, {column}]")
    ids = np.where(empty, PAD_ID, ids).astype(np.int32)
    scores = np.where(empty, PAD_SCORE, scores)
    by_id = np.sort(ids, axis=1)
    twice = (by_id[:, 1:] == by_id[:, :-1]) & (by_id[:, 1:] != PAD_ID)
    if twice.any():
        row, column = np.argwhere(twice)[0]
        raise InputError(f"row {row} lists class {by_id[row, column]} twice; keep one entry per candidate")
    order = np.lexsort((ids, -scores), axis=1)
    if len(ids) == 1:  # `take` is several times as fast, which matters to services that rerank row by row
        return ids.take(order), scores.take(order)
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)
