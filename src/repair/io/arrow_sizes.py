"""The size that an Arrow file declares for its content, read from its metadata before anything is decompressed.

A compressed buffer begins with its uncompressed length, and Arrow's reader allocates that much memory before it reads
the content, so a few damaged bytes could request exabytes.  The positions of the buffers are in the metadata of each
message, a flatbuffer (`Message.fbs`, `File.fbs` and `Schema.fbs` of the Arrow format).
"""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray

__all__ = ["MAGIC", "claimed_size"]

MAGIC = b"ARROW1"
#: The end of a file: the length of the footer, then the magic again.
TAIL = struct.Struct("<i6s")

#: Numbers of fields in Arrow's flatbuffer tables.
FOOTER_DICTIONARIES, FOOTER_BATCHES = 2, 3
MESSAGE_KIND, MESSAGE_HEADER = 1, 2
DICTIONARY_DATA = 1
BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION = 1, 2, 3
#: Kinds of messages.
DICTIONARY, RECORD_BATCH = 2, 3

BLOCK = np.dtype([("offset", "<i8"), ("metadata", "<i4"), ("padding", "<i4"), ("body", "<i8")])
NODE = np.dtype([("length", "<i8"), ("nulls", "<i8")])
BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])

#: Key under which Arrow 0.17 stored the compression.  Readers still accept it.
OLD_COMPRESSION = b"ARROW:experimental_compression"
#: The length of a buffer that was left uncompressed because compression did not make it smaller.
NOT_COMPRESSED = -1
#: Smallest number of bytes per value in use.  A column of nulls has no buffers, whatever length it declares.
BYTES_PER_VALUE = 4


def claimed_size(content: Any) -> int:
    """Return the number of bytes of all batches of an Arrow file or stream after decompression.

    Parameters
    ----------
    content : pyarrow.Buffer
        The whole file.  If it is damaged, any kind of error is raised, so call this inside `parsing`, which turns
        errors into `InputError`.
    """
    return sum(_message_size(message) for message in _messages(content))


def _messages(content: Any) -> Iterator[Any]:
    """Yield the messages that pyarrow's reader would read: those the footer lists or, in a stream, all of them."""
    import pyarrow as pa

    stream = pa.BufferReader(content)
    if bytes(content[: len(MAGIC)]) != MAGIC:
        yield from pa.ipc.MessageReader.open_stream(stream)
        return
    for offset in _block_offsets(content):
        stream.seek(offset)
        yield pa.ipc.read_message(stream)


def _block_offsets(content: Any) -> list[int]:
    """Return the offsets of dictionaries and record batches from the footer."""
    length, magic = TAIL.unpack(content[-TAIL.size :])
    end = len(content) - TAIL.size
    if magic != MAGIC or not 0 < length <= end:
        raise ValueError("the footer is damaged")
    footer = _Flatbuffer(content[end - length : end])
    offsets: list[int] = []
    for field in (FOOTER_DICTIONARIES, FOOTER_BATCHES):
        offsets += footer.structs(footer.root, field, BLOCK)["offset"].tolist()
    return offsets


def _message_size(message: Any) -> int:
    metadata = _Flatbuffer(message.metadata)
    kind = metadata.kind(metadata.root, MESSAGE_KIND)
    if kind not in (DICTIONARY, RECORD_BATCH):
        return 0
    batch = metadata.table(metadata.root, MESSAGE_HEADER)
    if kind == DICTIONARY:
        batch = metadata.table(batch, DICTIONARY_DATA)
    values = _total(metadata.structs(batch, BATCH_NODES, NODE)["length"])
    buffers = metadata.structs(batch, BATCH_BUFFERS, BUFFER)
    buffers = buffers[buffers["length"] != 0]  # the offset of an empty buffer is never used
    _check_inside(buffers, len(message.body))
    compressed = metadata.has(batch, BATCH_COMPRESSION) or OLD_COMPRESSION in bytes(message.metadata)
    lengths = _unpacked_lengths(buffers, message.body) if compressed else buffers["length"]
    return max(_total(lengths), BYTES_PER_VALUE * values)


def _check_inside(buffers: AnyArray, size: int) -> None:
    offsets, lengths = buffers["offset"], buffers["length"]
    if (offsets < 0).any() or (lengths < 0).any() or (offsets > size - lengths).any():
        raise ValueError("a buffer lies outside of its message")


def _unpacked_lengths(buffers: AnyArray, body: Any) -> AnyArray:
    """Return the uncompressed length of each buffer, which is the number at its beginning."""
    offsets, lengths = buffers["offset"], buffers["length"]
    if (lengths < 8).any() or (offsets % 8 != 0).any():
        raise ValueError("a compressed buffer does not begin with its length")
    if not len(buffers):
        return lengths  # numpy does not accept an empty body
    claimed = np.frombuffer(body, "<i8", len(body) // 8)[offsets // 8]
    unpacked: AnyArray = np.where(claimed == NOT_COMPRESSED, lengths, claimed)
    return unpacked


def _total(lengths: AnyArray) -> int:
    if (lengths < 0).any():
        raise ValueError("a length is negative")
    return sum(lengths.tolist())  # Python integers, because a sum in numpy could overflow


class _Flatbuffer:
    """Reads a few things from a flatbuffer, and raises an error for positions outside of it.

    Parameters
    ----------
    content : pyarrow.Buffer
        The whole flatbuffer, and nothing before it.
    """

    def __init__(self, content: Any) -> None:
        self.content = memoryview(content)
        self.root = self._number("I", 0)

    def has(self, table: int, field: int) -> bool:
        """Return whether a table has the field.  Writers omit fields with the default value."""
        return self._find(table, field) is not None

    def kind(self, table: int, field: int) -> int:
        """Return a field of one byte, 0 if it is omitted."""
        position = self._find(table, field)
        return 0 if position is None else self._number("B", position)

    def table(self, table: int, field: int) -> int:
        """Return the position of the table in a field."""
        position = self._find(table, field)
        if position is None:
            raise ValueError("a part of the metadata is missing")
        return self._follow(position)

    def structs(self, table: int, field: int, dtype: np.dtype[Any]) -> AnyArray:
        """Return the vector of structures in a field, empty if it is omitted."""
        position = self._find(table, field)
        if position is None:
            return np.empty(0, dtype)
        start = self._follow(position)
        return np.frombuffer(self.content, dtype, self._number("I", start), start + 4)

    def _find(self, table: int, field: int) -> int | None:
        """Return the position of a field from the table's list of offsets, or None if it is omitted."""
        offsets = table - self._number("i", table)
        slot = 4 + 2 * field
        if slot + 2 > self._number("H", offsets):
            return None
        offset = self._number("H", offsets + slot)
        return table + offset if offset else None

    def _follow(self, position: int) -> int:
        return position + self._number("I", position)

    def _number(self, code: str, position: int) -> int:
        if position < 0:  # struct would count it from the end
            raise ValueError("an offset points outside of the metadata")
        (number,) = struct.unpack_from(f"<{code}", self.content, position)
        return int(number)
