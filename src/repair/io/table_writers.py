"""Converting the columns of a table to the bytes of each format.  Nothing is written to disk here."""

import gzip
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair._utils.json import plain
from repair.errors import InputError, InputWarning, warn_user
from repair.io.excel import excel_bytes
from repair.io.formats import FileFormat, first_line

__all__ = ["archive_bytes", "array_bytes", "building", "table_bytes"]

#: Number of rows that are converted to Python objects at a time for JSON.
ROWS_AT_A_TIME = 10_000


@contextmanager
def building(kind: str) -> Iterator[None]:
    """Turn errors that a library raises for values that a format cannot represent into `InputError`."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, TypeError, NotImplementedError, OverflowError, KeyError) as error:
        raise InputError(f"the ranking cannot be written as {kind} ({first_line(error)}); try another format") from None


def table_bytes(columns: Any, format_: FileFormat) -> bytes:
    """Return a pyarrow table as the content of a file."""
    write = {"csv": _csv, "xlsx": _xlsx, "jsonl": _jsonl, "parquet": _parquet, "arrow": _arrow}[format_.kind]
    content = write(columns, format_)
    return gzip.compress(content, mtime=0) if format_.compressed else content


def archive_bytes(arrays: dict[str, AnyArray]) -> bytes:
    """Return arrays as the content of a ``.npz`` file.  Arrays that would need pickle are left out, with a warning."""
    usable = {name: _plain_array(values) for name, values in arrays.items()}
    dropped = [name for name, values in usable.items() if values is None]
    if dropped:
        warn_user(f"left out, because a .npz file cannot store them: {', '.join(map(repr, dropped))}", InputWarning)
    stream = io.BytesIO()
    kept: dict[str, Any] = {name: values for name, values in usable.items() if values is not None}
    np.savez(stream, **kept)
    return stream.getvalue()


def array_bytes(values: AnyArray) -> bytes:
    """Return an array as the content of a ``.npy`` file."""
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=False)
    return stream.getvalue()


def _plain_array(values: AnyArray) -> AnyArray | None:
    array = np.asarray(values)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.flat):
        array = array.astype(str)
    return array if array.dtype.kind in "fiubUSmM" else None


def _csv(columns: Any, format_: FileFormat) -> bytes:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(_with_cells(columns), sink, csv.WriteOptions(delimiter=format_.delimiter))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _xlsx(columns: Any, format_: FileFormat) -> bytes:
    return excel_bytes(_with_cells(columns), format_)


def _with_cells(columns: Any) -> Any:
    """Return the table with columns that have no CSV type as text."""
    import pyarrow as pa

    for index, name in enumerate(columns.column_names):
        if not _fits_a_cell(columns.column(index).type):
            texts = [_cell(value) for value in columns.column(index).to_pylist()]
            columns = columns.set_column(index, name, pa.array(texts, pa.string()))
    return columns


def _fits_a_cell(kind: Any) -> bool:
    from pyarrow import types

    tests = (types.is_integer, types.is_boolean, types.is_string, types.is_large_string, types.is_temporal)
    return any(is_kind(kind) for is_kind in tests) or types.is_float32(kind) or types.is_float64(kind)


def _cell(value: Any) -> str | None:
    """Return a value that has no CSV type as text, with lists and structures as JSON."""
    return _json(value) if isinstance(value, list | dict) else None if value is None else str(value)


def _jsonl(columns: Any, _: FileFormat) -> bytes:
    lines: list[str] = []
    for batch in columns.to_batches(max_chunksize=ROWS_AT_A_TIME):
        lines += map(_json, batch.to_pylist())
    return ("\n".join(lines) + "\n").encode("utf-8")


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:  # JSON cannot represent NaN and infinity
        return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def _parquet(columns: Any, _: FileFormat) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(columns, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _arrow(columns: Any, _: FileFormat) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, columns.schema) as writer:
        writer.write_table(columns)
    content: bytes = sink.getvalue().to_pybytes()
    return content
