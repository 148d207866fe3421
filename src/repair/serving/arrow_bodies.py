"""Requests and answers as Arrow IPC streams, with the columns of candidate lists."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from repair._utils.arrays import PAD_ID, AnyArray, FloatArray, IntArray
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.io.table_readers import parse_arrow
from repair.serving.batch import NO_CANDIDATE, Answer, Batch, check_settings, check_size
from repair.serving.errors import RequestError
from repair.serving.json_bodies import json_bytes
from repair.serving.model_store import ServedModel
from repair.serving.options import ServerOptions

__all__ = ["ARROW", "arrow_answer", "batch_of_arrow"]

ARROW = "application/vnd.apache.arrow.stream"
COLUMNS = ("scores", "candidates", "candidate_ids", "candidate_scores", "embeddings")
#: A compressed body may unpack to this many times the largest body.
LARGEST_INFLATION = 4


def batch_of_arrow(body: bytes, model: ServedModel, options: ServerOptions) -> Batch:
    """Return the batch in an Arrow stream.  Its metadata may have a ``dial``."""
    try:
        table = parse_arrow(body, LARGEST_INFLATION * options.max_bytes)
    except InputError as error:
        raise RequestError(400, str(error)) from None
    names = table.column_names
    odd = next((name for place, name in enumerate(names) if name not in COLUMNS or name in names[:place]), None)
    if odd is not None:
        raise InputError(
            f"the column {odd[:50]!r} is unknown or there twice; the columns of a request are {', '.join(COLUMNS)}"
        )
    if table.num_rows == 0:
        raise InputError("there are no rows; send at least one")
    embeddings = _matrix(table, "embeddings", options) if "embeddings" in names else None
    return Batch(_scores(table, model, options), embeddings, _dial(table))


def _scores(table: Any, model: ServedModel, options: ServerOptions) -> AnyArray | Shortlist:
    given = [name for name in COLUMNS[:4] if name in table.column_names]
    if given == ["scores"]:
        return _matrix(table, "scores", options)
    if given not in (["candidates", "candidate_scores"], ["candidate_ids", "candidate_scores"]):
        raise InputError(
            "send either 'scores' of all classes, or 'candidate_scores' with names ('candidates') or ids "
            "('candidate_ids')"
        )
    lengths, items = _lists(table, given[0])
    score_lengths, values = _lists(table, "candidate_scores")
    if (lengths != score_lengths).any():
        row = int(np.argmax(lengths != score_lengths))
        raise InputError(
            f"row {row} has {lengths[row]} candidates, but {score_lengths[row]} scores; send one score per candidate"
        )
    check_size(len(lengths), int(lengths.max()), options)
    ids = _numbers(items, "candidate_ids") if given[0] == "candidate_ids" else _ids_of_names(items, lengths, model)
    return _padded(lengths, ids, _numbers(values, "candidate_scores"), model)


def _padded(lengths: IntArray, ids: AnyArray, scores: AnyArray, model: ServedModel) -> Shortlist:
    real = np.arange(max(int(lengths.max()), 1)) < lengths[:, None]
    padded_ids, padded_scores = np.full(real.shape, PAD_ID, dtype=ids.dtype), np.full(real.shape, NO_CANDIDATE)
    padded_ids[real], padded_scores[real] = ids, scores
    return Shortlist.from_candidates(padded_ids, padded_scores, model.n_classes)


def _matrix(table: Any, name: str, options: ServerOptions) -> AnyArray:
    """Return a column of equally long lists as an array, in the type that it was sent in."""
    lengths, values = _lists(table, name)
    if (lengths != lengths[0]).any():
        row = int(np.argmax(lengths != lengths[0]))
        raise InputError(
            f"{name} has {lengths[row]} numbers in row {row}, but {lengths[0]} in row 0; all rows must be equally long"
        )
    check_size(len(lengths), int(lengths[0]), options)
    return _numbers(values, name).reshape(len(lengths), int(lengths[0]))


def _lists(table: Any, name: str) -> tuple[IntArray, Any]:
    """Return the lengths of the lists in a column, and their entries as one array."""
    import pyarrow as pa
    from pyarrow import compute as pc

    column = table.column(name)
    kind = column.type
    # Lists of the type "view" may share entries, so a small body could stand for a huge table.
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        raise InputError(f"{name} has type {kind}; send lists, such as list<double>")
    if column.null_count:
        raise InputError(f"{name} has a missing list; send an empty one for a row without entries")
    lengths = pc.list_value_length(column).to_numpy().astype(np.int32)
    pieces = pc.list_flatten(column)
    return lengths, pa.concat_arrays(pieces.chunks) if pieces.num_chunks else pa.array([], kind.value_type)


def _numbers(values: Any, name: str) -> AnyArray:
    """Return numbers as an array.  A missing score means that the class is not a candidate."""
    import pyarrow as pa

    if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)):
        raise InputError(f"{name} has entries of type {values.type}; send numbers")
    if not values.null_count:
        numbers: AnyArray = values.to_numpy(zero_copy_only=False)
        return numbers
    if name not in ("scores", "candidate_scores"):
        raise InputError(f"{name} has a missing entry; send a number")
    filled: FloatArray = values.cast(pa.float64()).fill_null(NO_CANDIDATE).to_numpy(zero_copy_only=False)
    return filled


def _ids_of_names(items: Any, lengths: IntArray, model: ServedModel) -> AnyArray:
    """Return the class ids of names.  Each distinct name is looked up once."""
    import pyarrow as pa

    if not pa.types.is_dictionary(items.type):
        if not (pa.types.is_string(items.type) or pa.types.is_large_string(items.type) or len(items) == 0):
            raise InputError(f"candidates have type {items.type}; send class names as strings, or 'candidate_ids'")
        items = items.dictionary_encode()
    if items.null_count or items.dictionary.null_count:
        raise InputError("candidates have a missing name; send a name")
    codes = items.indices.to_numpy()
    used, place, compact = np.unique(codes, return_index=True, return_inverse=True)
    names = items.dictionary.take(pa.array(used)).to_pylist()
    ids = []
    for name, first in zip(names, place.tolist(), strict=True):
        try:
            ids += model.reranker.state.correction.table.ids_of([str(name)])
        except InputError as error:
            row = int(np.searchsorted(np.cumsum(lengths), first, side="right"))
            raise error.within(f"row {row}") from None
    return np.array(ids, dtype=np.int32)[compact]


def _dial(table: Any) -> float | str | None:
    metadata = table.schema.metadata or {}
    check_settings(key.decode("utf-8", "replace") for key in metadata)
    text = metadata.get(b"dial")
    if text is None:
        return None
    shown = text.decode("utf-8", "replace")
    try:
        return shown if shown == "macro" else float(shown)
    except ValueError:
        raise InputError(f"the dial in the metadata is {shown[:50]!r}; send a number or 'macro'") from None


def arrow_answer(answer: Answer) -> bytes:
    """Return an answer as an Arrow stream.  Warnings and the model's version are in the metadata of the schema."""
    import pyarrow as pa

    ranking = answer.ranking
    real = ranking.ids != PAD_ID
    offsets = np.concatenate([np.zeros(1, np.int32), real.sum(axis=1).cumsum(dtype=np.int32)])
    columns: dict[str, AnyArray | Iterable[str]] = {"ids": ranking.ids[real]}
    if ranking.class_names is not None:
        columns["names"] = ranking.names[real]
    columns |= {"scores": ranking.scores[real], "probabilities": ranking.probabilities[real]}
    metadata = {
        "warnings": json_bytes(list(answer.warnings)),
        "model": json_bytes({"name": answer.model.name, "version": answer.model.version}),
    }
    lists = {name: pa.ListArray.from_arrays(pa.array(offsets), pa.array(values)) for name, values in columns.items()}
    table = pa.table(lists).replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
