"""Data frames of pandas, polars and Arrow: rankings as frames, and frames as columns of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from repair._utils.arrays import PAD_ID, AnyArray
from repair.errors import InputError, MissingExtraError
from repair.validation.checks import check_choice

if TYPE_CHECKING:
    from repair.data.ranking import Ranking

__all__ = ["ranking_columns", "ranking_frame"]

MODULES = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}


def ranking_columns(ranking: Ranking, row_ids: Sequence[Any] | None = None) -> dict[str, AnyArray]:
    """Return the columns of a ranking in long form, with one entry per candidate."""
    ids = np.arange(len(ranking)) if row_ids is None else np.asarray(row_ids)
    if len(ids) != len(ranking):
        raise InputError(f"row_ids has {len(ids)} entries, but the ranking has {len(ranking)} rows; pass one per row")
    real = ranking.ids != PAD_ID
    rows, ranks = np.nonzero(real)
    columns = {"row": ids[rows], "rank": ranks + 1}
    if ranking.class_names is not None:
        columns["candidate"] = ranking.names[real]
    columns |= {
        "candidate_id": ranking.ids[real],
        "score": ranking.scores[real],
        "probability": ranking.probabilities[real],
    }
    base = ranking.base_scores
    if base is not None:
        columns |= {"base_rank": ranking.order[real] + 1, "base_score": base[real]}
    return columns


def ranking_frame(ranking: Ranking, row_ids: Sequence[Any] | None, kind: str) -> Any:
    """Return a ranking in long form as a frame of the given library."""
    check_choice(kind, "kind", tuple(MODULES))
    columns = ranking_columns(ranking, row_ids)
    try:
        library = import_module(MODULES[kind])
    except ImportError:
        raise MissingExtraError(
            f"to_frame(kind={kind!r}) needs {MODULES[kind]}: pip install {MODULES[kind]}, or choose another kind"
        ) from None
    if kind == "arrow":
        return library.table(
            {name: values.tolist() if values.dtype == object else values for name, values in columns.items()}
        )
    return library.DataFrame(columns)
