"""A few damaged bytes of an Arrow file must not ask for more memory than any honest file of its size."""

import struct
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest

from repair import InputError
from repair.io.arrow_sizes import OLD_COMPRESSION, _message_size, claimed_size
from repair.io.formats import HARMLESS
from repair.io.table_readers import read_table

pytestmark = pytest.mark.needs("pyarrow")

ROWS = 12_345
FORMS = ("file", "stream")
CODECS = ("lz4", "zstd", None)


@pytest.fixture
def table():
    import pyarrow as pa

    rng = np.random.default_rng(0)
    names = pa.array([f"class {one}" for one in range(ROWS)])
    columns = {
        "score": np.zeros(ROWS),
        "noise": rng.normal(size=ROWS),  # this one does not get smaller, so it is not compressed
        "name": pa.array(["a", None, "c"] * (ROWS // 3)),
        "label": pa.DictionaryArray.from_arrays(np.arange(ROWS, dtype=np.int32), names),
        "list": pa.array([[1.0, 2.0], [], None] * (ROWS // 3)),
        "nothing": pa.nulls(ROWS),
    }
    return pa.table(columns)


@pytest.fixture
def packed():
    def pack(table, form, codec, rows_per_batch=None):
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        new = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[form]
        with new(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
            writer.write_table(table, rows_per_batch)
        return sink.getvalue().to_pybytes()

    return pack


@pytest.fixture
def pool():
    """Count what pyarrow allocates."""
    import pyarrow as pa

    before = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(before)
    pa.set_memory_pool(counting)
    yield counting
    pa.set_memory_pool(before)


def patched(content, length, claim):
    """Replace the one number that tells a buffer's unpacked length."""
    assert content.count(struct.pack("<q", length)) == 1
    return content.replace(struct.pack("<q", length), struct.pack("<q", claim))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("rows_per_batch", [None, 1000])
def test_sound_files_are_read_as_before(write, table, packed, form, codec, rows_per_batch):
    read = read_table(write("t.arrow", packed(table, form, codec, rows_per_batch)))
    assert read.columns.equals(table)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_the_claimed_size_is_that_of_the_uncompressed_file(table, packed, form, codec):
    import pyarrow as pa

    compressed, plain = (claimed_size(pa.py_buffer(packed(table, form, one))) for one in (codec, None))
    assert compressed == pytest.approx(plain, rel=1e-3)  # buffers that stay as they are count with their 8 bytes
    assert plain == pytest.approx(table.nbytes, rel=0.1)


def test_a_table_without_rows_or_columns_claims_nothing(packed):
    import pyarrow as pa

    for table in (pa.table({}), pa.table({"a": pa.array([], pa.float64())})):
        for form in FORMS:
            assert claimed_size(pa.py_buffer(packed(table, form, "lz4"))) == 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("claim", [3 << 30, 1 << 40, (1 << 63) - 1])
def test_a_length_that_no_honest_file_has_is_refused_before_it_is_allocated(
    write, table, packed, pool, form, codec, claim
):
    content = patched(packed(table.select(["score"]), form, codec), 8 * ROWS, claim)
    with pytest.raises(InputError, match=f"{len(content)} bytes decompress to {claim} or more"):
        read_table(write("t.arrow", content))
    assert pool.max_memory() < 1 << 24


@pytest.mark.parametrize("form", FORMS)
def test_dictionaries_count_too(write, table, packed, pool, form):
    offsets = 4 * (ROWS + 1)
    content = patched(packed(table.select(["label"]), form, "lz4"), offsets, 1 << 40)
    with pytest.raises(InputError, match="bytes decompress to"):
        read_table(write("t.arrow", content))
    assert pool.max_memory() < 1 << 24


@pytest.mark.parametrize("claim", [-2, -(1 << 63)])
def test_a_negative_length_is_damage(write, table, packed, claim):
    content = patched(packed(table.select(["score"]), "stream", "lz4"), 8 * ROWS, claim)
    with pytest.raises(InputError, match=r"not a readable arrow file \(a length is negative\)"):
        read_table(write("t.arrow", content))


def test_a_buffer_outside_of_its_message_is_damage(write, packed):
    import pyarrow as pa

    content = packed(pa.table({"a": [1.0] * ROWS}), "stream", None)
    before, _, after = content.rpartition(struct.pack("<q", 8 * ROWS))  # the other such number is the body's length
    content = before + struct.pack("<q", 1 << 40) + after
    with pytest.raises(InputError, match=r"not a readable arrow file \(a buffer lies outside of its message\)"):
        read_table(write("t.arrow", content))


def test_a_column_of_nulls_is_as_long_as_it_says(write, packed):
    """It has no buffers, and takes memory only when it is used."""
    import pyarrow as pa

    content = packed(pa.table({"a": pa.nulls(ROWS)}), "stream", None)
    content = content.replace(struct.pack("<q", ROWS), struct.pack("<q", 1 << 32))
    with pytest.raises(InputError, match="bytes decompress to 17179869184 or more"):
        read_table(write("t.arrow", content))


def test_a_batch_that_the_footer_names_many_times_counts_each_time(table, packed, monkeypatch):
    import pyarrow as pa

    from repair.io import arrow_sizes

    content = pa.py_buffer(packed(table, "file", "lz4"))
    once, offsets = claimed_size(content), arrow_sizes._block_offsets(content)
    monkeypatch.setattr(arrow_sizes, "_block_offsets", lambda _: 5 * offsets)
    assert claimed_size(content) == 5 * once


def test_the_compression_of_arrow_0_17_is_known(packed):
    import pyarrow as pa

    stream = packed(pa.table({"a": [1 << 50, 2]}), "stream", None)
    _, batch = pa.ipc.MessageReader.open_stream(stream)
    old = SimpleNamespace(metadata=pa.py_buffer(bytes(batch.metadata) + OLD_COMPRESSION), body=batch.body)
    assert _message_size(batch) == 16
    assert _message_size(old) == 1 << 50


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_flipped_bits_are_damage_or_a_sound_table(write, table, packed, pool, form, codec):
    rng = np.random.default_rng(0)
    sound = packed(table[:90], form, codec, 30)
    for _ in range(250):
        content = np.frombuffer(sound, np.uint8).copy()
        places = rng.integers(len(content), size=rng.integers(1, 4))
        content[places] ^= (1 << rng.integers(8, size=len(places))).astype(np.uint8)
        with suppress(InputError):
            read_table(write("t.arrow", content.tobytes()))
    assert pool.max_memory() < 1.1 * HARMLESS
