"""Files that nobody meant to be read: an InputError with the file's name, or a sound result, nothing else."""

import csv
import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repair import InputError, Ranking, Shortlist
from repair.io import ColumnNames, read_class_table, read_score_set, read_similarity, write_ranking

pytestmark = pytest.mark.needs("pyarrow", "openpyxl")

FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
NAMES = ("a", "b", "NA")


def read_every_way(path):
    """Read a file as everything it could be; return what was understood."""
    understood, refusals = [], []
    attempts = [
        lambda: read_score_set(path, need_labels=False),
        lambda: read_score_set(path, class_names=NAMES),
        lambda: read_score_set(path, class_names=NAMES, unknown_classes="append", need_labels=False),
        lambda: read_score_set(path, columns=ColumnNames(row="row", candidate="class", score="score")),
        lambda: read_class_table(path),
        lambda: read_similarity(path, NAMES),
    ]
    for attempt in attempts:
        try:
            understood.append(attempt())
        except InputError as error:
            refusals.append(str(error))
    for refusal in refusals:
        assert refusal.startswith(str(path))
        assert "\n" not in refusal
    for read in understood:
        if hasattr(read, "rows"):
            check_sound(read)
    return understood


def check_sound(read):
    """What was read can be used."""
    shortlist = read.rows.shortlist(2)
    assert len(shortlist) == len(read) > 0
    if read.class_names is not None:
        assert len(read.class_names) == shortlist.n_classes
    if read.rows.labels is not None:
        assert len(read.rows.labels) == len(read)
    if read.row_ids is not None:
        assert len(read.row_ids) == len(read)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The bytes of one sound file of each format and layout."""
    folder = tmp_path_factory.mktemp("good")
    shortlist = Shortlist.from_candidates([[0, 1, 2], [2, 1, -1]], [[3.0, 2.0, 1.0], [5.0, 4.0, 0.0]], 3)
    ranking = Ranking.from_scores(shortlist, shortlist.scores)
    contents = {}
    for name in ("f.csv", "f.tsv", "f.jsonl", "f.csv.gz", "f.xlsx", "f.parquet", "f.arrow", "f.npz"):
        for layout in ("lists", "long"):
            options = {"row_ids": ["x", "y"], "other": {"label": ["a", "b"], "group": [1, 2]}, "layout": layout}
            write_ranking(folder / name, ranking, class_names=NAMES, **options)
            contents[name, layout] = (folder / name).read_bytes()
    np.save(folder / "f.npy", np.eye(3))
    contents["f.npy", "dense"] = (folder / "f.npy").read_bytes()
    return contents


def test_the_sound_files_are_understood(good, tmp_path):
    for (name, layout), content in good.items():
        if (name, layout) == ("f.npz", "long"):
            continue  # a ranking for other programs; nothing here reads it
        (tmp_path / name).write_bytes(content)
        assert read_every_way(tmp_path / name), (name, layout)


@FUZZ
@given(st.data())
def test_damaged_bytes(good, tmp_path, data):
    name, layout = data.draw(st.sampled_from(sorted(good)))
    content = bytearray(good[name, layout])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(len(content) - 1, 0)))
        kind = data.draw(st.sampled_from(["change", "cut", "drop", "insert", "double"]))
        if kind == "change" and content:
            content[place] = data.draw(st.integers(0, 255))
        elif kind == "cut":
            del content[place:]
        elif kind == "drop":
            del content[place : place + data.draw(st.integers(1, 40))]
        elif kind == "insert":
            content[place:place] = data.draw(st.binary(max_size=8))
        else:
            content += content[place:]
    path = tmp_path / name
    path.write_bytes(bytes(content))
    read_every_way(path)


ENDINGS = [".csv", ".jsonl", ".csv.gz", ".xlsx", ".parquet", ".arrow", ".npz", ".npy"]


@FUZZ
@given(st.binary(max_size=200), st.sampled_from(ENDINGS))
def test_any_bytes(tmp_path, content, ending):
    path = tmp_path / f"f{ending}"
    path.write_bytes(content)
    read_every_way(path)


HEADERS = st.lists(
    st.sampled_from(
        ["row", "class", "score", "label", "group", "weight", "count", "a", "b", "NA", "scores", "candidates", "id", ""]
    ),
    min_size=1,
    max_size=6,
)
CELLS = st.one_of(
    st.sampled_from(["", "a", "b", "NA", "1", "0", "-1", "nan", "inf", "-inf", "1e400", "1e31", "=1+1", "99999999999"]),
    st.floats().map(repr),
    st.text(max_size=4),
)


@FUZZ
@given(st.data())
def test_any_csv(tmp_path, data):
    header = data.draw(HEADERS)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator=data.draw(st.sampled_from(["\n", "\r\n"])))
    writer.writerow(header)
    for _ in range(data.draw(st.integers(0, 5))):
        width = len(header) + data.draw(st.sampled_from([0] * 12 + [-1, 1]))
        writer.writerow([data.draw(CELLS) for _ in range(width)])
    path = tmp_path / "f.csv"
    path.write_bytes(stream.getvalue().encode("utf-8", "surrogatepass"))
    read_every_way(path)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(NAMES), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=2)),
    max_leaves=4,
)


@FUZZ
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["row", "class", "score", "label", "scores", "candidates", "candidate_scores", "a", "b"]),
            st.one_of(JSON, st.lists(st.floats(-5, 5), min_size=3, max_size=3), st.floats(-5, 5)),
        ),
        max_size=4,
    )
)
def test_any_json(tmp_path, rows):
    path = tmp_path / "f.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read_every_way(path)


def arrow_columns():
    import pyarrow as pa

    types = [
        *(pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.large_string()),
        *(pa.binary(), pa.date32(), pa.timestamp("ns", "UTC"), pa.decimal128(10, 2), pa.null(), pa.duration("s")),
        *(pa.list_(pa.int32()), pa.list_(pa.string()), pa.list_(pa.float64()), pa.large_list(pa.float32())),
        *(pa.list_(pa.list_(pa.float64())), pa.struct([("x", pa.int32())]), pa.dictionary(pa.int8(), pa.string())),
        *(pa.list_(pa.float64(), 3), pa.map_(pa.string(), pa.int8()), pa.dictionary(pa.int32(), pa.float64())),
    ]
    names = ["row", "class", "score", "label", "group", "weight", "count", "a", "b", "NA", "scores"]
    lists = ["candidates", "candidate_ids", "candidate_scores"]
    return st.dictionaries(st.sampled_from(names + lists), st.sampled_from(types), min_size=1, max_size=6)


def some_values(kind, count, draw):
    """Values of a pyarrow type, some missing, by casting small numbers as far as possible."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return some_values(kind.value_type, count, draw).dictionary_encode()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        sizes = [3 if pa.types.is_fixed_size_list(kind) else draw(st.integers(0, 3)) for _ in range(count)]
        items = some_values(kind.value_type, sum(sizes), draw).to_pylist()
        ends = np.cumsum(sizes).tolist()
        return pa.array([items[end - size : end] for size, end in zip(sizes, ends, strict=True)], kind)
    numbers = draw(st.lists(st.one_of(st.none(), st.integers(-1, 4)), min_size=count, max_size=count))
    if pa.types.is_unsigned_integer(kind):
        numbers = [None if one is None else abs(one) for one in numbers]
    if pa.types.is_boolean(kind):
        return pa.array([None if one is None else one > 0 for one in numbers])
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        texts = ["", "a", "b", "NA", "1", "\0"]
        return pa.array([None if one is None else texts[one].encode() for one in numbers], pa.binary()).cast(kind)
    if pa.types.is_null(kind):
        return pa.nulls(count)
    if pa.types.is_struct(kind):
        return pa.array([{"x": one} for one in numbers], kind)
    if pa.types.is_map(kind):
        return pa.array([[("k", one)] for one in numbers], kind)
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return pa.array(numbers, pa.float64()).cast(kind)
    return pa.array(numbers, pa.int32() if pa.types.is_date32(kind) else pa.int64()).cast(kind)


@FUZZ
@given(st.data(), st.sampled_from(["f.parquet", "f.arrow"]))
def test_any_types(tmp_path, data, name):
    import pyarrow as pa
    from pyarrow import parquet

    count = data.draw(st.integers(0, 3))
    columns = data.draw(arrow_columns())
    table = pa.table({key: some_values(kind, count, data.draw) for key, kind in columns.items()})
    path = tmp_path / name
    if name == "f.parquet":
        try:
            parquet.write_table(table, path)
        except pa.ArrowNotImplementedError:
            return  # the format itself cannot hold the type
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    read_every_way(path)


ARRAYS = st.dictionaries(
    st.sampled_from(
        ["scores", "labels", "class_names", "class_counts", "similarity", "groups", "sample_weight", "candidate_ids"]
        + [
            "candidate_scores",
            "row_ids",
            "weight_norms",
            "format",
            "shape",
            "data",
            "indices",
            "indptr",
            "class_groups",
        ]
    ),
    st.tuples(
        st.sampled_from(["f8", "f4", "i8", "u1", "?", "U2", "S2", "c16", "M8[s]", "f2"]),
        st.lists(st.integers(0, 3), max_size=3).map(tuple),
        st.integers(0, 99),
    ),
    max_size=7,
)


@FUZZ
@given(ARRAYS)
def test_any_arrays(tmp_path, described):
    arrays = {}
    for name, (dtype, shape, seed) in described.items():
        values = np.random.default_rng(seed).integers(-1, 4, shape)
        arrays[name] = values.astype("i8").astype(dtype) if dtype == "M8[s]" else values.astype(dtype)
    np.savez(tmp_path / "f.npz", **arrays)
    read_every_way(tmp_path / "f.npz")


@FUZZ
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), min_size=2, unique=True
    ),
    st.sampled_from(["f.csv", "f.tsv", "f.csv.gz", "f.jsonl", "f.xlsx", "f.parquet"]),
)
def test_every_class_name_survives(tmp_path, names, name):
    shortlist = Shortlist.from_scores(np.arange(float(len(names))), len(names))
    path = tmp_path / name
    write_ranking(
        path, Ranking.from_scores(shortlist, shortlist.scores), class_names=names, row_ids=[names[0]], layout="long"
    )
    read = read_score_set(path, class_names=names, need_labels=False)
    assert read.rows.scores.ids.tolist() == shortlist.ids.tolist()
    assert read.row_ids.tolist() == [names[0]]
    assert set(read_score_set(path, need_labels=False).class_names) == set(names)


def test_no_layout_is_more_than_the_file_says(tmp_path):
    """A row of one million candidates among many rows must not become a table of zeros."""
    lines = [f"0,c{number},1" for number in range(40_000)] + [f"{row},c0,1" for row in range(1, 40_000)]
    (tmp_path / "f.csv").write_text("row,class,score\n" + "\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="one row has 40000 candidates"):
        read_score_set(tmp_path / "f.csv", need_labels=False)


@FUZZ
@given(st.data())
def test_damaged_sheets(good, tmp_path, data):
    """The archive is sound, but the text of one of its parts is not."""
    with zipfile.ZipFile(io.BytesIO(good["f.xlsx", "long"])) as archive:
        parts = {name: bytearray(archive.read(name)) for name in archive.namelist()}
    content = parts[data.draw(st.sampled_from(sorted(parts)))]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, max(len(content) - 1, 0)))
        content[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    path = tmp_path / "f.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, bytes(part))
    read_every_way(path)
