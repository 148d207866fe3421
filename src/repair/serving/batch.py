"""A batch of rows as a model takes it, whatever format it came in, and the answer to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.ranking import Ranking
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.serving.errors import RequestError
from repair.serving.model_store import ServedModel
from repair.serving.options import ServerOptions

__all__ = [
    "Answer",
    "Batch",
    "as_rectangle",
    "check_settings",
    "check_size",
    "in_model_order",
    "rerank_batch",
    "shortlist_of",
]

NO_CANDIDATE = float("-inf")
#: Settings of `rerank` that requests do not have.  Other names that a server does not know are left to the clients.
NOT_SERVED = ("target_prior", "class_costs")


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows to rerank.

    Attributes
    ----------
    scores : ndarray (n, K) or Shortlist
    embeddings : array_like (n, d) or None
    dial : float, "macro" or None
    """

    scores: AnyArray | Shortlist
    embeddings: Any = None
    dial: float | str | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """A ranking, with the warnings about its rows."""

    model: ServedModel
    ranking: Ranking
    warnings: tuple[str, ...]


def rerank_batch(model: ServedModel, batch: Batch) -> Answer:
    """Rerank a batch as ``Reranker.rerank`` does, with warnings returned instead of printed."""
    reranker = model.reranker
    shortlist = reranker.shortlist(batch.scores, batch.embeddings)
    ranking = reranker.whole_ranking(shortlist, dial=batch.dial)
    if reranker.state.cuts:
        ranking = ranking.first(reranker.state.n_candidates)
    problem = None if reranker.fingerprint_ is None else reranker.fingerprint_.problem(shortlist)
    return Answer(model, ranking, () if problem is None else (problem,))


def check_size(n_rows: int, longest: int, options: ServerOptions) -> None:
    """Raise an error for a batch of too many rows, or whose padded table would be too large."""
    if n_rows > options.max_rows:
        raise RequestError(413, f"the request has {n_rows} rows, but the limit is {options.max_rows}; send fewer rows")
    if n_rows * longest > options.max_slots:
        raise RequestError(
            413,
            f"{n_rows} rows with up to {longest} entries are more than {options.max_slots} numbers; "
            "send fewer rows, or rows with short lists separately",
        )


def check_settings(names: Iterable[str]) -> None:
    """Refuse settings that would change the ranking if they were not ignored."""
    for name in names:
        if name in NOT_SERVED:
            raise InputError(
                f"there is no setting {name!r} in requests, only 'dial'; use Reranker.rerank or an export for {name!r}"
            )


def as_rectangle(rows: Sequence[Sequence[float | None]], name: str, options: ServerOptions) -> FloatArray:
    """Return rows of equal length as an array.  None, which stands for "not a candidate", becomes −Inf."""
    lengths = [len(row) for row in rows]
    check_size(len(rows), max(lengths, default=0), options)
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None:
        raise InputError(
            f"{name}[{odd}] has {lengths[odd]} numbers, but {name}[0] has {lengths[0]}; all rows must be equally long"
        )
    array = np.array(rows, dtype=np.float64)  # None becomes NaN, and the format has no other NaN
    if array.ndim != 2:
        raise InputError(f"{name} has no rows; send at least one")
    return np.where(np.isnan(array), NO_CANDIDATE, array)


def in_model_order(scores: AnyArray, names: Sequence[str] | None, model: ServedModel) -> AnyArray:
    """Return dense scores with their columns in the order of the model's classes.

    Parameters
    ----------
    scores : ndarray (n, K)
    names : sequence of str or None
        The class of each column.  None means that they are in the model's order already.
    model : ServedModel
    """
    if names is None:
        return scores
    if len(names) != scores.shape[1]:
        raise InputError(
            f"class_names has {len(names)} names, but scores have {scores.shape[1]} columns; send one name per column"
        )
    ids = model.reranker.state.correction.table.ids_of(names)
    column_of = np.full(model.n_classes, -1)
    for column, class_id in enumerate(ids):
        if column_of[class_id] >= 0:
            raise InputError(f"class_names has {names[column]!r} twice; send every class once")
        column_of[class_id] = column
    if (column_of < 0).any():
        missing = model.reranker.state.correction.table.name_of(int(np.argmin(column_of)))
        raise InputError(f"class_names lacks {missing!r}; send a score for every class, null if it is not a candidate")
    return scores[:, column_of]


def shortlist_of(
    ids: Sequence[Sequence[int]], scores: Sequence[Sequence[float | None]], model: ServedModel, options: ServerOptions
) -> Shortlist:
    """Return lists of candidates of any lengths as a shortlist."""
    if len(ids) != len(scores):
        raise InputError(f"there are candidates of {len(ids)} rows, but scores of {len(scores)}; send both per row")
    if not any(ids):
        raise InputError("there are no candidates; send at least one row with a candidate")
    for row, (some, values) in enumerate(zip(ids, scores, strict=True)):
        if len(some) != len(values):
            raise InputError(
                f"row {row} has {len(some)} candidates, but {len(values)} scores; send one score per candidate"
            )
    check_size(len(ids), max(map(len, ids), default=0), options)
    numbers = [[NO_CANDIDATE if value is None else value for value in row] for row in scores]
    return Shortlist.from_candidates(list(ids), numbers, model.n_classes)
