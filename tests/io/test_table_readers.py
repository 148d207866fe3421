"""Cells stay as written, and what is wrong is named with its line."""

import gzip

import pytest

from repair import InputError
from repair.io.table_readers import read_table

pytestmark = pytest.mark.needs("pyarrow")

ODD_NAMES = ["NA", "None", "null", "nan", "1e5", "007", "", "=1+1", "true", "2020-01-01", ' "x" ', "a\nb", "ü"]


def test_csv_cells_stay_text(write):
    cells = ['"' + name.replace('"', '""') + '"' for name in ODD_NAMES]
    table = read_table(write("t.csv", "name,n\n" + "".join(f"{cell},1\n" for cell in cells)))
    assert table.column("name").to_pylist() == ODD_NAMES
    assert table.column("n").to_pylist() == ["1"] * len(ODD_NAMES)


def test_unquoted_nulls_and_numbers_stay_text(write):
    table = read_table(write("t.csv", "name\nNA\nNULL\n007\n1e5\nN/A\n#N/A\n"))
    assert table.column("name").to_pylist() == ["NA", "NULL", "007", "1e5", "N/A", "#N/A"]


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbfa,b\n1,x\n", b"a,b\r\n1,x\r\n", b"\n\na,b\n\n1,x\n\n", b'"a","b"\n"1","x"', b"a,b\r1,x\r"],
    ids=["mark", "crlf", "blank lines", "quotes", "cr"],
)
def test_csv_dialects(write, content):
    assert read_table(write("t.csv", content)).columns.to_pylist() == [{"a": "1", "b": "x"}]


def test_tsv_and_gzip(write):
    assert read_table(write("t.tsv", "a\tb\n1\tx,y\n")).columns.to_pylist() == [{"a": "1", "b": "x,y"}]
    packed = gzip.compress(b'{"a": 1}\n{"a": 2}\n')
    assert read_table(write("t.jsonl.gz", packed)).column("a").to_pylist() == [1, 2]


def test_lines_longer_than_a_block(write, monkeypatch):
    monkeypatch.setattr("repair.io.table_readers.BLOCK", 64)
    long = "x" * 1000
    assert read_table(write("t.csv", f"a,b\n1,2\n{long},3\n")).column("a").to_pylist() == ["1", long]
    assert read_table(write("t.jsonl", f'{{"a": "1"}}\n{{"a": "{long}"}}\n')).column("a").to_pylist() == ["1", long]


def test_line_ends_in_quotes_where_blocks_end(write, monkeypatch):
    monkeypatch.setattr("repair.io.table_readers.BLOCK", 64)
    names = [f"a\n{number},\n" for number in range(200)]
    table = read_table(write("t.csv", "name,n\n" + "".join(f'"{name}",1\n' for name in names)))
    assert table.column("name").to_pylist() == names


def test_json_texts_that_look_like_dates_stay_text(write):
    table = read_table(write("t.jsonl", '{"a": "2020-01-01", "b": ["2020-01-02"], "c": {"d": "2020-01-03"}}\n'))
    assert table.columns.to_pylist() == [{"a": "2020-01-01", "b": ["2020-01-02"], "c": {"d": "2020-01-03"}}]


def test_places_name_the_line_where_a_record_starts(write):
    table = read_table(write("t.csv", 'a,b\n\n1,"x\ny"\n\n2,z\n'))
    assert [table.place(row) for row in (0, 1)] == ["line 3", "line 6"]
    assert table.place(1, "b") == "line 6, column 'b'"
    assert read_table(write("t.jsonl", '\n{"a": 1}\n\n{"a": 2}\n')).place(1) == "line 4"


def test_places_in_other_files_are_rows(save):
    assert read_table(save("t.parquet", {"a": [1, 2]})).place(1) == "row 1"


@pytest.mark.parametrize("name", ["t.arrow", "t.feather", "t.parquet"])
def test_binary_tables(save, name):
    assert read_table(save(name, {"a": ["x", None]})).column("a").to_pylist() == ["x", None]


def test_dictionaries_are_decoded_and_pandas_labels_left_out(save):
    import pyarrow as pa

    column = pa.array(["x", "y", "x"]).dictionary_encode()
    table = read_table(save("t.parquet", {"a": column, "__index_level_0__": [1, 2, 3]}))
    assert table.names == ["a"]
    assert table.column("a").to_pylist() == ["x", "y", "x"]


def test_folders_called_like_partitions_add_no_column(tmp_path, save):
    folder = tmp_path / "year=1"
    folder.mkdir()
    save("t.parquet", {"a": [1]}).rename(folder / "t.parquet")
    assert read_table(folder / "t.parquet").names == ["a"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n", "no rows"),
        ("a,b", "not a readable csv file|no rows"),
        ("a,a\n1,2\n", "two columns have the name 'a'"),
        ("a,b\n1,2\n\n3\n", "line 4 has 1 fields, but the header has 2; put text"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 fields"),
        (b"a,b\n1,2\n3,\xff\n", r"line 3 is not UTF-8 \(byte 0xff\); save"),
        (b"a,b\n1,x\0y\n", "line 2 contains a NUL byte"),
        ("a,b\n1,2\n".encode("utf-16"), "the text is UTF-16; save it as UTF-8"),
    ],
)
def test_bad_csv(write, content, message):
    with pytest.raises(InputError, match=message):
        read_table(write("t.csv", content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a readable jsonl file"),
        ("[1]\n", "line 1 is not a JSON object"),
        ('{"a": 1, "a": 2}\n', "not a readable jsonl file .*specified twice"),
        (
            '{"a": 1}\n\n{"a": null}\n{"a": 1.5}\n{"a": "x"}\n',
            "line 5, column 'a' is 'x', which has another type than on the lines before",
        ),
        ('{"a": 1}\n{"a": 1', "line 2 is not a JSON object; write one object per line"),
        ("text\n", "line 1 is not a JSON object"),
        ('{"a": ' + "[" * 100 + "\n", "line 1 is not a JSON object"),
    ],
)
def test_bad_json(write, content, message):
    with pytest.raises(InputError, match=message):
        read_table(write("t.jsonl", content))


def test_text_that_is_not_utf8_inside_a_binary_file(save):
    import pyarrow as pa

    bad = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff"))
    with pytest.raises(InputError, match="not a readable arrow file"):
        read_table(save("t.arrow", pa.table({"a": bad})))


def test_bad_gzip(write):
    with pytest.raises(InputError, match="not a readable gzip file"):
        read_table(write("t.csv.gz", "a,b\n1,2\n"))


def test_what_unpacks_to_far_too_much_is_refused(write, monkeypatch):
    monkeypatch.setattr("repair.io.formats.HARMLESS", 1 << 16)
    monkeypatch.setattr("repair.io.formats.CHUNK", 1 << 14)
    with pytest.raises(InputError, match=r"bytes decompress to \d+ or more"):
        read_table(write("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)))


def test_a_parquet_of_endless_copies_is_refused(save, monkeypatch):
    monkeypatch.setattr("repair.io.formats.HARMLESS", 1 << 16)
    assert len(read_table(save("t.parquet", {"a": list(range(100))}))) == 100
    with pytest.raises(InputError, match="decompress to 4000000 or more"):
        read_table(save("t.parquet", {"a": ["same"] * 1_000_000}))


def test_missing_library(write, monkeypatch):
    import sys

    from repair import MissingExtraError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"\.csv files need the extra 'arrow': pip install 'repair-rerank"):
        read_table(write("t.csv", "a\n1\n"))
