"""Reading a model file field by field, with an error for every field that is not as expected."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from stat import S_ISDIR, S_ISREG
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.errors import ArtifactError, InputError

__all__ = ["FieldReader"]

#: Largest length of the description.  Ours have a few thousand characters, and a very long one could fill the memory.
LONGEST_DESCRIPTION = 1 << 20


class FieldReader:
    """Validated access to the JSON description and the arrays of one open file.

    Every method raises `ArtifactError` with the file, the field and the problem if the field is invalid.
    """

    def __init__(self, path: str, fields: dict[str, Any], tensors: Any, prefix: str = "") -> None:
        self.path = path
        self._fields = fields
        self._tensors = tensors
        self._prefix = prefix
        self._unread = set(tensors.keys()) if tensors is not None else set()
        self._unread_fields = set(fields)
        self._sections: list[FieldReader] = []

    @classmethod
    @contextmanager
    def open(cls, path: "str | PathLike[str]", format_name: str) -> "Iterator[FieldReader]":
        """Open a model file, check its format, and parse its description."""
        from safetensors import SafetensorError, safe_open

        name = str(fspath(path))
        if not S_ISDIR(os.stat(name).st_mode) and not S_ISREG(os.stat(name).st_mode):
            raise ArtifactError(f"{name}: not a regular file; pass the path of a saved model")
        with open(name, "rb"):  # raises an OSError if the file is missing or unreadable
            pass
        try:
            with safe_open(name, framework="numpy") as tensors:
                described = (tensors.metadata() or {}).get(format_name)
                if described is None:
                    raise ArtifactError(f"{name}: this safetensors file is not a repair model; save one with save()")
                if len(described) > LONGEST_DESCRIPTION:
                    raise ArtifactError(
                        f"{name}: the description has {len(described)} characters, more than {LONGEST_DESCRIPTION}; "
                        "the file was not written by repair"
                    )
                fields = json.loads(described)
                if not isinstance(fields, dict):
                    raise ArtifactError(f"{name}: the description is not a JSON object; the file is damaged")
                yield cls(name, fields, tensors)
        except ArtifactError:
            raise
        except (SafetensorError, ValueError, OverflowError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise ArtifactError(
                f"{name}: not a readable model file ({error}); it may be truncated, save the model again"
            ) from None

    def refuse(self, reason: str) -> ArtifactError:
        """Return the error for an invalid field."""
        return ArtifactError(f"{self.path}: {reason}; the file is damaged or was not written by repair")

    def finish(self) -> None:
        """Raise an error if the file has arrays or fields that were not read."""
        if self._unread:
            raise self.refuse(f"unexpected array {sorted(self._unread)[0]!r}")
        if self._unread_fields:
            raise self.refuse(f"unexpected field {self._prefix}{sorted(self._unread_fields)[0]}")
        for section in self._sections:
            section.finish()

    def section(self, name: str) -> "FieldReader":
        """Return a reader for a nested object."""
        section = FieldReader(self.path, self.mapping(name), None, f"{self._prefix}{name}.")
        self._sections.append(section)
        return section

    def has(self, name: str) -> bool:
        """Return whether the file has a field.  Fields that were added later are missing in older files."""
        return name in self._fields

    def is_null(self, name: str) -> bool:
        """Return whether a field is null.  The field must exist."""
        return self._value(name) is None

    def text(self, name: str) -> str:
        """Read a string."""
        return self._typed(name, str)  # type: ignore[no-any-return]

    def boolean(self, name: str) -> bool:
        """Read a boolean."""
        return self._typed(name, bool)  # type: ignore[no-any-return]

    def mapping(self, name: str) -> dict[str, Any]:
        """Read an object."""
        return self._typed(name, dict)  # type: ignore[no-any-return]

    def sequence(self, name: str) -> list[Any]:
        """Read a list."""
        return self._typed(name, list)  # type: ignore[no-any-return]

    def integer(self, name: str, low: int) -> int:
        """Read an integer of at least `low`."""
        value = self._value(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < low or value > 2**31 - 1:
            raise self.refuse(f"{self._prefix}{name} is {value!r}, not a whole number of at least {low}")
        return value

    def number(self, name: str) -> float:
        """Read a finite number."""
        value = self._value(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
            raise self.refuse(f"{self._prefix}{name} is {value!r}, not a finite number")
        return float(value)

    def optional_number(self, name: str) -> float | None:
        """Read a finite number or null."""
        return None if self.is_null(name) else self.number(name)

    def array(self, name: str, dtypes: tuple[str, ...], ndim: int) -> AnyArray:
        """Read an array with one of these dtypes and this number of dimensions."""
        if name not in self._tensors.keys():  # noqa: SIM118  (not a dict)
            raise self.refuse(f"array {name!r} is missing")
        view = self._tensors.get_slice(name)
        if view.get_dtype() not in dtypes or len(view.get_shape()) != ndim:
            raise self.refuse(
                f"array {name!r} is {view.get_dtype()} of shape {view.get_shape()}, "
                f"not {' or '.join(dtypes)} with {ndim} dimension{'s' if ndim > 1 else ''}"
            )
        self._unread.discard(name)
        return np.asarray(self._tensors.get_tensor(name))

    def arrays_of(self, prefix: str) -> dict[str, AnyArray]:
        """Read all arrays whose names start with `prefix` and a dot, and return them by the rest of their names."""
        start = f"{prefix}."
        names = [name for name in self._tensors.keys() if name.startswith(start)]  # noqa: SIM118  (not a dict)
        self._unread.difference_update(names)
        return {name.removeprefix(start): np.asarray(self._tensors.get_tensor(name)) for name in names}

    def shapes(self) -> dict[str, list[int]]:
        """Return the shape of every array."""
        return {name: list(self._tensors.get_slice(name).get_shape()) for name in self._tensors.keys()}  # noqa: SIM118

    def optional_codes(self, name: str, size: int) -> IntArray | None:
        """Read one group code per class for `size` classes, or return None if the file has none."""
        if name not in self._tensors.keys():  # noqa: SIM118
            return None
        codes: IntArray = self.array(name, ("I32",), 1)
        if len(codes) != size or codes.min() < 0 or codes.max() >= 2 * size:
            raise self.refuse(f"array {name!r} does not have one group code for each of {size} classes")
        return codes

    def vector(self, name: str, size: int | None, low: float = -np.inf) -> FloatArray:
        """Read a vector of finite float64 numbers of at least `low`."""
        values: FloatArray = self.array(name, ("F64",), 1)
        if size is not None and len(values) != size:
            raise self.refuse(f"array {name!r} has {len(values)} entries, not {size}")
        if not (np.isfinite(values) & (values >= low)).all():
            raise self.refuse(f"array {name!r} has a value that is not finite or is below {low:g}")
        return values

    def optional_vector(self, name: str, size: int, low: float = -np.inf) -> FloatArray | None:
        """Read a vector, see `vector`, or return None if the file does not have it."""
        return self.vector(name, size, low) if name in self._tensors.keys() else None  # noqa: SIM118

    def matrix(self, name: str, size: int) -> AnyArray:
        """Read a finite square matrix of float32 or float64."""
        table = self.array(name, ("F32", "F64"), 2)
        if table.shape != (size, size):
            raise self.refuse(f"array {name!r} has shape {table.shape}, not ({size}, {size})")
        if not np.isfinite(table).all():
            raise self.refuse(f"array {name!r} has a value that is not finite")
        return table

    def names(self, name: str, size: int) -> tuple[str, ...] | None:
        """Read `size` distinct names, or return None if the file has none."""
        if f"{name}.utf8" not in self._tensors.keys():  # noqa: SIM118
            return None
        joined = self.array(f"{name}.utf8", ("U8",), 1).tobytes()
        ends = self.array(f"{name}.ends", ("I64",), 1)
        starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
        if len(ends) != size or (ends < starts).any() or starts.min() < 0 or ends[-1] != len(joined):
            raise self.refuse(f"{name}.ends does not divide {name}.utf8 into {size} names")
        try:
            listed = tuple(
                joined[start:end].decode("utf-8", "surrogatepass") for start, end in zip(starts, ends, strict=True)
            )
        except UnicodeDecodeError:
            raise self.refuse(f"{name}.utf8 is not UTF-8") from None
        if len(set(listed)) != size:
            raise self.refuse(f"{name} repeats a name")
        return listed

    def _value(self, name: str) -> Any:
        if name not in self._fields:
            raise self.refuse(f"field {self._prefix}{name} is missing")
        self._unread_fields.discard(name)
        return self._fields[name]

    def _typed(self, name: str, kind: type) -> Any:
        value = self._value(name)
        if not isinstance(value, kind):
            raise self.refuse(f"{self._prefix}{name} is {type(value).__name__}, not {kind.__name__}")
        return value
