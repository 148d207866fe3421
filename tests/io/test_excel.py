"""Workbooks: texts stay texts, whole numbers are digits, and every problem is named with its cell."""

import contextlib
import datetime
import io
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repair import InputError, Ranking, Shortlist
from repair.errors import InputWarning
from repair.io import read_class_table, read_score_set, write_ranking
from repair.io.excel import excel_bytes
from repair.io.formats import FileFormat
from repair.io.table_readers import read_table

pytestmark = pytest.mark.needs("pyarrow", "openpyxl")


@pytest.fixture
def book(tmp_path):
    """Write a workbook: one list of rows per sheet."""

    def write(*sheets, change=None):
        import openpyxl

        workbook = openpyxl.Workbook()
        workbook.remove(workbook.active)
        for number, rows in enumerate(sheets):
            sheet = workbook.create_sheet(f"part {number}")
            for row in rows:
                sheet.append(row)
        if change is not None:
            change(workbook)
        path = tmp_path / "t.xlsx"
        workbook.save(path)
        return path

    return write


def rewrite(path, **parts):
    """Replace parts of a workbook, whose names begin with these words."""
    with zipfile.ZipFile(path) as old:
        content = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in content.items():
            change = next((change for part, change in parts.items() if part in name), lambda data: data)
            new.writestr(name, change(data))
    return path


def test_cells_become_text_and_whole_numbers_are_digits(book):
    day, moment = datetime.datetime(2026, 3, 1), datetime.datetime(2026, 3, 1, 12, 30)
    cells = ["007", 7, 7.0, 0.1, -2.5e-7, 1e20, True, "NA", " x ", "a\nb", day, moment, "1,5", None]
    texts = ["007", "7", "7", "0.1", "-2.5e-07", "1e+20", "true", "NA", " x ", "a\nb", "2026-03-01"]
    texts += ["2026-03-01 12:30:00", "1,5", ""]
    table = read_table(book([["value", "n"], *([cell, 1] for cell in cells)]))
    assert table.column("value").to_pylist() == texts


def test_empty_rows_are_left_out_and_places_are_rows_of_excel(book):
    path = book([[], ["a", "b"], [], [1, "x"], [None, None], [2, None], ["", ""]])
    table = read_table(path)
    assert table.columns.to_pylist() == [{"a": "1", "b": "x"}, {"a": "2", "b": ""}]
    assert table.place(1, "b") == "row 6 of the sheet, column 'b'"


def test_a_score_that_is_no_number_is_named_with_its_row(book):
    path = book([["row", "class", "score", "label"], ["q", "a", 1, "a"], ["q", "b", "much", "a"]])
    with pytest.raises(InputError, match=r"t.xlsx: row 3 of the sheet, column 'score' is 'much'; write a number"):
        read_score_set(path)


def test_scores_labels_and_classes_are_read(book):
    rows = [["q", "007", 2, "7"], ["q", 7, 1.5, "7"]]
    read = read_score_set(book([["row", "class", "score", "label"], *rows]))
    assert read.class_names == ("007", "7")
    assert read.rows.scores.scores.tolist() == [[2.0, 1.5]]
    assert read.rows.labels.tolist() == ["7"]
    assert read_class_table(book([["class", "count"], ["007", 3], ["7", 5]])).class_fields["class_counts"].tolist() == [
        3,
        5,
    ]


def test_the_stored_value_of_a_formula_is_read(book):
    path = book([["a", "b"], [1, "=A2+1"], ["x", '=IF(A3="x","",1)']])
    stored = {b"<f>A2+1</f><v />": b"<f>A2+1</f><v>2</v>", b"<v></v>": b"<v />"}

    def store(data):
        for old, new in stored.items():
            data = data.replace(old, new)
        return data.replace(b'<c r="B3"', b'<c t="str" r="B3"')

    assert read_table(rewrite(path, sheet1=store)).columns.to_pylist() == [{"a": "1", "b": "2"}, {"a": "x", "b": ""}]


def test_a_formula_without_a_stored_value_is_refused(book):
    with pytest.raises(InputError, match="cell B2 has a formula without a stored value; open the file in Excel"):
        read_table(book([["a", "b"], [1, "=A2+1"]]))


def test_an_error_in_a_cell_is_refused_but_not_its_name_as_text(book):
    with pytest.raises(InputError, match="cell A2 has the error #N/A; correct it, or leave the cell empty"):
        read_table(book([["a"], ["#N/A"]]))

    def as_text(workbook):
        workbook.worksheets[0]["A2"].data_type = "s"

    assert read_table(book([["a"], ["#N/A"]], change=as_text)).column("a").to_pylist() == ["#N/A"]


def test_only_the_first_of_several_sheets_is_read_with_a_warning(book):
    path = book([["a"], [1]], [["a"], [2]])
    with pytest.warns(InputWarning, match=r"t.xlsx: only the first of 2 sheets is read, 'part 0'"):
        assert read_table(path).column("a").to_pylist() == ["1"]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "the first sheet is empty"),
        ([["a", "b"]], "there are no rows"),
        ([["a", "a"], [1, 2]], "two columns have the name 'a'"),
        ([["a"], [1], [1, None, 2]], "row 3 has 3 cells, but the header has 1"),
    ],
)
def test_bad_sheets_are_refused(book, rows, problem):
    with pytest.raises(InputError, match=problem):
        read_table(book(rows))


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 99, b"PK\x03\x04"])
def test_other_formats_are_refused(write, content):
    with pytest.raises(InputError, match="not a readable xlsx file"):
        read_table(write("t.xlsx", content))


def test_an_archive_without_sheets_is_refused(tmp_path):
    np.savez(tmp_path / "t.xlsx.npz", a=[1])
    (tmp_path / "t.xlsx.npz").rename(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="not a readable xlsx file"):
        read_table(tmp_path / "t.xlsx")


def test_a_bomb_is_refused_before_it_is_unpacked(book, monkeypatch):
    monkeypatch.setattr("repair.io.formats.HARMLESS", 1 << 20)
    path = rewrite(book([["a"], [1]]), theme=lambda _: b" " * (8 << 20))
    with pytest.raises(InputError, match="decompress to 8"):
        read_table(path)


def test_entities_that_multiply_are_refused(book):
    entities = b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 10))

    def multiply(data):
        start = data.index(b"<worksheet")
        return b'<!DOCTYPE x [<!ENTITY e0 "lol">' + entities + b"]>" + data[start:].replace(b"<v>1</v>", b"<v>&e9;</v>")

    with pytest.raises(InputError, match="not a readable xlsx file"):
        read_table(rewrite(book([["a"], [1]]), sheet1=multiply))


@pytest.mark.parametrize("number", [b"1048577", b"99999999999999", b"-3", b"x"])
def test_a_row_number_that_excel_does_not_have_costs_nothing(book, number):
    path = rewrite(book([["a"], [1], [2]]), sheet1=lambda data: data.replace(b'<row r="3"', b'<row r="%s"' % number))
    refused = contextlib.suppress(InputError) if number in (b"-3", b"x") else contextlib.nullcontext()
    with refused:
        assert read_table(path).column("a").to_pylist() == ["1"]


def test_a_claimed_size_costs_nothing(book):
    claim = b'<dimension ref="A1:XFD1048576" />'
    path = rewrite(book([["a"], [1]]), sheet1=lambda data: data.replace(b'<dimension ref="A1:A2" />', claim))
    with zipfile.ZipFile(path) as archive:
        assert claim in archive.read("xl/worksheets/sheet1.xml")
    assert read_table(path).columns.to_pylist() == [{"a": "1"}]


def test_without_openpyxl_the_error_names_the_extra(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"pip install 'repair-rerank\[excel\]'"):
        read_table(write("t.xlsx", b"PK"))


def written(**columns):
    import pyarrow as pa

    return io.BytesIO(excel_bytes(pa.table(columns), FileFormat("xlsx")))


def test_numbers_are_written_as_numbers_and_texts_as_texts():
    import openpyxl

    names = ["007", "=1+1", "#N/A", "1"]
    sheet = openpyxl.load_workbook(written(name=names, n=[1, 2, 2**60, None], x=[0.1, -np.inf, np.nan, 2.0])).active
    cells = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert cells == [
        ["name", "n", "x"],
        ["007", 1, 0.1],
        ["=1+1", 2, "-inf"],
        ["#N/A", str(2**60), "nan"],
        ["1", None, 2],
    ]
    assert [row[0].data_type for row in sheet.iter_rows(min_row=2)] == ["s"] * 4


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=20) | st.sampled_from(["_x0041_", "_x000D_", "\r\n", "=1", "\0"]), min_size=1))
def test_every_text_can_be_read_again(tmp_path, texts):
    path = tmp_path / "t.xlsx"
    path.write_bytes(written(name=texts, n=[1] * len(texts)).getvalue())
    assert read_table(path).column("name").to_pylist() == texts


@pytest.mark.parametrize("layout", ["lists", "long"])
def test_rankings_are_written_like_csv(tmp_path, layout):
    shortlist = Shortlist.from_candidates([[0, 1, 2], [2, 1, -1]], [[3.0, 2.0, 1.0], [5.0, 4.0, 0.0]], 3)
    ranking = Ranking.from_scores(shortlist, shortlist.scores)
    for name in ("r.csv", "r.xlsx"):
        write_ranking(tmp_path / name, ranking, class_names=["007", "=b", "c"], row_ids=["x", "y"], layout=layout)
    by_name = {name: read_table(tmp_path / name).columns.to_pydict() for name in ("r.csv", "r.xlsx")}
    assert by_name["r.xlsx"] == by_name["r.csv"]


@pytest.mark.parametrize(
    ("size", "problem"), [((1_048_576, 1), "has 1048576 rows"), ((1, 16_385), "and 16385 columns")]
)
def test_what_a_sheet_cannot_hold_is_refused(size, problem):
    with pytest.raises(InputError, match=problem):
        written(**{f"c{number}": np.zeros(size[0]) for number in range(size[1])})


def test_a_text_that_excel_would_cut_is_refused():
    with pytest.raises(InputError, match="is too long for Excel"):
        written(name=["x" * 32_768])
