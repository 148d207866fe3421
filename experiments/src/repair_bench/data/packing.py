"""Converting small records to arrays without pickle, so that they can be stored in an npz file."""

import io
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from repair._utils.arrays import AnyArray

__all__ = ["npz_bytes", "pack", "unpack"]

Record = TypeVar("Record")

#: A field of texts becomes one array of UTF-8 bytes and, under this suffix, the end of each text.
ENDS = "__ends"


def pack(record: Any) -> dict[str, AnyArray]:
    """Return the fields of a dataclass as arrays.  Fields that are None are left out.

    Fields are arrays or tuples of str.  Texts are concatenated, because in an array of fixed-width
    text every row would take the space of the longest.

    Examples
    --------
    >>> from repair_bench.data.packing import pack, unpack
    >>> from repair_bench.data.problem import Problem
    >>> import numpy as np
    >>> made = Problem(("a", "b"), np.array([0, 1]), np.array([0, 2]), texts=("é", ""))
    >>> unpack(Problem, pack(made)).texts
    ('é', '')
    """
    arrays: dict[str, AnyArray] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, tuple):
            encoded = [text.encode() for text in value]
            arrays[field.name] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            arrays[field.name + ENDS] = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        elif value is not None:
            arrays[field.name] = np.asarray(value)
    return arrays


def unpack(kind: type[Record], arrays: Mapping[str, AnyArray]) -> Record:
    """Return the record that `pack` converted."""
    values: dict[str, Any] = {}
    for name, array in arrays.items():
        if name.endswith(ENDS):
            continue
        values[name] = _texts(array, arrays[name + ENDS]) if name + ENDS in arrays else array
    return kind(**values)


def _texts(content: AnyArray, ends: AnyArray) -> tuple[str, ...]:
    whole = content.tobytes()
    starts = [0, *ends[:-1].tolist()]
    return tuple(whole[start:end].decode() for start, end in zip(starts, ends.tolist(), strict=False))


def npz_bytes(arrays: Mapping[str, AnyArray]) -> bytes:
    """Return the bytes of a compressed npz file."""
    stream = io.BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(stream, **named)
    return stream.getvalue()
