"""Recognising files that ``repair rerank`` wrote, by their names of columns.

All formats keep these names, and so does a copy that another program made of the file.
"""

from collections.abc import Collection, Mapping

import numpy as np

from repair._utils.arrays import PAD_ID, AnyArray
from repair.errors import InputError, Remedy
from repair.io.columns import ColumnNames

__all__ = ["RANKING_NOTE", "ranking_in_arrays", "ranking_in_table"]

RANKING_NOTE = "the file was written by rerank, so its scores contain a correction already"
#: For each layout, columns that only a ranking has, and the column of its base scores, if it can be read as scores.
LAYOUTS = (
    ({"rank", "base_rank", "base_score"}, "base_score"),
    ({"prediction", "candidate_scores", "candidate_base_scores"}, "candidate_base_scores"),
    ({"prediction", "rank_1", "score_1", "base_score_1"}, ""),
)
BASE = ("base_score", "candidate_base_scores")


def ranking_in_table(names: Collection[str], columns: ColumnNames) -> InputError | None:
    """Return the error for a table that contains a ranking, or None.  The user may choose its base scores."""
    if columns.score in BASE:
        return None
    return next((_error(base) for marks, base in LAYOUTS if marks <= set(names)), None)


def ranking_in_arrays(arrays: Mapping[str, AnyArray]) -> InputError | None:
    """Return the error for arrays that contain a ranking, or None."""
    if any(marks <= set(arrays) for marks, _ in LAYOUTS):
        return _error("")
    if set(arrays) == {"scores"} and _are_ranked_ids(arrays["scores"]):
        return InputError(
            "every row contains each class id once, as in a file that rerank wrote, and ids are not scores; "
            "pass the file of scores (if these are scores, save them as floating-point numbers)"
        )
    return None


def _are_ranked_ids(values: AnyArray) -> bool:
    """Return whether an array has the dtype and the content of ranked ids: each row is a permutation, or padded."""
    if values.dtype != np.int32 or values.ndim != 2 or values.shape[1] < 2 or not len(values):
        return False
    ordered = np.sort(values, axis=1)
    expected = np.arange(values.shape[1])
    return bool(((ordered == expected) | (ordered == PAD_ID)).all())


def _error(base_column: str) -> InputError:
    text = "pass the file that was given to rerank"
    if base_column:
        text += f", or ColumnNames(score={base_column!r}) to use the base scores of its candidates"
    return InputError(
        "this file was written by rerank, so its scores contain a correction already, which would be applied twice",
        Remedy("pass-unranked", text, base_column),
    )
